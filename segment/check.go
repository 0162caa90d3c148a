package segment

import (
	"fmt"
)

// Check walks the segment and calls report for each broken invariant that can be seen without
// knowing what the pile is doing: I2, I4, I5, I9, I11, and of I26 that a slot in the free map is
// free. Writers must be kept out; readers need not be.
func (s *Segment) Check(report func(error)) {
	for u := 0; u < len(s.pages); {
		d := s.Descriptor(u)
		n := 1
		switch d.Role() {
		case Empty, Worn:
		case Open, Closed:
			n = s.checkPage(u, d, report)
		case Continuation:
			report(fmt.Errorf("I2: unit %d continues unit %d, whose page ends before it", s.at(u), s.at(u-d.Length())))
		default:
			report(fmt.Errorf("I2: unit %d has role %d, which does not exist", s.at(u), d.Role()))
		}
		u += n
	}
}

func (s *Segment) at(unit int) int { return int(s.first) + unit }

func (s *Segment) checkPage(unit int, d Descriptor, report func(error)) (units int) {
	shape := s.geo.Shape(d.Class())
	n := d.Length()
	switch {
	case shape.Slots == 0 || d.Class() >= ClassCount:
		report(fmt.Errorf("I4: unit %d has class %d, which is not in use", s.at(unit), d.Class()))
		return 1
	case n < 1 || unit+n > len(s.pages) || d.Class() != ClassRun && n != int(shape.Units):
		report(fmt.Errorf("I2: unit %d of class %d claims %d units", s.at(unit), d.Class(), n))
		return 1
	}
	for i := 1; i < n; i++ {
		c := s.Descriptor(unit + i)
		if r := c.Role(); d.Role() == Closed && (r == Empty || r == Worn) {
			continue // not described yet, or no longer
		}
		if c.Role() != Continuation || c.Length() != i {
			report(fmt.Errorf("I2: unit %d should continue unit %d, its descriptor is %#x", s.at(unit+i), s.at(unit), uint64(c)))
		}
	}
	if d.Role() == Closed {
		return n
	}
	s.Crawl(unit, func(sl Slot) bool {
		s.checkSlot(sl, d, report)
		return true
	})
	if have, want := int(s.pages[unit].freeSlots.Load()), s.freeSlotsOf(unit); have != want {
		report(fmt.Errorf("I26: page %d counts %d free slots, its free map has %d", s.at(unit), have, want))
	}
	return n
}

func (s *Segment) checkSlot(sl Slot, d Descriptor, report func(error)) {
	w := sl.Word
	fail := func(rule, format string, args ...any) {
		report(fmt.Errorf("%s: page %d slot %d: %s (word %#x)", rule, s.at(sl.Unit), sl.Index, fmt.Sprintf(format, args...), uint64(w)))
	}
	if g := w.Generation(); g < d.Base() {
		fail("I11", "generation %d is below the base %d", g, d.Base())
	}
	if s.Available(sl.Unit, sl.Index) && !w.Is(Free) {
		fail("I26", "in the free map, but not free")
	}
	if w.IsLink() || w.Is(Free) || w.Is(Retired) {
		return
	}
	large := w.Flags()&Large != 0
	if large != (d.Class() == ClassRun) {
		fail("I5", "flag large in a page of class %d", d.Class())
		return
	}
	if large && w.Length() != d.Length() {
		fail("I5", "header counts %d units, descriptor %d", w.Length(), d.Length())
		return
	}
	n, room := s.mem.PayloadLen(sl.Offset, w), s.Capacity(sl.Unit)
	if n >= 0 && n <= room { // negative: 2 GiB and more, where an int has 32 bits
		return
	}
	if large {
		fail("I5", "length %d in a run for %d", n, room)
	} else {
		fail("I9", "length %d in a slot for %d", n, room)
	}
}
