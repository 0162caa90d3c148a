package pile

import (
	"sync"
	"sync/atomic"

	"github.com/bigpile/bigpile/segment"
)

// A centre lists the pages of one size class that have free slots and that no lane owns, oldest
// first, so that pages too are reused in turn (I28).
type centre struct {
	mu         sync.Mutex // guards the list, and Place, Next and Prev of pages of the class
	head, tail uint32     // page numbers; 0 is none
	count      int
	pages      atomic.Int64 // open pages of the class
	_          [64]byte
}

// The places of a page (I27).
const (
	nowhere uint32 = iota // no page, a closed page, or a run
	owned                 // by a lane
	partial               // in the list of its centre
	full                  // had no free slot when it was last looked at
)

// push lists the page; the centre is locked.
func (c *centre) push(s *space, seg *segment.Segment, unit int) {
	n := seg.First() + uint32(unit)
	pg := seg.Page(unit)
	pg.Place.Store(partial)
	pg.Prev, pg.Next = c.tail, 0
	if c.tail == 0 {
		c.head = n
	} else {
		ts, tu := s.must(c.tail)
		ts.Page(tu).Next = n
	}
	c.tail = n
	c.count++
}

// remove takes the page out of the list; the centre is locked.
func (c *centre) remove(s *space, seg *segment.Segment, unit int, place uint32) {
	pg := seg.Page(unit)
	if pg.Prev == 0 {
		c.head = pg.Next
	} else {
		ps, pu := s.must(pg.Prev)
		ps.Page(pu).Next = pg.Next
	}
	if pg.Next == 0 {
		c.tail = pg.Prev
	} else {
		ns, nu := s.must(pg.Next)
		ns.Page(nu).Prev = pg.Prev
	}
	pg.Next, pg.Prev = 0, 0
	pg.Place.Store(place)
	c.count--
}

// takePartial takes the oldest page of the list; its lane owns it now.
func (c *centre) takePartial(s *space) (page uint32, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if page = c.head; page == 0 {
		return 0, false
	}
	seg, unit := s.must(page)
	c.remove(s, seg, unit, owned)
	return page, true
}

// unlessFree moves an exhausted page that a lane owns to place, unless a slot became free since.
// Whoever frees a slot first sets its bit and then looks at Place; here Place is set first and then
// the bits are looked at. So one of the two lists the page.
func (c *centre) unlessFree(seg *segment.Segment, unit int, place uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	pg := seg.Page(unit)
	pg.Place.Store(place)
	if seg.FreeSlots(unit) > 0 {
		pg.Place.Store(owned)
		return false
	}
	return true
}

// relist is called after a slot of the page became free: a full page gets listed, and one that is
// vacant now is closed, unless it is the last of the list: putting and deleting one value must not
// open and close a page each time. It reports whether it closed the page.
func (c *centre) relist(s *space, seg *segment.Segment, unit int) (closed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pg := seg.Page(unit)
	if pg.Place.Load() == full && seg.FreeSlots(unit) > 0 { // not when somebody closed it meanwhile
		c.push(s, seg, unit)
	}
	if pg.Place.Load() != partial || c.count == 1 || !seg.IsVacant(unit) {
		return false
	}
	c.close(s, seg, unit)
	return true
}

func (c *centre) close(s *space, seg *segment.Segment, unit int) {
	c.remove(s, seg, unit, nowhere)
	seg.ClosePage(unit)
	c.pages.Add(-1)
}

// takeOne takes one slot from the list, for classes and occasions that no lane serves.
func (c *centre) takeOne(s *space) (l segment.Location, seg *segment.Segment, unit int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.head != 0 {
		page := c.head
		seg, unit := s.must(page)
		if slot, ok := seg.ClaimOne(unit); ok {
			if seg.FreeSlots(unit) == 0 {
				c.remove(s, seg, unit, full)
				if seg.FreeSlots(unit) > 0 { // freed meanwhile, by someone who saw it listed
					c.push(s, seg, unit)
				}
			}
			return segment.At(page, slot), seg, unit, true
		}
		c.remove(s, seg, unit, full)
		if seg.FreeSlots(unit) > 0 {
			c.push(s, seg, unit)
		}
	}
	return 0, nil, 0, false
}

// disown lists a page that a lane gives up, if it has a free slot.
func (c *centre) disown(s *space, seg *segment.Segment, unit int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seg.Page(unit).Place.Store(full)
	if seg.FreeSlots(unit) > 0 {
		c.push(s, seg, unit)
	}
}

// mostlyFull reports whether less than an eighth of the pages of the class have free slots.
func (c *centre) mostlyFull() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(c.count)*8 <= c.pages.Load()
}

// closeVacant closes every listed page that is vacant and returns their numbers.
func (c *centre) closeVacant(s *space) (pages []uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n := c.head; n != 0; {
		seg, unit := s.must(n)
		next := seg.Page(unit).Next
		if seg.IsVacant(unit) {
			c.close(s, seg, unit)
			pages = append(pages, n)
		}
		n = next
	}
	return pages
}
