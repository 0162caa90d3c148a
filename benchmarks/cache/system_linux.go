package main

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// mapMemory returns fresh memory that the collector does not know of.
func mapMemory(size int64) ([]byte, error) {
	return unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

// settle commits as much memory as will be used, and gives it back: under a hypervisor the first use of
// a page costs about ten times as much as any later one, and who came first would pay.
func settle(size int64) {
	const step = 64 << 20
	var all [][]byte
	for done := int64(0); done < size; done += step {
		b, err := mapMemory(step)
		if err != nil {
			break
		}
		all = append(all, b)
		if unix.Madvise(b, unix.MADV_POPULATE_WRITE) != nil {
			for at := 0; at < len(b); at += os.Getpagesize() {
				b[at] = 1
			}
		}
	}
	for _, b := range all {
		_ = unix.Munmap(b) // given back at the end, at the latest
	}
}

// processorTime returns what this process has used of the processors.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// threadTime returns what this thread has used.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// residentBytes returns the memory of this process that is in RAM.
func residentBytes() int64 { return kilobytesOf("/proc/self/status", "VmRSS:") << 10 }

// availableBytes returns what can be had without swapping.
func availableBytes() int64 { return kilobytesOf("/proc/meminfo", "MemAvailable:") << 10 }

func kilobytesOf(file, name string) int64 {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, found := strings.CutPrefix(line, name); found {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n
		}
	}
	return 0
}

// load returns the load averages.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	f := strings.Fields(string(data))
	return strings.Join(f[:min(3, len(f))], " ")
}

// processorName returns what the processor calls itself.
func processorName() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for line := range strings.Lines(string(data)) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}
