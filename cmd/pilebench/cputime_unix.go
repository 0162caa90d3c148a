//go:build unix

package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns the processor time that this process has taken.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
