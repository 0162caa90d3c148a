//go:build unix

package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// clockName says what processorTime is.
const clockName = "processor time of the process, its collector included"

// processorTime returns the processor time that this process has taken.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return wallTime()
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
