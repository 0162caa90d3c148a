package pile

import "github.com/bigpile/bigpile/segment"

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
