package segment

import (
	"fmt"
	"sync/atomic"
)

// A Segment is one region of memory with its descriptors and free maps.
//
//	memory       | unit 0 | unit 1 | unit 2 | …      64 KiB each: pages, runs, empty units
//	descriptors  | word 0 | word 1 | word 2 | …      one word a unit, outlives the memory
//	free maps    | 64 w.  | 64 w.  | 64 w.  | …      Go heap, no pointers, rebuilt from headers
//
// The descriptors are a Memory of their own, so that they can live in a file next to the segments.
type Segment struct {
	mem   *Memory
	descs *Memory
	geo   *Geometry
	first uint32 // number of unit 0 in the pile

	free  []atomic.Uint64 // mapWords words a unit; of a page only those of its head are used
	pages []Page
	units unitMap
	full  atomic.Uint32 // 0, 1: the last unit was handed out, 2: that was noted
}

// mapWords is the words of the free map of one unit: 4096 slots.
const mapWords = SlotsMax / 64

// Page is what a pile remembers, on the Go heap, of a page or run at the index of its first unit.
// All of it can be rebuilt from the headers.
type Page struct {
	freeSlots atomic.Int32
	wornSlots atomic.Int32
	cursor    uint32 // slot to look at next; guarded by the owner of the page

	// Where the page is listed (I27). Guarded by the centre of its class, except that Place is
	// read without a lock by whoever frees a slot.
	Place      atomic.Uint32
	Next, Prev uint32
}

// New returns a segment over mem, whose unit 0 has the number first in the pile. descs has a word a
// unit; what it says is taken over, so that generations survive an earlier life of the segment.
// mem must be zero where a descriptor is zero.
func New(mem, descs *Memory, geo *Geometry, first uint32) (*Segment, error) {
	n := mem.Len() / UnitSize
	if mem.Len()%UnitSize != 0 || n < 1 || n > geo.Units {
		return nil, fmt.Errorf("segment: %d bytes do not fit segments of %d units", mem.Len(), geo.Units)
	}
	if descs.Len() < n*wordSize {
		return nil, fmt.Errorf("segment: %d bytes of descriptors for %d units", descs.Len(), n)
	}
	s := &Segment{mem: mem, descs: descs, geo: geo, first: first}
	s.free = make([]atomic.Uint64, n*mapWords)
	s.pages = make([]Page, n)
	s.units.init(n)
	for u := range n {
		if s.Descriptor(u).Role() == Worn {
			s.units.lose(u)
		}
	}
	return s, nil
}

// Memory returns the region of the segment.
func (s *Segment) Memory() *Memory { return s.mem }

// Descriptors returns the region that holds the descriptors.
func (s *Segment) Descriptors() *Memory { return s.descs }

// Geometry returns how the segment is cut.
func (s *Segment) Geometry() *Geometry { return s.geo }

// Units returns how many units the segment has.
func (s *Segment) Units() int { return len(s.pages) }

// First returns the number of unit 0 in the pile.
func (s *Segment) First() uint32 { return s.first }

// Page returns the state of the page that starts at unit.
func (s *Segment) Page(unit int) *Page { return &s.pages[unit] }

// Descriptor returns the descriptor of unit.
func (s *Segment) Descriptor(unit int) Descriptor {
	return Descriptor(s.descs.Load(unit * wordSize))
}

func (s *Segment) describe(unit int, d Descriptor) { s.descs.store64(unit*wordSize, uint64(d)) }

// NoteFull reports whether the last unit was handed out and this is the first call that says so.
func (s *Segment) NoteFull() bool { return s.full.CompareAndSwap(1, 2) }

// Release gives the memory of the segment back. Every unit must be empty or worn, and nobody may
// hold a reference to the segment any more (I23). The descriptors stay.
func (s *Segment) Release() error {
	for u := range s.pages {
		if r := s.Descriptor(u).Role(); r != Empty && r != Worn {
			return fmt.Errorf("segment: release: unit %d is in use", u)
		}
	}
	return s.mem.Close()
}
