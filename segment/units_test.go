package segment_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/bigpile/bigpile/segment"
)

// unitModel is the unit map written the slow way.
type unitModel struct {
	free, committed, lost []bool
}

func newUnitModel(n int) *unitModel {
	m := &unitModel{free: make([]bool, n), committed: make([]bool, n), lost: make([]bool, n)}
	for u := range n {
		m.free[u] = true
	}
	return m
}

// fit returns the first of n adjacent free units, -1 if there are none.
func (m *unitModel) fit(n int, ready bool) int {
	run := 0
	for u := range m.free {
		if run++; !m.free[u] || ready && !m.committed[u] {
			run = 0
		}
		if run == n {
			return u - n + 1
		}
	}
	return -1
}

func (m *unitModel) set(list []bool, unit, n int, on bool) {
	for u := unit; u < unit+n; u++ {
		list[u] = on
	}
}

func (m *unitModel) counts() (free, ready, committed, lost int) {
	for u := range m.free {
		if m.free[u] {
			free++
		}
		if m.free[u] && m.committed[u] {
			ready++
		}
		if m.committed[u] {
			committed++
		}
		if m.lost[u] {
			lost++
		}
	}
	return free, ready, committed, lost
}

// uncommit returns the first run of at most steps ready units at or after from.
func (m *unitModel) uncommit(from, steps int) (unit, n int) {
	for u := from; u < len(m.free); u++ {
		for n < steps && u+n < len(m.free) && m.free[u+n] && m.committed[u+n] {
			n++
		}
		if n > 0 {
			return u, n
		}
	}
	return 0, 0
}

func TestUnitMap(t *testing.T) {
	needBacking(t, segment.Anonymous)
	for _, units := range []int{2, 63, 64, 65, 130} {
		t.Run("", func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) { runUnitModel(rt, units) })
		})
	}
}

func runUnitModel(t *rapid.T, units int) {
	mem, err := segment.NewMemory(segment.Anonymous, units*segment.UnitSize)
	require.NoError(t, err)
	defer mem.Close()
	s, err := segment.New(mem, newMemory(t, segment.Heap, units*wordSize), geometry(t, units, false), 0)
	require.NoError(t, err)
	m := newUnitModel(units)
	type stretch struct{ unit, n int }
	var held []stretch

	t.Repeat(map[string]func(*rapid.T){
		"take": func(rt *rapid.T) {
			n := rapid.SampledFrom([]int{1, 1, 1, 2, 3, 7, 64, 65}).Draw(rt, "n")
			ready := n == 1 && rapid.Bool().Draw(rt, "ready")
			want := m.fit(n, ready)
			unit, ok := s.TakeUnits(n, ready)
			require.Equal(rt, want >= 0, ok)
			if ok {
				require.Equal(rt, want, unit, "the first that fits")
				m.set(m.free, unit, n, false)
				m.set(m.committed, unit, n, true)
				held = append(held, stretch{unit, n})
			}
		},
		"give": func(rt *rapid.T) {
			if len(held) == 0 {
				rt.Skip()
			}
			i := rapid.IntRange(0, len(held)-1).Draw(rt, "i")
			s.GiveUnits(held[i].unit, held[i].n)
			m.set(m.free, held[i].unit, held[i].n, true)
			held = append(held[:i], held[i+1:]...)
		},
		"reserve a free unit": func(rt *rapid.T) {
			unit := rapid.IntRange(0, units-1).Draw(rt, "unit")
			if !m.free[unit] {
				rt.Skip()
			}
			s.ReserveUnit(unit)
			m.free[unit], m.lost[unit] = false, true
		},
		"lose a unit handed out": func(rt *rapid.T) {
			if len(held) == 0 || held[len(held)-1].n != 1 {
				rt.Skip()
			}
			s.ReserveUnit(held[len(held)-1].unit)
			m.lost[held[len(held)-1].unit] = true
			held = held[:len(held)-1]
		},
		"uncommit": func(rt *rapid.T) {
			from := rapid.IntRange(0, units-1).Draw(rt, "from")
			steps := rapid.IntRange(1, 40).Draw(rt, "steps")
			unit, n := m.uncommit(from, steps)
			next, freed, err := s.UncommitFree(from, steps)
			require.NoError(rt, err)
			if n > 0 && freed == 0 {
				require.Equal(rt, -1, next)
				rt.Skip("the system takes no pages back")
			}
			require.Equal(rt, int64(n)*segment.UnitSize, freed)
			if n == 0 {
				unit = -1
			}
			require.Equal(rt, unit+n, next)
			m.set(m.committed, max(unit, 0), n, false)
		},
		"": func(rt *rapid.T) {
			free, ready, committed, lost := m.counts()
			require.Equal(rt, []int{free, ready, committed},
				[]int{s.FreeUnits(), s.ReadyUnits(), s.CommittedUnits()}, "free, ready, committed")
			require.Equal(rt, free+lost == units, s.AllEmpty())
		},
	})
}

// TestTakenUnitsAreAdjacent: free units on both sides of a word of the unit map that has none, or none
// after the first, are no run.
func TestTakenUnitsAreAdjacent(t *testing.T) {
	for _, c := range []struct {
		name  string
		free  []int
		n     int
		first int // -1: none
	}{
		{"rest of a word between", []int{10, 64}, 2, -1},
		{"whole word between", []int{63, 128}, 2, -1},
		{"start of a word between", []int{63, 66}, 2, -1},
		{"over the end of a word", []int{10, 63, 64, 66}, 2, 63},
		{"at the end", []int{0, 1, 197, 198, 199}, 3, 197},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSegment(t, heap(200))
			take(t, s, 200)
			for _, unit := range c.free {
				s.GiveUnits(unit, 1)
			}
			unit, ok := s.TakeUnits(c.n, false)
			require.Equal(t, c.first >= 0, ok)
			if ok {
				require.Equal(t, c.first, unit)
			}
		})
	}
	s := newSegment(t, heap(200))
	take(t, s, 200)
	s.GiveUnits(61, 70)
	require.Equal(t, 61, take(t, s, 70))
}

func TestNoteFull(t *testing.T) {
	s := newSegment(t, heap(3))
	require.False(t, s.NoteFull())
	take(t, s, 2)
	require.False(t, s.NoteFull())
	take(t, s, 1)
	require.True(t, s.NoteFull())
	require.False(t, s.NoteFull(), "once is enough")
	s.GiveUnits(0, 1)
	take(t, s, 1)
	require.False(t, s.NoteFull(), "once in a life")
}

func TestUncommitFreeOnHeapDoesNothing(t *testing.T) {
	s := newSegment(t, heap(4))
	s.GiveUnits(take(t, s, 2), 2)
	next, freed, err := s.UncommitFree(0, 32)
	require.NoError(t, err)
	require.Equal(t, []int{-1, 0, 2}, []int{next, int(freed), s.ReadyUnits()})
}

func TestWornUnitsAreNotHandedOut(t *testing.T) {
	s := newSegment(t, plan{backing: segment.Heap, units: 4, describe: map[int]segment.Descriptor{
		0: segment.Describe(segment.Worn, 0, segment.GenerationMax, 0),
		2: segment.Describe(segment.Worn, 0, segment.GenerationMax, 0),
	}})
	require.Equal(t, 2, s.FreeUnits())
	require.True(t, s.AllEmpty())
	require.Equal(t, []int{1, 3}, []int{take(t, s, 1), take(t, s, 1)})
	_, ok := s.TakeUnits(1, false)
	require.False(t, ok)
	require.Empty(t, problems(s))
}

func TestRelease(t *testing.T) {
	forBackings(t, func(t *testing.T, b segment.Backing) {
		s := newSegment(t, plan{backing: b})
		page := openPage(t, s, 1)
		require.EqualError(t, s.Release(), "segment: release: unit 0 is in use")
		s.ClosePage(page)
		require.EqualError(t, s.Release(), "segment: release: unit 0 is in use", "closed is not empty")
		_, _, err := s.EmptyPage(page)
		require.NoError(t, err)
		require.NoError(t, s.Release())
		require.Zero(t, s.Memory().Len())
	})
}

// TestGenerationsOutliveSegments: descriptors are kept when the memory goes (I12), so a slot of the
// next segment there has a later generation.
func TestGenerationsOutliveSegments(t *testing.T) {
	descs := newMemory(t, segment.Heap, 16*wordSize)
	g := geometry(t, 16, false)
	for life := range uint32(3) {
		s, err := segment.New(newMemory(t, segment.Heap, 16*segment.UnitSize), descs, g, 0)
		require.NoError(t, err)
		page := openPage(t, s, 1)
		require.Equal(t, life, wordOf(t, s, page, 3).Generation())
		slot, _ := publish(t, s, page, 8)
		free(t, s, page, slot)
		reuse(t, s, page)
		require.NoError(t, s.Release())
	}
}
