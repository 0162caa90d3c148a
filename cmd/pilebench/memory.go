package main

import (
	"math"
	"math/bits"
)

// fallbackAllowed is what the program may use where the system does not tell.
const fallbackAllowed = 4 << 30

// addressableMax keeps 32-bit programs within their address space.
const addressableMax = 1 << 30

// allowedMemory returns how much memory this process may take in addition to
// what it has: what the machine has available, and what is left of the limits
// of the containers around it.
func allowedMemory() int64 {
	allowed := int64(fallbackAllowed)
	if available, known := availableMemory(); known {
		allowed = available
	}
	if left, limited := leftInContainer(); limited {
		allowed = min(allowed, left)
	}
	if bits.UintSize == 32 {
		allowed = min(allowed, addressableMax)
	}
	return max(0, allowed)
}

// limitLeft returns what a limit leaves, given the use that counts against it
// and the part of that use that is given back on demand (cached file pages).
func limitLeft(limit, usage, cached int64) int64 {
	if limit >= math.MaxInt64/2 {
		return math.MaxInt64 // how Linux says "no limit"
	}
	return max(0, limit-usage+cached)
}
