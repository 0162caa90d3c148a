package pile

import (
	"log/slog"
	"slices"

	"github.com/bigpile/bigpile/segment"
)

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
	offset := shape.Offset(unit, l.Slot())
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
