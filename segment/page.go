package segment

import (
	"fmt"
	"math/bits"
)

// A page changes class in four steps (I15):
//
//	ClosePage     descriptor closed: no reader enters any more
//	              a grace period: those inside have left
//	EmptyPage     the base is raised above every generation that was used (I12)
//	OpenPage      every header word of the new class written free with the base,
//	              then the descriptor published
//
// Between EmptyPage and OpenPage the units are empty and may be handed out in other shapes.

// OpenPage makes the taken units at unit a page of class c and publishes it. All its slots are free
// and unlisted. A unit that was never used is zero, which is a free header of generation 0, and is
// not written to at all.
func (s *Segment) OpenPage(unit int, c Class) {
	shape := s.geo.Shape(c)
	base, virgin := s.base(unit, int(shape.Units))
	if !virgin {
		w := uint64(FreeWord(base))
		for i := range int(shape.Slots) {
			s.mem.format64(unit*UnitSize+i*int(shape.SlotSize), w)
		}
	}
	s.continuations(unit, c, base, int(shape.Units))
	s.fillMap(unit, int(shape.Slots))
	s.describe(unit, Describe(Open, c, base, int(shape.Units)))
}

// OpenRun makes the n taken units at unit a run and publishes it. Its slot is free and taken: the
// caller publishes a value in it.
func (s *Segment) OpenRun(unit, n int) {
	base, virgin := s.base(unit, n)
	if !virgin {
		s.mem.format64(unit*UnitSize, uint64(FreeWord(base)))
	}
	s.continuations(unit, ClassRun, base, n)
	clear(s.freeMap(unit))
	s.pages[unit].freeSlots.Store(0)
	s.pages[unit].wornSlots.Store(0)
	s.describe(unit, Describe(Open, ClassRun, base, n))
}

// base returns the highest generation base of the units, and whether none was ever used.
func (s *Segment) base(unit, n int) (base uint32, virgin bool) {
	virgin = true
	for u := unit; u < unit+n; u++ {
		d := s.Descriptor(u)
		virgin = virgin && d == 0
		base = max(base, d.Base())
	}
	return base, virgin
}

// continuations describes all units but the head. The head is closed meanwhile: at every moment each
// continuation has a head whose length covers it (I2, I16).
func (s *Segment) continuations(unit int, c Class, base uint32, n int) {
	if n > 1 {
		s.describe(unit, Describe(Closed, c, base, n))
	}
	for i := 1; i < n; i++ {
		s.describe(unit+i, Describe(Continuation, 0, s.Descriptor(unit+i).Base(), i))
	}
}

// fillMap sets the bits of the first slots slots in the free map of the page.
func (s *Segment) fillMap(unit, slots int) {
	words := s.freeMap(unit)
	for i := range words {
		switch left := slots - i*64; {
		case left >= 64:
			words[i].Store(^uint64(0))
		case left > 0:
			words[i].Store(1<<left - 1)
		default:
			words[i].Store(0)
		}
	}
	p := &s.pages[unit]
	p.cursor = 0
	p.wornSlots.Store(0)
	p.freeSlots.Store(int32(slots))
}

// ClosePage closes the page or run at unit. The caller has made sure that all its slots are free
// and that nobody takes one.
func (s *Segment) ClosePage(unit int) {
	d := s.Descriptor(unit)
	s.describe(unit, Describe(Closed, d.Class(), d.Base(), d.Length()))
	clear(s.freeMap(unit))
}

// EmptyPage, a grace period after ClosePage, makes the units of the page empty again and returns
// how many they are. Those whose generations are used up become worn; usable tells. It returns an
// error, and changes nothing, when a slot is not free.
func (s *Segment) EmptyPage(unit int) (n int, usable bool, err error) {
	d := s.Descriptor(unit)
	shape := s.geo.Shape(d.Class())
	base, worn := d.Base(), false
	for i := range int(shape.Slots) {
		w := s.mem.Load(unit*UnitSize + i*int(shape.SlotSize))
		switch {
		case w.Is(Free):
			base = max(base, w.Generation())
		case w.Is(Retired) && w.Generation() == GenerationMax:
			worn = true
		default:
			return 0, false, fmt.Errorf("segment: I23: empty page: unit %d slot %d holds %#x", unit, i, uint64(w))
		}
	}
	n = d.Length()
	next := Describe(Empty, 0, base, 0)
	if worn {
		next = Describe(Worn, 0, GenerationMax, 0)
	}
	for u := unit + n - 1; u >= unit; u-- { // the head last: until then the page is closed, not torn
		s.describe(u, next)
	}
	return n, !worn, nil
}

// Locate returns the offset of the header word of a slot, and false unless the slot exists in an
// open page. It does not look at the word.
func (s *Segment) Locate(unit, slot uint32) (offset int, ok bool) {
	if unit >= uint32(len(s.pages)) {
		return 0, false
	}
	d := s.Descriptor(int(unit))
	shape := s.geo.Shape(d.Class())
	if d.Role() != Open || slot >= shape.Slots {
		return 0, false
	}
	// A broken descriptor (I2) may claim more units than there are.
	return shape.Offset(int(unit), slot), int(unit)+int(shape.Units) <= len(s.pages)
}

// Capacity returns the payload bytes that the slots of the page at unit hold.
func (s *Segment) Capacity(unit int) int {
	d := s.Descriptor(unit)
	if d.Class() == ClassRun {
		return RunCapacity(d.Length())
	}
	return int(s.geo.Shape(d.Class()).SlotSize) - wordSize
}

// freeSlotsOf counts the bits of the free map of the page; for checks.
func (s *Segment) freeSlotsOf(unit int) int {
	n := 0
	words := s.freeMap(unit)
	for i := range words {
		n += bits.OnesCount64(words[i].Load())
	}
	return n
}
