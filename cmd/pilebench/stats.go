package main

import (
	"slices"
	"time"
)

// sample is one measured round of one side.
type sample struct {
	ops     int64
	seconds float64
	allocs  uint64
	cpu     time.Duration // processor time of the process; 0: not known
}

func (s sample) rate() float64 {
	if s.seconds <= 0 {
		return 0
	}
	return float64(s.ops) / s.seconds
}

// series is the measured rounds of one side, the warm-up round left out.
type series []sample

// rate is operations a second over all rounds together.
func (s series) rate() float64 { return s.total().rate() }

func (s series) total() (sum sample) {
	for _, one := range s {
		sum.ops += one.ops
		sum.seconds += one.seconds
		sum.allocs += one.allocs
		sum.cpu += one.cpu
	}
	return sum
}

// allocsPerOp is heap objects allocated by one operation.
func (s series) allocsPerOp() float64 {
	sum := s.total()
	if sum.ops == 0 {
		return 0
	}
	return float64(sum.allocs) / float64(sum.ops)
}

// cpuPerOp is the processor time of one operation; 0 when it is not known.
func (s series) cpuPerOp() time.Duration {
	sum := s.total()
	if sum.ops == 0 {
		return 0
	}
	return sum.cpu / time.Duration(sum.ops)
}

// spread is a median and how far the single values lie apart.
type spread struct {
	median, low, high float64
	count             int
}

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	middle := sorted[half]
	if len(sorted)%2 == 0 {
		middle = (sorted[half-1] + sorted[half]) / 2
	}
	return spread{middle, sorted[0], sorted[len(sorted)-1], len(sorted)}
}

// ratioOf compares two sides round by round: what shook the machine in one
// round shook both.
func ratioOf(of, to series) spread {
	var ratios []float64
	for i := range min(len(of), len(to)) {
		if base := to[i].rate(); base > 0 {
			ratios = append(ratios, of[i].rate()/base)
		}
	}
	return spreadOf(ratios)
}
