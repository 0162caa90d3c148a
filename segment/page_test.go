package segment_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bigpile/bigpile/segment"
)

// TestOpenPageVirgin: a unit that was never used is zero, which is what it is to be, and is not
// written to. The observer sees every store.
func TestOpenPageVirgin(t *testing.T) {
	s := newSegment(t, heap(64))
	log := observe(s)
	page := openPage(t, s, classOf(t, s.Geometry(), 1024))
	require.Equal(t, []stored{{true, page * wordSize, uint64(s.Descriptor(page))}}, *log)
	require.Equal(t, segment.Describe(segment.Open, classOf(t, s.Geometry(), 1024), 0, 1), s.Descriptor(page))
	checkFresh(t, s, page, 0)
}

// checkFresh expects every slot of the page free, with generation base, and ready to be claimed.
func checkFresh(t *testing.T, s *segment.Segment, page int, base uint32) {
	t.Helper()
	d := s.Descriptor(page)
	require.Equal(t, segment.Open, d.Role())
	require.Equal(t, base, d.Base())
	n := 0
	s.Crawl(page, func(sl segment.Slot) bool {
		require.Equal(t, segment.FreeWord(base), sl.Word, "slot %d", sl.Index)
		require.True(t, s.Available(page, sl.Index), "slot %d", sl.Index)
		n++
		return true
	})
	require.Equal(t, int(s.Geometry().Shape(d.Class()).Slots), n)
	require.Equal(t, n, s.FreeSlots(page))
	require.True(t, s.IsVacant(page))
	require.Empty(t, problems(s))
}

// TestOpenPageUsed: what an earlier page left is overwritten at every header of the new class.
func TestOpenPageUsed(t *testing.T) {
	forBackings(t, func(t *testing.T, b segment.Backing) {
		s := newSegment(t, plan{backing: b})
		g := s.Geometry()
		page := openPage(t, s, classOf(t, g, 256))
		for range 100 {
			slot, _ := publish(t, s, page, 248)
			free(t, s, page, slot)
		}
		reuse(t, s, page)
		require.Equal(t, emptied(1), s.Descriptor(page))
		require.Equal(t, page, openPage(t, s, classOf(t, g, 16)))
		checkFresh(t, s, page, 1)
	})
}

// TestReopenedAfterUncommit: nobody may rely on what the system hands back.
func TestReopenedAfterUncommit(t *testing.T) {
	forBackings(t, func(t *testing.T, b segment.Backing) {
		s := newSegment(t, plan{backing: b, units: 16})
		page := openPage(t, s, 5)
		for range 3 * int(s.Geometry().Shape(5).Slots) {
			slot, _ := publish(t, s, page, 40)
			free(t, s, page, slot)
		}
		reuse(t, s, page)
		_, freed, err := s.UncommitFree(0, 16)
		require.NoError(t, err)
		if freed > 0 {
			require.Equal(t, 0, s.CommittedUnits())
		}
		require.Equal(t, page, openPage(t, s, 7))
		checkFresh(t, s, page, 3)
	})
}

// TestEmptyPageRaisesBases: the base is above every generation that was used (I12), on every unit.
func TestEmptyPageRaisesBases(t *testing.T) {
	s := newSegment(t, heap(64))
	c := classOf(t, s.Geometry(), 16*kiB)
	require.Equal(t, uint32(4), s.Geometry().Shape(c).Units)
	page := openPage(t, s, c)
	const used = 5
	slot, offset := publish(t, s, page, 100)
	for range used {
		retire(s, offset)
		s.FreeSlot(page, slot, offset)
		s.Memory().Store(offset, segment.Header(segment.Value, 0, s.Memory().Load(offset).Generation(), 0, 1))
	}
	retire(s, offset)
	require.Equal(t, used, int(s.Memory().Load(offset).Generation()), "the last generation that was used")
	s.FreeSlot(page, slot, offset)
	require.Equal(t, 4, reuse(t, s, page))
	for u := page; u < page+4; u++ {
		require.Equal(t, emptied(used+1), s.Descriptor(u), "unit %d", u)
	}
}

// TestPageTakesTheHighestBase: units with different pasts come together in one page.
func TestPageTakesTheHighestBase(t *testing.T) {
	s := newSegment(t, plan{backing: segment.Heap, describe: map[int]segment.Descriptor{
		1: emptied(7), 2: emptied(4),
	}})
	s.Memory().Store(2*segment.UnitSize, segment.Header(segment.Value, 0, 3, 1, 9)) // a leftover
	page := openPage(t, s, classOf(t, s.Geometry(), 16*kiB))
	require.Equal(t, 0, page)
	checkFresh(t, s, page, 7)
	require.Equal(t, []uint32{7, 7, 4, 0}, []uint32{
		s.Descriptor(0).Base(), s.Descriptor(1).Base(), s.Descriptor(2).Base(), s.Descriptor(3).Base()})
	reuse(t, s, page)
	for u := range 4 {
		require.Equal(t, emptied(7), s.Descriptor(u), "unit %d", u)
	}
}

func TestMultiUnitPage(t *testing.T) {
	s := newSegment(t, heap(64))
	c := classOf(t, s.Geometry(), 16*kiB)
	openPage(t, s, 1)
	page := openPage(t, s, c)
	require.Equal(t, segment.Describe(segment.Open, c, 0, 4), s.Descriptor(page))
	for i := 1; i < 4; i++ {
		require.Equal(t, segment.Describe(segment.Continuation, 0, 0, i), s.Descriptor(page+i))
		_, ok := s.Locate(uint32(page+i), 0)
		require.False(t, ok, "a continuation has no slots of its own")
	}
	require.Equal(t, page*segment.UnitSize+15*16*kiB, offsetOf(t, s, page, 15))
	_, ok := s.Locate(uint32(page), 16)
	require.False(t, ok)
	require.Equal(t, 16*kiB-wordSize, s.Capacity(page))
	checkFresh(t, s, page, 0)
	var heads []int
	s.Heads(func(unit int, d segment.Descriptor) bool {
		heads = append(heads, unit)
		return true
	})
	require.Equal(t, []int{0, page}, heads)
}

func TestRun(t *testing.T) {
	forBackings(t, func(t *testing.T, b segment.Backing) {
		s := newSegment(t, plan{backing: b, units: 16})
		m := s.Memory()
		const n = 3*segment.UnitSize - 16
		for life := range uint32(3) {
			unit := publishRun(t, s, n)
			require.Equal(t, segment.Describe(segment.Open, segment.ClassRun, life, 3), s.Descriptor(unit))
			require.Equal(t, segment.RunCapacity(3), s.Capacity(unit))
			require.Zero(t, s.FreeSlots(unit))
			require.False(t, s.Available(unit, 0), "the slot of a run is taken from the start")
			w := wordOf(t, s, unit, 0)
			require.Equal(t, life, w.Generation())
			p := m.Payload(unit*segment.UnitSize, w)
			require.Len(t, p, n)
			want := make([]byte, n)
			fill(want, n)
			require.Equal(t, want, p)
			_, ok := s.Locate(uint32(unit), 1)
			require.False(t, ok, "I5: exactly one slot")
			require.Empty(t, problems(s))

			retire(s, unit*segment.UnitSize)
			s.ClosePage(unit) // a run closes when it is retired, and is freed a grace period later
			s.FreeSlot(unit, 0, unit*segment.UnitSize)
			units, usable, err := s.EmptyPage(unit)
			require.NoError(t, err)
			require.True(t, usable)
			s.GiveUnits(unit, units)
			require.Empty(t, problems(s))
		}
		require.True(t, s.AllEmpty())
	})
}

func TestRunOfAllUnits(t *testing.T) {
	s := newSegment(t, heap(16))
	unit := publishRun(t, s, segment.RunCapacity(16))
	require.Equal(t, 0, unit)
	require.Equal(t, 16, s.Descriptor(0).Length())
	last := s.Memory().Payload(0, s.Memory().Load(0))
	require.Equal(t, 16*segment.UnitSize-16, len(last))
	require.Empty(t, problems(s))
}

func TestClosedPage(t *testing.T) {
	s := newSegment(t, heap(16))
	page := openPage(t, s, 3)
	before := s.Descriptor(page)
	s.ClosePage(page)
	require.Equal(t, segment.Describe(segment.Closed, 3, before.Base(), 1), s.Descriptor(page))
	_, ok := s.Locate(uint32(page), 0)
	require.False(t, ok, "slots of a closed page may not be read")
	require.True(t, s.Crawl(page, func(segment.Slot) bool { t.Fatal("a slot of a closed page"); return false }))
	_, bits := s.Claim(page)
	require.Zero(t, bits)
	_, ok = s.ClaimOne(page)
	require.False(t, ok)
	require.Empty(t, problems(s))
}

func TestEmptyPageRefusesWhatIsInUse(t *testing.T) {
	for name, w := range map[string]segment.Word{
		"value":                               segment.Header(segment.Value, 0, 0, 0, 4),
		"target":                              segment.Header(segment.Target, 0, 0, 0, 4),
		"link":                                segment.Link(0, segment.At(9, 9)),
		"retired":                             segment.Header(segment.Retired, 0, 0, 0, 4),
		"retired next to the last generation": segment.Header(segment.Retired, 0, segment.GenerationMax-1, 0, 4),
		"value of the last generation":        segment.Header(segment.Value, 0, segment.GenerationMax, 0, 4),
	} {
		t.Run(name, func(t *testing.T) {
			s := newSegment(t, heap(64))
			c := classOf(t, s.Geometry(), 16*kiB)
			page := openPage(t, s, c)
			offset := offsetOf(t, s, page, 15) // the last that is looked at
			s.Memory().Store(offset, w)
			s.ClosePage(page)
			log := observe(s)
			n, usable, err := s.EmptyPage(page)
			require.ErrorContains(t, err, "segment: I23: empty page: unit 0 slot 15 holds ")
			require.Zero(t, n)
			require.False(t, usable)
			require.Empty(t, *log, "nothing has changed")
			require.Equal(t, segment.Describe(segment.Closed, c, 0, 4), s.Descriptor(page))
		})
	}
}

// TestLastGeneration follows a slot over the end of its generations (I13).
func TestLastGeneration(t *testing.T) {
	const c, units = 1, 16
	s := newSegment(t, plan{backing: segment.Heap, units: units, describe: map[int]segment.Descriptor{
		0: emptied(segment.GenerationMax - 1),
	}})
	page := openPage(t, s, c)
	slots := int(s.Geometry().Shape(c).Slots)
	checkFresh(t, s, page, segment.GenerationMax-1)
	slot, offset := publish(t, s, page, 8)
	require.Equal(t, slots, free(t, s, page, slot))
	require.Equal(t, segment.FreeWord(segment.GenerationMax), s.Memory().Load(offset))

	// The base is the last generation: usable once more.
	reuse(t, s, page)
	require.Equal(t, emptied(segment.GenerationMax), s.Descriptor(page))
	require.Equal(t, page, openPage(t, s, c))
	checkFresh(t, s, page, segment.GenerationMax)
	slot, offset = publish(t, s, page, 8)
	require.False(t, s.IsVacant(page))
	require.Equal(t, slots-1, free(t, s, page, slot), "a worn slot is not free")
	require.Equal(t, 1, s.WornSlots(page))
	require.True(t, s.Memory().Load(offset).Is(segment.Retired), "worn: it stays retired")
	require.False(t, s.Available(page, slot))
	require.Equal(t, slots-1, s.FreeSlots(page))
	require.True(t, s.IsVacant(page))
	require.Empty(t, problems(s))

	s.ClosePage(page)
	n, usable, err := s.EmptyPage(page)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.False(t, usable)
	require.Equal(t, segment.Describe(segment.Worn, 0, segment.GenerationMax, 0), s.Descriptor(page))
	s.ReserveUnit(page)
	require.Equal(t, units-1, s.FreeUnits())
	require.True(t, s.AllEmpty())
	require.Empty(t, problems(s))
}

func TestWornPageAndRun(t *testing.T) {
	for name, run := range map[string]bool{"page": false, "run": true} {
		t.Run(name, func(t *testing.T) {
			s := newSegment(t, plan{backing: segment.Heap, describe: map[int]segment.Descriptor{
				2: emptied(segment.GenerationMax), // one unit is enough
			}})
			unit, offset := 0, 0
			if run {
				unit = publishRun(t, s, segment.RunCapacity(4))
			} else {
				unit = openPage(t, s, classOf(t, s.Geometry(), 16*kiB))
				_, offset = publish(t, s, unit, 10)
			}
			retire(s, offset)
			s.FreeSlot(unit, 0, offset)
			s.ClosePage(unit)
			n, usable, err := s.EmptyPage(unit)
			require.NoError(t, err)
			require.False(t, usable)
			require.Equal(t, 4, n)
			for u := range n {
				require.Equal(t, segment.Worn, s.Descriptor(u).Role(), "unit %d", u)
			}
			require.Empty(t, problems(s))
		})
	}
}

func TestLocate(t *testing.T) {
	s := newSegment(t, heap(16))
	_, ok := s.Locate(0, 0)
	require.False(t, ok, "an empty unit")
	page := openPage(t, s, 2)
	slots := s.Geometry().Shape(2).Slots
	for _, slot := range []uint32{0, 1, slots - 1} {
		require.Equal(t, page*segment.UnitSize+int(slot)*24, offsetOf(t, s, page, slot))
	}
	for _, at := range [][2]uint32{
		{uint32(page), slots}, {uint32(page), segment.SlotsMax - 1}, {uint32(page), 1<<32 - 1},
		{1, 0}, {15, 0}, {16, 0}, {1 << 31, 0}, {1<<32 - 1, 0},
	} {
		_, ok := s.Locate(at[0], at[1])
		require.False(t, ok, "unit %d slot %d", at[0], at[1])
	}
}
