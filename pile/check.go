package pile

import (
	"context"
	"errors"
	"fmt"

	"github.com/bigpile/bigpile/segment"
)

// Check verifies every invariant of docs/INVARIANTS.md that can be seen from the outside, all
// checksums included, and returns all problems joined; nil means that the pile is sound. Writers wait
// meanwhile, readers do not. Cost: a walk over every slot, about 10 ns each, and a read of every byte
// when there are checksums. When ctx is done it returns what was found and the error of ctx.
func (p *Pile) Check(ctx context.Context) error {
	if p.closing.Load() {
		return ErrClosed
	}
	if err := p.freeze(ctx); err != nil {
		return err
	}
	defer p.unfreeze()
	if p.closing.Load() {
		return ErrClosed
	}
	c := checker{p: p, ctx: ctx, targets: make(map[segment.Location]int), held: p.held()}
	c.run()
	return errors.Join(c.errs...)
}

// freeze keeps out everybody who changes a slot, a list, a free map or a counter: those who free, by
// their lock; those who write under a pin, by the flag and a grace period; those who write under a
// lane, by the lanes. A slot that is taken and not published yet is named by a hazard.
func (p *Pile) freeze(ctx context.Context) error {
	p.checking.Lock()
	p.frees.Lock()
	p.frozen.Store(true)
	if err := p.grace.wait(ctx, p.grace.stamp()); err != nil {
		p.frozen.Store(false)
		p.frees.Unlock()
		p.checking.Unlock()
		return err
	}
	p.lockLanes()
	for i := range p.centres {
		p.centres[i].mu.Lock()
	}
	p.space.mu.Lock()
	return nil
}

func (p *Pile) unfreeze() {
	p.space.mu.Unlock()
	for i := range p.centres {
		p.centres[i].mu.Unlock()
	}
	p.unlockLanes()
	p.frozen.Store(false)
	p.frees.Unlock()
	p.checking.Unlock()
}

// problemsMax bounds the problems that Check collects.
const problemsMax = 1000

type checker struct {
	p    *Pile
	ctx  context.Context
	errs []error

	claims  map[segment.Location]uint64 // first slot of a claim → its slots
	targets map[segment.Location]int    // targets → links that name them
	held    map[segment.Location]bool   // what hazards name
	seen    counts
}

func (c *checker) fail(err error) {
	if len(c.errs) < problemsMax {
		c.errs = append(c.errs, err)
	}
}

func (c *checker) run() {
	c.collectClaims()
	for _, seg := range c.p.space.segments() {
		if err := c.ctx.Err(); err != nil {
			c.fail(err)
			return
		}
		seg.Check(c.fail)
		seg.Heads(func(unit int, d segment.Descriptor) bool {
			c.page(seg, unit, d)
			return true
		})
	}
	c.links()
	c.lists()
	c.accounts()
}

func (c *checker) collectClaims() {
	c.claims = make(map[segment.Location]uint64)
	for i := range c.p.lanes {
		for class := range c.p.lanes[i].claims {
			cl := &c.p.lanes[i].claims[class]
			if cl.slots != 0 {
				c.claims[cl.first] |= cl.slots
			}
		}
	}
}

// page checks the slots of one page against claims and links, and that the page is where it belongs.
func (c *checker) page(seg *segment.Segment, unit int, d segment.Descriptor) {
	number := seg.First() + uint32(unit)
	if seg.First() == 0 && unit == 0 {
		c.fail(errors.New("I3: unit 0 is in use"))
	}
	if d.Role() == segment.Closed {
		// A run is closed as soon as it is retired.
		if d.Class() == segment.ClassRun && seg.Memory().Load(unit*segment.UnitSize).Is(segment.Retired) {
			c.seen.retired++
		}
		return
	}
	free := 0
	seg.Crawl(unit, func(s segment.Slot) bool {
		l := segment.At(number, s.Index)
		claimed := c.claims[segment.At(number, s.Index&^63)]&(1<<(s.Index%64)) != 0
		available := seg.Available(unit, s.Index)
		if available {
			free++
		}
		if available && claimed {
			c.fail(fmt.Errorf("I26: page %d slot %d is in the free map and in a claim", number, s.Index))
		}
		c.slot(seg, l, s, available || claimed)
		return true
	})
	c.seen.retired -= int64(seg.WornSlots(unit)) // they stay retired, and are not waited for
	place := seg.Page(unit).Place.Load()
	if d.Class() != segment.ClassRun && free > 0 && place != owned && place != partial {
		c.fail(fmt.Errorf("I27: page %d has %d free slots and is listed nowhere", number, free))
	}
}

func (c *checker) slot(seg *segment.Segment, l segment.Location, s segment.Slot, available bool) {
	w := s.Word
	switch {
	case w.IsLink():
		c.targets[w.Target()]++
		c.seen.objects++
		c.seen.links++
		c.sum(w.Target(), l, w.Generation())
	case w.Is(segment.Free):
		if !available && !c.held[l] {
			c.fail(fmt.Errorf("I26: page %d slot %d is taken and nobody is about to publish it", l.Page(), l.Slot()))
		}
		c.poisoned(seg, s)
	case available:
		c.fail(fmt.Errorf("I26: page %d slot %d is available but holds %#x", l.Page(), l.Slot(), uint64(w)))
	case w.Is(segment.Value) && isBlock(w):
		// The index of a container: neither a value nor summed.
	case w.Is(segment.Value):
		c.seen.objects++
		c.seen.bytes += int64(seg.Memory().PayloadLen(s.Offset, w))
		c.sum(l, l, w.Generation())
	case w.Is(segment.Target):
		c.targets[l] += 0
		c.seen.bytes += int64(seg.Memory().PayloadLen(s.Offset, w))
	case w.Is(segment.Retired):
		c.seen.retired++
	}
}

// sum verifies the checksum of the payload at l, which belongs to the slot owner.
func (c *checker) sum(l, owner segment.Location, generation uint32) {
	if !c.p.opt.Checksums {
		return
	}
	seg, unit := c.p.space.segment(l.Page())
	if seg == nil {
		return // I17 tells
	}
	offset, ok := seg.Locate(unit, l.Slot())
	if !ok {
		return
	}
	f := found{seg: seg, mem: seg.Memory(), offset: offset, word: seg.Memory().Load(offset), location: l, head: owner}
	if err := c.p.verify(&f, generation); err != nil {
		c.fail(fmt.Errorf("I14: %w", err))
	}
}

// poisoned checks, in Debug mode, that nobody wrote to a payload after it was freed.
func (c *checker) poisoned(seg *segment.Segment, s segment.Slot) {
	if !c.p.opt.Debug || s.Word.Generation() == seg.Descriptor(s.Unit).Base() {
		return // never used since the page was opened
	}
	for i, b := range seg.Memory().Bytes(s.Offset+headerSize, seg.Capacity(s.Unit)) {
		if b != poisonByte {
			c.fail(fmt.Errorf("I14: page %d slot %d: byte %d was written after it was freed", seg.First()+uint32(s.Unit), s.Index, i))
			return
		}
	}
}

// links checks that links and targets belong together, one to one (I17).
func (c *checker) links() {
	for l, n := range c.targets {
		_, ok := c.p.target(l)
		switch {
		case !ok:
			c.fail(fmt.Errorf("I17: a link names page %d slot %d, which is no target", l.Page(), l.Slot()))
		case n > 1:
			c.fail(fmt.Errorf("I17: %d links name page %d slot %d", n, l.Page(), l.Slot()))
		case n == 0 && !c.held[l]:
			c.fail(fmt.Errorf("I17: no link names page %d slot %d, and no update is about to", l.Page(), l.Slot()))
		}
	}
}

// lists checks the lists of the centres (I27).
func (c *checker) lists() {
	for class := range c.p.centres {
		n, prev := 0, uint32(0)
		ct := &c.p.centres[class]
		for page := ct.head; page != 0 && n <= ct.count; n++ {
			seg, unit := c.p.space.must(page)
			pg := seg.Page(unit)
			d := seg.Descriptor(unit)
			if pg.Place.Load() != partial || pg.Prev != prev || d.Role() != segment.Open || int(d.Class()) != class {
				c.fail(fmt.Errorf("I27: page %d is in the list of class %d by mistake", page, class))
			}
			prev, page = page, pg.Next
		}
		if n != ct.count || prev != ct.tail {
			c.fail(fmt.Errorf("I27: the list of class %d has %d pages and ends at %d, expected %d and %d", class, n, prev, ct.count, ct.tail))
		}
	}
}

// accounts checks limits (I29) and counters (I30).
func (c *checker) accounts() {
	var bytes int64
	for _, seg := range c.p.space.segments() {
		bytes += int64(seg.Memory().Len())
		if n := int64(seg.CommittedUnits()) * segment.UnitSize; n > int64(seg.Memory().Len()) {
			c.fail(fmt.Errorf("I29: segment %d has %d bytes committed of %d", seg.First()>>c.p.space.shift, n, seg.Memory().Len()))
		}
	}
	for _, seg := range c.p.space.leaving {
		bytes += int64(seg.Memory().Len())
	}
	if bytes != c.p.space.bytes || c.p.opt.MaxMemory > 0 && bytes > c.p.opt.MaxMemory {
		c.fail(fmt.Errorf("I29: segments have %d bytes, counted %d, MaxMemory %d", bytes, c.p.space.bytes, c.p.opt.MaxMemory))
	}
	var have counts
	for i := range c.p.lanes {
		have.add(c.p.lanes[i].counts)
	}
	have.puts, have.deletes, have.updates = 0, 0, 0
	if have != c.seen {
		c.fail(fmt.Errorf("I30: counted %+v, found %+v", have, c.seen))
	}
}
