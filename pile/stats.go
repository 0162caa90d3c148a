package pile

import "github.com/bigpile/bigpile/segment"

// Stats are the figures of a pile. They are sums over counters that move while they are read, exact
// when nothing is going on. Reading them takes a few microseconds for each segment and lane.
type Stats struct {
	Objects        int64 // values
	Bytes          int64 // of values
	AllocatedBytes int64 // of memory that is resident: pages, runs and free units
	OverheadBytes  int64 // AllocatedBytes less Bytes: headers, rounding, free slots and units
	MappedBytes    int64 // of address space: all segments
	FreeBytes      int64 // of units that are resident and not in use
	Segments       int64 // segments
	Links          int64 // values that an update moved out of the slot of their handle

	Puts, Gets, Deletes, Updates int64 // calls that succeeded; for Gets: that were made

	RetiredSlots int64 // slots that wait for a grace period
	Views        int64 // slots that a View, or a copy of a large value, holds right now
	GracePeriods int64 // grace periods that have ended
}

// Stats returns the figures of the pile. A closed pile has none but counts of calls.
func (p *Pile) Stats() Stats {
	var c counts
	for i := range p.lanes {
		l := &p.lanes[i]
		l.mu.Lock()
		c.add(l.counts)
		l.mu.Unlock()
	}
	s := Stats{
		Objects: c.objects, Bytes: c.bytes, Links: c.links, RetiredSlots: c.retired,
		Puts: c.puts, Deletes: c.deletes, Updates: c.updates, Gets: int64(p.epochs.reads()),
		Views: int64(p.hazards.count()), GracePeriods: int64(p.grace.completed.Load()),
	}
	p.space.mu.Lock()
	defer p.space.mu.Unlock()
	for _, seg := range p.space.segments() {
		s.Segments++
		s.MappedBytes += int64(seg.Memory().Len())
		s.AllocatedBytes += int64(seg.CommittedUnits()) * segment.UnitSize
		s.FreeBytes += int64(seg.ReadyUnits()) * segment.UnitSize
	}
	if s.Segments == 0 && p.closing.Load() {
		s.Objects, s.Bytes, s.Links, s.RetiredSlots = 0, 0, 0, 0
	}
	s.OverheadBytes = s.AllocatedBytes - s.Bytes
	return s
}
