package segment_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bigpile/bigpile/segment"
)

// sound is a segment with one of everything, and where it stands.
type sound struct {
	*segment.Segment
	page  int // of 64 B slots: 0 value, 1 link, 2 target, 3 retired, 4 claimed, 5 free with a later generation
	wide  int // of 16 KiB slots, 4 units
	run   int // 3 units
	empty int // a unit that nobody uses; the next ones neither
}

func newSound(t tb, p plan) sound {
	s := newSegment(t, p)
	o := sound{Segment: s, page: openPage(t, s, classOf(t, s.Geometry(), 64))}
	m := s.Memory()
	for range 4 {
		publish(t, s, o.page, 20)
	}
	at := func(slot uint32) int { return offsetOf(t, s, o.page, slot) }
	m.Store(at(1), segment.Link(m.Load(at(1)).Generation(), segment.At(s.First()+uint32(o.page), 2)))
	m.Store(at(2), m.Load(at(2)).WithState(segment.Target))
	m.Store(at(3), m.Load(at(3)).WithState(segment.Retired))
	_, ok := s.ClaimOne(o.page)
	require.True(t, ok)
	publish(t, s, o.page, 56)
	free(t, s, o.page, 5)
	o.wide = openPage(t, s, classOf(t, s.Geometry(), 16*kiB))
	publish(t, s, o.wide, 16*kiB-wordSize)
	o.run = publishRun(t, s, 2*segment.UnitSize)
	closed := openPage(t, s, 9)
	s.ClosePage(closed)
	o.empty = closed + 1
	return o
}

func (o sound) describe(unit int, d segment.Descriptor) {
	o.Descriptors().Store(unit*wordSize, segment.Word(d))
}

func (o sound) store(page int, slot uint32, w segment.Word) {
	size := int(o.Geometry().Shape(o.Descriptor(page).Class()).SlotSize)
	o.Memory().Store(page*segment.UnitSize+int(slot)*size, w)
}

func TestCheckOfSoundSegments(t *testing.T) {
	forBackings(t, func(t *testing.T, b segment.Backing) {
		for _, checksums := range []bool{false, true} {
			p := plan{backing: b, checksums: checksums, first: 128}
			require.Empty(t, problems(newSegment(t, p)), "an empty segment")
			require.Empty(t, problems(newSound(t, p).Segment))
			p.describe = map[int]segment.Descriptor{}
			for u := range 64 {
				p.describe[u] = emptied(uint32(u * 1000))
			}
			require.Empty(t, problems(newSound(t, p).Segment), "with a past")
		}
	})
}

// TestCheckFindsFaults breaks exactly one thing at a time and expects exactly its number.
func TestCheckFindsFaults(t *testing.T) {
	type fault struct {
		rule, name string
		plant      func(o sound)
	}
	for _, f := range []fault{
		{"I2", "continuation of an empty unit", func(o sound) {
			o.describe(o.empty+1, segment.Describe(segment.Continuation, 0, 0, 1))
		}},
		{"I2", "continuation of what ends before it", func(o sound) {
			o.describe(o.run+3, segment.Describe(segment.Continuation, 0, 0, 3))
		}},
		{"I2", "continuation of a unit before the segment", func(o sound) {
			o.describe(o.empty, segment.Describe(segment.Continuation, 0, 0, 16000))
		}},
		{"I2", "page that counts too many units", func(o sound) {
			o.describe(o.page, segment.Describe(segment.Open, o.Descriptor(o.page).Class(), 0, 2))
		}},
		{"I2", "page that counts no units", func(o sound) {
			o.describe(o.page, segment.Describe(segment.Open, o.Descriptor(o.page).Class(), 0, 0))
		}},
		{"I2", "run over the end of the segment", func(o sound) {
			o.describe(63, segment.Describe(segment.Open, segment.ClassRun, 0, 2))
		}},
		{"I2", "page over the end of the segment", func(o sound) {
			o.describe(63, segment.Describe(segment.Open, o.Descriptor(o.wide).Class(), 0, 4))
		}},
		{"I2", "run of no units", func(o sound) {
			o.describe(o.empty, segment.Describe(segment.Open, segment.ClassRun, 0, 0))
		}},
		{"I2", "hole in a page", func(o sound) { o.describe(o.wide+2, 0) }},
		{"I2", "page within a page", func(o sound) {
			o.describe(o.wide+2, segment.Describe(segment.Open, 1, 0, 1))
		}},
		{"I2", "worn unit within a run", func(o sound) {
			o.describe(o.run+1, segment.Describe(segment.Worn, 0, segment.GenerationMax, 0))
		}},
		{"I2", "wrong distance to the head", func(o sound) {
			o.describe(o.wide+2, segment.Describe(segment.Continuation, 0, 0, 1))
		}},
		{"I2", "page within a closed page", func(o sound) {
			o.describe(o.wide, segment.Describe(segment.Closed, o.Descriptor(o.wide).Class(), 0, 4))
			o.describe(o.wide+2, segment.Describe(segment.Open, 1, 0, 1))
		}},
		{"I2", "role that does not exist", func(o sound) { o.describe(o.empty, segment.Describe(5, 0, 0, 0)) }},
		{"I2", "the last role that does not exist", func(o sound) { o.describe(o.empty, segment.Describe(7, 1, 0, 1)) }},

		{"I4", "page of class 0", func(o sound) { o.describe(o.empty, segment.Describe(segment.Open, 0, 0, 1)) }},
		{"I4", "page of a class above the last", func(o sound) {
			o.describe(o.empty, segment.Describe(segment.Open, segment.ClassMax+1, 0, 1))
		}},
		{"I4", "page of a class that this geometry does not use", func(o sound) {
			o.describe(o.empty, segment.Describe(segment.Open, segment.ClassMax, 0, 4))
		}},
		{"I4", "page of a class that no table has", func(o sound) {
			o.describe(o.empty, segment.Describe(segment.Open, segment.ClassCount+1, 0, 1))
		}},
		{"I4", "closed page of class 0", func(o sound) { o.describe(o.empty, segment.Describe(segment.Closed, 0, 0, 1)) }},

		{"I5", "flag large in a page", func(o sound) {
			o.store(o.page, 0, segment.Header(segment.Value, segment.Large, 0, 0, 1))
		}},
		{"I5", "flag large missing in a run", func(o sound) {
			o.store(o.run, 0, segment.Header(segment.Value, 0, 0, 0, 3))
		}},
		{"I5", "header of a run counts other units", func(o sound) {
			o.store(o.run, 0, segment.Header(segment.Target, segment.Large, 0, 0, 2))
		}},
		{"I5", "length of a run over its units", func(o sound) {
			o.Memory().SetRunLength(o.run*segment.UnitSize, segment.RunCapacity(3)+1)
		}},
		{"I5", "length of a run of 4 GiB", func(o sound) { o.Memory().SetRunLength(o.run*segment.UnitSize, -1) }},

		{"I9", "value longer than its slot", func(o sound) {
			o.store(o.page, 0, segment.Header(segment.Value, 0, 0, 0, 57))
		}},
		{"I9", "target longer than its slot", func(o sound) {
			o.store(o.page, 2, segment.Header(segment.Target, 0, 0, 0, segment.LengthMax))
		}},

		{"I11", "value below the base", func(o sound) { o.raiseBase(o.run, 1) }},
		{"I11", "free slot, value, link, target, retired slot below the base", func(o sound) { o.raiseBase(o.page, 2) }},

		{"I26", "available but a value", func(o sound) {
			o.store(o.page, 60, segment.Header(segment.Value, 0, 0, 0, 1))
		}},
		{"I26", "available but a link", func(o sound) { o.store(o.page, 60, segment.Link(0, segment.At(1, 2))) }},
		{"I26", "available but retired", func(o sound) {
			o.store(o.page, 60, segment.Header(segment.Retired, 0, 0, 0, 1))
		}},
		{"I26", "more free slots counted than there are", func(o sound) { o.Unclaim(o.page, 0, 1<<60) }},
		{"I26", "value given back to the free map", func(o sound) { o.Unclaim(o.page, 0, 1) }},
	} {
		t.Run(f.rule+" "+f.name, func(t *testing.T) {
			o := newSound(t, plan{backing: segment.Heap})
			require.Empty(t, problems(o.Segment))
			f.plant(o)
			require.Equal(t, []string{f.rule}, rules(t, o.Segment), "%q", problems(o.Segment))
		})
	}
}

func (o sound) raiseBase(unit int, base uint32) {
	d := o.Descriptor(unit)
	o.describe(unit, segment.Describe(d.Role(), d.Class(), base, d.Length()))
}

// TestCheckNamesThePlace: units are numbered over the pile, not within the segment.
func TestCheckNamesThePlace(t *testing.T) {
	o := newSound(t, plan{backing: segment.Heap, first: 4096})
	o.store(o.page, 2, segment.Header(segment.Value, 0, 0, 0, 57))
	o.describe(o.empty, segment.Describe(segment.Continuation, 0, 0, 1))
	require.Equal(t, []string{
		"I9: page 4096 slot 2: length 57 in a slot for 56 (word 0x2000000000000039)",
		"I2: unit 4105 continues unit 4104, whose page ends before it",
	}, problems(o.Segment))
}

// TestCheckReportsEverything: one fault does not hide the others.
func TestCheckReportsEverything(t *testing.T) {
	o := newSound(t, plan{backing: segment.Heap})
	o.describe(o.empty, segment.Describe(segment.Continuation, 0, 0, 1))
	o.describe(o.empty+1, segment.Describe(segment.Open, 0, 0, 1))
	o.store(o.page, 60, segment.Header(segment.Value, 0, 0, 0, 1))
	o.store(o.run, 0, segment.Header(segment.Value, 0, 0, 0, 3))
	o.store(o.wide, 0, segment.Header(segment.Value, 0, 0, 0, 100_000))
	o.raiseBase(o.wide, 1)
	require.Equal(t, []string{"I11", "I2", "I26", "I4", "I5", "I9"}, rules(t, o.Segment))
}

func TestCrawl(t *testing.T) {
	forBackings(t, func(t *testing.T, b segment.Backing) {
		o := newSound(t, plan{backing: b})
		size := 64
		next := uint32(0)
		require.True(t, o.Crawl(o.page, func(sl segment.Slot) bool {
			require.Equal(t, segment.Slot{
				Unit: o.page, Index: next, Offset: o.page*segment.UnitSize + int(next)*size,
				Word: o.Memory().Load(o.page*segment.UnitSize + int(next)*size),
			}, sl)
			next++
			return true
		}))
		require.Equal(t, o.Geometry().Shape(o.Descriptor(o.page).Class()).Slots, next)

		n := 0
		require.False(t, o.Crawl(o.wide, func(segment.Slot) bool { n++; return n < 3 }), "it was told to stop")
		require.Equal(t, 3, n)
		n = 0
		require.True(t, o.Crawl(o.run, func(sl segment.Slot) bool {
			require.Equal(t, o.run*segment.UnitSize, sl.Offset)
			n++
			return true
		}))
		require.Equal(t, 1, n)
		for _, unit := range []int{o.empty, o.wide + 1, o.empty - 1} {
			require.True(t, o.Crawl(unit, func(segment.Slot) bool { t.Fatal("not an open page"); return false }))
		}
	})
}

func TestHeads(t *testing.T) {
	o := newSound(t, plan{backing: segment.Heap})
	var units []int
	var roles []segment.Role
	o.Heads(func(unit int, d segment.Descriptor) bool {
		units, roles = append(units, unit), append(roles, d.Role())
		return true
	})
	require.Equal(t, []int{o.page, o.wide, o.run, o.empty - 1}, units)
	require.Equal(t, []segment.Role{segment.Open, segment.Open, segment.Open, segment.Closed}, roles)
	n := 0
	o.Heads(func(int, segment.Descriptor) bool { n++; return n < 2 })
	require.Equal(t, 2, n)
}
