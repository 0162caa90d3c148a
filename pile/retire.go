package pile

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/bigpile/bigpile/segment"
)

// What has to wait for a grace period is collected in batches, a lane each, as words:
//
//	location                      a retired slot, to be made free
//	retireSettle | link layout    a slot that became a link: to be marked settled
//	retirePage | page << 12       a closed page, to be emptied
//	retireGuard | page << 12 | n  n emptied units that are inaccessible (Debug), to be given back
const (
	retireSettle = 1 << 63
	retirePage   = 1 << 62
	retireGuard  = 1 << 61

	batchLen   = 128       // entries after which a batch is sealed
	batchBytes = 256 << 10 // bytes of slots after which it is sealed earlier
	batchesMax = 4         // sealed batches of a lane before who retires more waits for a grace period
)

// batch is a number of entries that one grace period covers.
type batch struct {
	entries []uint64
	bytes   int
	stamp   uint64 // the period that covers all of them; set when it is sealed
}

// retire queues entries and moves counters. It may be called with a pin held; then the caller
// drains later. A run is closed at once: it has one slot, and so one grace period is enough for it.
func (p *Pile) retire(d counts, entries ...uint64) (l *lane) {
	bytes := 0
	for _, e := range entries {
		switch {
		case e&retirePage != 0:
			seg, unit := p.space.must(segment.Location(e &^ retirePage).Page())
			bytes += seg.Descriptor(unit).Length() * segment.UnitSize
		case e&(retireSettle|retireGuard) == 0:
			bytes += p.closeRun(segment.Location(e))
			d.retired++
		}
	}
	l = p.anyLane()
	l.counts.add(d)
	l.retired.entries = append(l.retired.entries, entries...)
	l.retired.bytes += bytes
	l.waiting.Store(true)
	if len(l.retired.entries) >= batchLen || l.retired.bytes >= batchBytes {
		l.seal(p.grace.stamp())
	}
	l.mu.Unlock()
	return l
}

// closeRun closes the run that l is in, if it is one, and returns the bytes of the slot.
func (p *Pile) closeRun(l segment.Location) int {
	seg, unit := p.space.must(l.Page())
	d := seg.Descriptor(unit)
	if d.Class() != segment.ClassRun {
		return int(p.geo.Shape(d.Class()).SlotSize)
	}
	seg.ClosePage(unit)
	return d.Length() * segment.UnitSize
}

// seal ends the current batch; the lane is locked.
func (l *lane) seal(stamp uint64) {
	if len(l.retired.entries) == 0 {
		return
	}
	l.retired.stamp = stamp
	l.sealed = append(l.sealed, l.retired)
	l.due.Store(true)
	l.retired = batch{entries: make([]uint64, 0, batchLen)}
}

// drain frees what the lane has retired, and what the next lane in turn has, as far as grace periods
// allow without waiting: so lanes that nobody uses any more are drained too, while anybody deletes.
// The caller holds neither pin nor lock.
func (p *Pile) drain(l *lane) {
	defer p.writeNotes()
	p.drainLane(l)
	p.holdBack(l)
	next := &p.lanes[p.turn.Add(1)&uint32(len(p.lanes)-1)]
	if next != l && next.waiting.Load() {
		next.mu.Lock()
		next.seal(p.grace.stamp())
		next.mu.Unlock()
		p.drainLane(next)
	}
}

// holdBack waits for a grace period when much is retired in the lane and none has passed: what waits to
// be reused is bounded, also when goroutines that hold pins get no processor.
func (p *Pile) holdBack(l *lane) {
	l.mu.Lock()
	wait := len(l.sealed) > batchesMax
	var stamp uint64
	if wait {
		stamp = l.sealed[0].stamp
	}
	l.mu.Unlock()
	if !wait {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), roomWait)
	defer cancel()
	if p.grace.wait(ctx, stamp) == nil {
		p.drainLane(l)
	}
}

func (p *Pile) drainLane(l *lane) {
	for p.drainBatch(l) {
	}
}

// drainBatch frees the oldest batch of the lane, if its grace period has passed.
func (p *Pile) drainBatch(l *lane) bool {
	p.frees.RLock()
	defer p.frees.RUnlock()
	b, ok := p.popBatch(l)
	if ok {
		p.free(b.entries)
	}
	return ok
}

func (p *Pile) popBatch(l *lane) (b batch, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.sealed) == 0 {
		return b, false
	}
	b = l.sealed[0]
	if p.grace.advance(b.stamp); !p.grace.passed(b.stamp) {
		return b, false
	}
	l.sealed = slices.Delete(l.sealed, 0, 1)
	l.due.Store(len(l.sealed) > 0)
	l.waiting.Store(len(l.sealed) > 0 || len(l.retired.entries) > 0)
	return b, true
}

// idle reports whether nothing waits for a grace period.
func (p *Pile) idle() bool {
	for i := range p.lanes {
		if p.lanes[i].waiting.Load() {
			return false
		}
	}
	return true
}

// drainNow frees what every lane has retired as far as that is possible without waiting.
func (p *Pile) drainNow() {
	for i := range p.lanes {
		l := &p.lanes[i]
		if !l.waiting.Load() {
			continue
		}
		l.mu.Lock()
		l.seal(p.grace.stamp())
		l.mu.Unlock()
		p.drainLane(l)
	}
}

// drainAll frees everything that was retired before the call, waiting for grace periods until ctx is
// done. What a hazard names stays.
func (p *Pile) drainAll(ctx context.Context) error {
	p.frees.RLock()
	defer p.frees.RUnlock()
	taken, stamp := p.takeRetired()
	if len(taken) == 0 {
		return nil
	}
	if err := p.grace.wait(ctx, stamp); err != nil {
		l := p.anyLane()
		l.sealed = append(l.sealed, batch{entries: taken, stamp: stamp})
		l.due.Store(true)
		l.waiting.Store(true)
		l.mu.Unlock()
		return err
	}
	p.free(taken)
	return nil
}

// takeRetired takes everything that is retired out of the lanes, and the period that covers it.
func (p *Pile) takeRetired() (taken []uint64, stamp uint64) {
	for i := range p.lanes {
		l := &p.lanes[i]
		l.mu.Lock()
		l.seal(p.grace.stamp())
		for _, b := range l.sealed {
			taken = append(taken, b.entries...)
			stamp = max(stamp, b.stamp)
		}
		l.sealed = nil
		l.due.Store(false)
		l.waiting.Store(false)
		l.mu.Unlock()
	}
	return taken, stamp
}

// roomWait bounds how long a Put that found no room waits for a grace period. A grace period waits for
// library code only, so it takes this long only when the machine is so busy that a goroutine under a
// pin is not run.
const roomWait = 5 * time.Second

// free finishes entries whose grace period has passed. It works under a pin, a batch at a time, so
// that nothing is unmapped meanwhile; a pile that is closing forgets them.
func (p *Pile) free(entries []uint64) {
	for chunk := range slices.Chunk(entries, batchLen) {
		e, err := p.enter(0) // not enterWrite: Check waits for the lock that the caller holds
		if err != nil {
			return
		}
		p.freeChunk(chunk)
		e.leave()
	}
}

func (p *Pile) freeChunk(entries []uint64) {
	held := p.held()
	var again []uint64
	d := counts{}
	for _, e := range entries {
		switch l := segment.Location(e & (1<<segment.LocationBits - 1)); {
		case e&retireSettle != 0:
			if held[l] {
				again = append(again, e)
			} else {
				p.settle(l, segment.Word(e).Generation())
			}
		case e&retirePage != 0:
			p.emptyPage(l.Page())
		case e&retireGuard != 0:
			p.unguard(l)
		case held[l]:
			again = append(again, e)
		default:
			p.freeSlot(l)
			d.retired--
		}
	}
	p.requeue(d, again)
}

// held returns the locations that hazards name, nil when there are none.
func (p *Pile) held() (held map[segment.Location]bool) {
	p.hazards.each(func(l segment.Location) {
		if held == nil {
			held = make(map[segment.Location]bool)
		}
		held[l] = true
	})
	return held
}

// requeue moves counters and queues entries that were looked at too early.
func (p *Pile) requeue(d counts, entries []uint64) {
	l := p.anyLane()
	defer l.mu.Unlock()
	l.counts.add(d)
	if len(entries) > 0 {
		l.retired.entries = append(l.retired.entries, entries...)
		l.waiting.Store(true)
	}
}

// freeSlot makes a retired slot free, and lists or closes its page.
func (p *Pile) freeSlot(l segment.Location) {
	seg, unit := p.space.must(l.Page())
	d := seg.Descriptor(unit)
	shape := p.geo.Shape(d.Class())
	offset := unit*segment.UnitSize + int(l.Slot())*int(shape.SlotSize)
	if p.opt.Debug {
		p.poison(seg, unit, offset)
	}
	yield()
	n := seg.FreeSlot(unit, l.Slot(), offset)
	yield() // free, its page not listed
	if d.Class() == segment.ClassRun {
		p.emptyPage(l.Page()) // it was closed when it was retired
		return
	}
	if seg.Page(unit).Place.Load() == owned || n != 1 && !seg.IsVacant(unit) {
		return
	}
	if p.centres[d.Class()].relist(p.space, seg, unit) {
		p.retire(counts{}, retirePage|uint64(segment.At(l.Page(), 0)))
	}
}

// emptyPage makes the units of a closed page empty and gives them back.
func (p *Pile) emptyPage(page uint32) {
	seg, unit := p.space.must(page)
	n, usable, err := seg.EmptyPage(unit)
	switch {
	case err != nil:
		panic("pile: " + err.Error()) // a bug of ours: the page was closed because it was vacant
	case !usable:
		p.space.notes.note(slog.LevelWarn, "pile: generations used up, units are out of use", "page", page, "units", n)
		p.space.lose(seg, unit, n)
	case p.opt.Debug && p.guard(seg, unit, n):
		p.retire(counts{}, retireGuard|uint64(segment.At(page, uint32(n))))
	default:
		p.space.give(seg, unit, n)
	}
}
