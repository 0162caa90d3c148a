package pile

import (
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/bigpile/bigpile/segment"
)

// space is the unit space of a pile: its segments, and which of their units are handed out.
//
// Readers find a segment through table, which is replaced as a whole. Segment numbers are reused,
// descriptors are kept for ever (I12).
type space struct {
	opt   Options
	geo   *segment.Geometry
	notes notes
	shift uint // a page number has its segment in the bits above

	table atomic.Pointer[[]*segment.Segment] // nil where a segment was released
	_     [128]byte                          // readers load table: keep it off the line of mu

	mu       sync.Mutex               // guards all below, and the unit maps of the segments; I32: last
	leaving  map[int]*segment.Segment // out of the table, not unmapped yet: they count
	descs    []*segment.Memory
	bytes    int64 // of all segments
	count    int   // segments
	rotor    int   // the segment that the last unit came from
	newDescs func(bytes int) (*segment.Memory, error)
}

// errNoRoom is what space returns when limits or the system refuse; Put turns it into
// ErrOutOfSpace after it has tried to make room.
var errNoRoom = errors.New("pile: no room")

func newSpace(o Options) (*space, error) {
	geo, err := segment.NewGeometry(o.SegmentSize, o.Checksums)
	if err != nil {
		return nil, fmt.Errorf("pile: %w", err)
	}
	s := &space{opt: o, geo: geo, leaving: make(map[int]*segment.Segment), shift: uint(bits.Len(uint(geo.Units - 1)))}
	s.table.Store(new([]*segment.Segment))
	s.newDescs = func(n int) (*segment.Memory, error) { return segment.NewMemory(segment.Heap, n) }
	return s, nil
}

// segment returns the segment of a page, nil when there is none, and the unit in it.
func (s *space) segment(page uint32) (seg *segment.Segment, unit uint32) {
	t := *s.table.Load()
	i := page >> s.shift
	if int(i) >= len(t) {
		return nil, 0
	}
	return t[i], page & (1<<s.shift - 1)
}

// must is segment for a page that is known to exist.
func (s *space) must(page uint32) (*segment.Segment, int) {
	seg, unit := s.segment(page)
	return seg, int(unit)
}

// take hands out n adjacent units and returns the number of the first. Committed units go first, so
// that a pile that shrank and grows again takes no new memory.
func (s *space) take(n int) (page uint32, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n == 1 {
		if page, ok := s.search(1, true); ok {
			return page, nil
		}
	}
	if page, ok := s.search(n, false); ok {
		return page, nil
	}
	if err := s.addSegment(n); err != nil {
		return 0, err
	}
	page, ok := s.search(n, false)
	if !ok {
		return 0, errNoRoom // a segment shortened by MaxMemory is shorter than n
	}
	return page, nil
}

// search looks through the segments, beginning with the one that served last.
func (s *space) search(n int, ready bool) (uint32, bool) {
	t := *s.table.Load()
	for k := range t {
		i := (s.rotor + k) % len(t)
		if t[i] == nil {
			continue
		}
		if unit, ok := t[i].TakeUnits(n, ready); ok {
			s.rotor = i
			return t[i].First() + uint32(unit), true
		}
	}
	return 0, false
}

// addSegment maps one more segment, if the limits allow one of at least n units. It runs under the
// lock of the space: one goroutine maps, the others find the new segment when they get the lock.
func (s *space) addSegment(n int) error {
	size := int64(s.geo.Units) * segment.UnitSize
	if s.opt.MaxMemory > 0 {
		size = min(size, (s.opt.MaxMemory-s.bytes)/segment.UnitSize*segment.UnitSize)
	}
	t := *s.table.Load()
	i := s.vacantNumber(t)
	if i == 0 {
		n++ // its first unit is never used
	}
	switch {
	case size < int64(n)*segment.UnitSize,
		s.opt.MaxSegments > 0 && s.count >= s.opt.MaxSegments,
		uint64(i+1)<<s.shift > segment.PageCount:
		return errNoRoom
	}
	seg, err := s.mapSegment(i, int(size))
	if err != nil {
		return fmt.Errorf("%w: %w", errNoRoom, err)
	}
	next := make([]*segment.Segment, max(len(t), i+1))
	copy(next, t)
	next[i] = seg
	s.bytes += size
	s.count++
	s.table.Store(&next)
	return nil
}

func (s *space) vacantNumber(t []*segment.Segment) int {
	for i, seg := range t {
		if seg == nil && s.leaving[i] == nil {
			return i
		}
	}
	return len(t)
}

func (s *space) mapSegment(i, size int) (*segment.Segment, error) {
	if i == len(s.descs) {
		d, err := s.newDescs(s.geo.Units * 8)
		if err != nil {
			return nil, err
		}
		s.descs = append(s.descs, d)
	}
	backing := segment.Anonymous
	if s.opt.Backing == Heap {
		backing = segment.Heap
	}
	mem, err := segment.NewMemory(backing, size)
	if err != nil {
		return nil, err
	}
	if s.opt.HugePages == HugeAlways || s.opt.HugePages == HugeAuto && s.count > 0 && size >= hugeSegmentMin {
		if err := mem.PreferHuge(); err != nil {
			s.notes.note(slog.LevelInfo, "pile: huge pages are not available", "error", err)
		}
	}
	seg, err := segment.New(mem, s.descs[i], s.geo, uint32(i)<<s.shift)
	if err != nil {
		return nil, errors.Join(err, mem.Close())
	}
	if i == 0 {
		seg.ReserveUnit(0) // I3
	}
	return seg, nil
}

// give takes units back that are empty and that no reader can see.
func (s *space) give(seg *segment.Segment, unit, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seg.GiveUnits(unit, n)
}

// giveCold is give for units that could not be made resident.
func (s *space) giveCold(seg *segment.Segment, unit, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seg.GiveUnits(unit, n)
	seg.SetCold(unit, n)
}

// lose takes worn units out of use for good.
func (s *space) lose(seg *segment.Segment, unit, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for u := unit; u < unit+n; u++ {
		seg.ReserveUnit(u)
	}
}

// detach takes the segments that have nothing in them out of the table. After a grace period the
// caller releases them.
func (s *space) detach() (gone []*segment.Segment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := *s.table.Load()
	next := make([]*segment.Segment, len(t))
	copy(next, t)
	for i, seg := range t {
		if seg != nil && seg.AllEmpty() {
			next[i] = nil
			s.leaving[i] = seg
			gone = append(gone, seg)
		}
	}
	if len(gone) > 0 {
		s.table.Store(&next)
	}
	return gone
}

// release unmaps a detached segment that no reader can see. Until then its number and its bytes are
// not given to another one (I29).
func (s *space) release(seg *segment.Segment) (freed int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	freed = int64(seg.CommittedUnits()) * segment.UnitSize
	n := int64(seg.Memory().Len())
	err = seg.Release()
	s.bytes -= n
	s.count--
	delete(s.leaving, int(seg.First()>>s.shift))
	return freed, err
}

// uncommit gives free committed units back to the system, a bounded step under the lock each time.
func (s *space) uncommit(seg *segment.Segment, from int) (next int, freed int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const step = 2 << 20 / segment.UnitSize
	return seg.UncommitFree(from, step)
}

// segments returns the segments there are.
func (s *space) segments() (list []*segment.Segment) {
	for _, seg := range *s.table.Load() {
		if seg != nil {
			list = append(list, seg)
		}
	}
	return list
}

// unmap gives everything back. Nobody uses the pile any more.
func (s *space) unmap() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, seg := range s.segments() {
		errs = append(errs, seg.Memory().Close())
	}
	s.table.Store(new([]*segment.Segment))
	s.bytes, s.count = 0, 0
	return errors.Join(errs...)
}
