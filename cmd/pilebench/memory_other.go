//go:build !linux

package main

import "runtime/metrics"

func availableMemory() (int64, bool) { return 0, false }

func leftInContainer() (int64, bool) { return 0, false }

// residentMemory returns what the Go runtime has mapped; memory of the pile
// outside the heap is not in it.
func residentMemory() (int64, bool) {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()), true
}

func hugeMemory() (int64, bool) { return 0, false }

func processorName() string { return "" }
