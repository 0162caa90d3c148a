package pile

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/bigpile/bigpile/segment"
)

// A lane is what one writer at a time allocates from: a current page for each class up to 2 KiB, and
// of each page a claim of up to 64 free slots. A Put locks a lane that nobody else holds, fills a
// slot of the claim and unlocks: two uncontended atomic operations, and one for the header.
//
// The slot is filled under the lock. The other way, a counter of writers in progress beside an atomic
// claim, is as many atomic operations, and then needs a second mechanism for counters and for Close.
// A writer that finds a lane locked takes the next, and waits only when all are locked.
type lane struct {
	mu      sync.Mutex // guards all below
	claims  [laneClasses]claim
	counts  counts
	retired batch
	sealed  []batch     // oldest first
	due     atomic.Bool // sealed is not empty; read without the lock
	waiting atomic.Bool // retired or sealed is not empty; read without the lock
	_       [64]byte
}

// laneClasses bounds the classes that lanes serve: up to laneSlotMax.
const laneClasses = 48

// claim is up to 64 slots of one word of a free map that belong to the lane (I26), and the page they
// are in, which the lane owns (I27). The zero claim owns nothing.
type claim struct {
	slots  uint64 // bit set: slot first+bit is free and ours
	mem    *segment.Memory
	offset int // of slot first
	size   int // of a slot
	first  segment.Location
	seg    *segment.Segment
	unit   int

	robbed bool // the page of this class was taken by another lane, and no new one opened since
}

// counts are the counters of a pile, each kept a lane and summed by Stats.
type counts struct {
	objects, links, bytes           int64 // differences: one lane may count down what another counted up
	puts, deletes, updates, retired int64
}

// put counts one value of n bytes.
func (c *counts) put(n int) {
	c.puts++
	c.objects++
	c.bytes += int64(n)
}

func (c *counts) add(d counts) {
	c.objects += d.objects
	c.links += d.links
	c.bytes += d.bytes
	c.puts += d.puts
	c.deletes += d.deletes
	c.updates += d.updates
	c.retired += d.retired
}

// anyLane returns a lane, locked, if possible one that nobody else wants. Close sets closing and then
// locks every lane once: whoever finds closing unset while it holds a lane is waited for.
func (p *Pile) anyLane() *lane {
	i := hint()
	l := &p.lanes[i&uint32(len(p.lanes)-1)]
	if l.mu.TryLock() {
		return l
	}
	return p.otherLane(i)
}

// otherLane tries the lanes after the i-th, and waits for that one when all are locked.
func (p *Pile) otherLane(i uint32) *lane {
	n := uint32(len(p.lanes))
	for k := range n - 1 {
		if l := &p.lanes[(i+k+1)&(n-1)]; l.mu.TryLock() {
			return l
		}
	}
	l := &p.lanes[i&(n-1)]
	l.mu.Lock()
	return l
}

// take takes a slot of the claim for class c, which refill made sure has one.
func (c *claim) take() (l segment.Location, offset int) {
	i := bits.TrailingZeros64(c.slots)
	c.slots &= c.slots - 1
	return c.first + segment.Location(i), c.offset + i*c.size
}

// replenish returns a locked lane whose claim of class c has a slot: l, which is locked, or another.
// Before it takes a page that was not in use it drains what can be drained without waiting. On an
// error no lane is locked; errNoRoom means that makeRoom may help.
func (p *Pile) replenish(l *lane, c segment.Class) (*lane, error) {
	for grow := range 2 {
		if p.closing.Load() {
			l.mu.Unlock()
			return nil, ErrClosed
		}
		if l.claims[c].slots != 0 || p.refill(l, c, grow > 0 || p.idle()) {
			return l, nil
		}
		l.mu.Unlock()
		if grow == 0 {
			p.drainNow()
			l = p.anyLane()
		}
	}
	return nil, errNoRoom
}

// refill gives the claim of class c at least one slot, with grow from a new page if need be. The lane
// is locked.
func (p *Pile) refill(l *lane, c segment.Class, grow bool) bool {
	cl := &l.claims[c]
	for {
		if cl.seg != nil {
			if first, slots := cl.seg.Claim(cl.unit); slots != 0 {
				cl.slots = slots
				cl.offset = p.geo.Shape(c).Offset(cl.unit, first)
				cl.first = segment.At(cl.seg.First()+uint32(cl.unit), first)
				return true
			}
			if p.centres[c].unlessFree(cl.seg, cl.unit, full) {
				*cl = claim{robbed: cl.robbed}
			}
			continue
		}
		if grow && p.rob(l, c) {
			return true
		}
		seg, unit, ok := p.ownPage(c, grow)
		if !ok {
			return false
		}
		*cl = claim{seg: seg, unit: unit, mem: seg.Memory(), size: int(p.geo.Shape(c).SlotSize)}
	}
}

// rob takes over a claim and its page from a lane that is not in use right now, so that the pages of
// lanes that nobody uses any more do not make the pile grow. A lane that was robbed does not rob, but
// opens a page: two writers cannot take the same page from each other for ever.
func (p *Pile) rob(l *lane, c segment.Class) bool {
	if l.claims[c].robbed {
		return false
	}
	for i := range p.lanes {
		v := &p.lanes[i]
		if v == l || !v.mu.TryLock() { // never waits, so the order of I32 does not matter
			continue
		}
		ok := v.claims[c].slots != 0
		if ok {
			l.claims[c] = v.claims[c]
			v.claims[c] = claim{robbed: true}
		}
		v.mu.Unlock()
		if ok {
			return true
		}
	}
	return false
}

// ownPage returns a page of class c with a free slot that nobody else owns.
func (p *Pile) ownPage(c segment.Class, grow bool) (seg *segment.Segment, unit int, ok bool) {
	if grow && p.opt.AllocMode == FavorSpeed && p.centres[c].mostlyFull() {
		if seg, unit, err := p.newPage(c, owned); err == nil {
			return seg, unit, true
		}
	}
	if page, ok := p.centres[c].takePartial(p.space); ok {
		seg, unit := p.space.must(page)
		return seg, unit, true
	}
	if !grow {
		return nil, 0, false
	}
	seg, unit, err := p.newPage(c, owned)
	return seg, unit, err == nil
}

// newPage takes units and makes them a page of class c.
func (p *Pile) newPage(c segment.Class, place uint32) (*segment.Segment, int, error) {
	n := int(p.geo.Shape(c).Units)
	page, err := p.space.take(n)
	if err != nil {
		return nil, 0, err
	}
	seg, unit := p.space.must(page)
	if err := seg.Commit(unit, n); err != nil {
		p.space.giveCold(seg, unit, n)
		return nil, 0, fmt.Errorf("%w: %w", errNoRoom, err)
	}
	seg.Page(unit).Place.Store(place)
	seg.OpenPage(unit, c)
	p.centres[c].pages.Add(1)
	p.considerCollapse(seg)
	return seg, unit, nil
}

// giveUp returns the claims and pages of the lane, for others to use. The lane is locked.
func (p *Pile) giveUp(l *lane) {
	for c := range l.claims {
		cl := &l.claims[c]
		if cl.seg == nil {
			continue
		}
		if cl.slots != 0 {
			cl.seg.Unclaim(cl.unit, cl.first.Slot(), cl.slots)
		}
		p.centres[c].disown(p.space, cl.seg, cl.unit)
		*cl = claim{}
	}
}
