package pile

import (
	"sync/atomic"

	"github.com/bigpile/bigpile/segment"
)

// A hazard names one slot that must not be reused although no pin is held (I22): the slot a View
// shows to user code, or a large slot that is being filled or copied. One that is held for ever
// costs its slot, not the pile. (Michael, "Hazard Pointers", 2004; here a hazard is published while a
// pin is still held, so no re-check of the source is needed.)
//
// Hazards live on the Go heap, one cache line each, in chunks that are only ever added.
type hazards struct {
	first hazardChunk
}

type hazardChunk struct {
	slots [hazardsPerChunk]hazard
	next  atomic.Pointer[hazardChunk]
}

type hazard struct {
	location atomic.Uint64 // 0: not in use
	_        [56]byte
}

const hazardsPerChunk = 64

// hold publishes a hazard for l. The caller holds a pin.
func (h *hazards) hold(l segment.Location) *hazard {
	start := hint()
	for c := &h.first; ; {
		for i := range uint32(hazardsPerChunk) {
			s := &c.slots[(start+i)%hazardsPerChunk]
			if s.location.Load() == 0 && s.location.CompareAndSwap(0, uint64(l)) {
				return s
			}
		}
		next := c.next.Load()
		if next == nil {
			next = new(hazardChunk)
			if !c.next.CompareAndSwap(nil, next) {
				next = c.next.Load()
			}
		}
		c = next
	}
}

func (s *hazard) release() { s.location.Store(0) }

// each calls fn for every location that is held.
func (h *hazards) each(fn func(segment.Location)) {
	for c := &h.first; c != nil; c = c.next.Load() {
		for i := range c.slots {
			if l := c.slots[i].location.Load(); l != 0 {
				fn(segment.Location(l))
			}
		}
	}
}

// count returns how many hazards are held.
func (h *hazards) count() (n int) {
	h.each(func(segment.Location) { n++ })
	return n
}
