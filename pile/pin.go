package pile

import (
	"runtime"
	"sync/atomic"
)

// An epoch pin tells reclaimers that a goroutine may be looking at descriptors, headers, links and
// payloads (I20). It is counted, not listed: two parities of counters, each striped over cache
// lines, on the Go heap. Entering and leaving are one atomic add each, to a line that other
// goroutines rarely touch; the memory of the pile is not written to.
//
// This is sleepable RCU (McKenney, "Sleepable Read-Copy Update", 2006) with two changes: a grace
// period waits for both parities, see grace.go; and the counters carry the number of reads in their
// upper bits, because one add for both costs half of two adds.
type stripe struct {
	//	 63             20 19       0
	//	+-----------------+----------+
	//	| reads 44        | pins 20  |
	//	+-----------------+----------+
	counts [2]atomic.Uint64
	_      [128 - 16]byte // two lines: adjacent lines are fetched together
}

const (
	pinBits  = 20
	onePin   = 1
	oneRead  = 1 << pinBits
	pinsMask = oneRead - 1
)

type pin struct{ count *atomic.Uint64 }

// epochs holds the stripes of a pile. It is part of the Pile, not behind a pointer, so that a pin points
// into the Pile and keeps it from being collected, and unmapped, before the pin is left.
type epochs struct {
	parity  atomic.Uint32
	mask    uint32 // stripes in use less one
	_       [128 - 8]byte
	stripes [stripesMax]stripe
}

const (
	stripesMin = 64
	stripesMax = 512
)

// init uses 16 stripes a P, so that two goroutines that run at the same time rarely share one.
func (e *epochs) init() {
	n := uint32(stripesMin)
	for n < stripesMax && n < uint32(16*runtime.GOMAXPROCS(0)) {
		n *= 2
	}
	e.mask = n - 1
}

// enter takes a pin and counts reads.
func (e *epochs) enter(reads uint64) pin {
	s := &e.stripes[hint()&e.mask&(stripesMax-1)]
	c := &s.counts[e.parity.Load()&1]
	yield() // the parity may change now
	c.Add(onePin + reads*oneRead)
	return pin{c}
}

// leave gives the pin back, to the counter it came from.
func (p pin) leave() { p.count.Add(^uint64(0)) }

// empty reports whether nobody holds a pin of that parity, each stripe looked at once.
func (e *epochs) empty(parity uint32) bool {
	for i := range e.mask + 1 {
		if e.stripes[i].counts[parity&1].Load()&pinsMask != 0 {
			return false
		}
	}
	return true
}

// reads returns how many reads were counted.
func (e *epochs) reads() (n uint64) {
	for i := range e.mask + 1 {
		n += e.stripes[i].counts[0].Load()>>pinBits + e.stripes[i].counts[1].Load()>>pinBits
	}
	return n
}
