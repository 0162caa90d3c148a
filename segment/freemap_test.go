package segment_test

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/bigpile/bigpile/segment"
)

// slotSizes are classes whose pages have 2, 32, 63, 64, 585 and 4096 slots of a 1 MiB segment: fewer
// than a word of the free map, a whole word, and not a multiple of it.
var slotSizes = []int{32 * kiB, 2 * kiB, 1 * kiB, 112, 16}

func forSlotCounts(t *testing.T, test func(t *testing.T, s *segment.Segment, page, slots int)) {
	for _, checksums := range []bool{false, true} {
		for _, size := range slotSizes {
			s := newSegment(t, plan{backing: segment.Heap, units: 16, checksums: checksums})
			c := s.Geometry().ClassFor(size)
			if c == segment.ClassRun {
				continue // with checksums two do not fit
			}
			slots := int(s.Geometry().Shape(c).Slots)
			t.Run(fmt.Sprintf("%d slots", slots), func(t *testing.T) { test(t, s, openPage(t, s, c), slots) })
		}
	}
}

func TestFreeMapModel(t *testing.T) {
	forSlotCounts(t, func(t *testing.T, s *segment.Segment, page, slots int) {
		rapid.Check(t, func(rt *rapid.T) {
			m := newFreeModel(rt, s, page, slots)
			rt.Repeat(map[string]func(*rapid.T){
				"claim":     m.claim,
				"claim one": m.claimOne,
				"unclaim":   m.unclaim,
				"publish":   m.publish,
				"free":      m.free,
				"":          m.check,
			})
			require.Empty(rt, problems(s))
		})
	})
}

// freeModel knows of every slot whether it is free, claimed or published, and its generation.
type freeModel struct {
	s          *segment.Segment
	page       int
	slots      int
	isFree     map[uint32]bool
	claimed    []uint32
	published  []uint32
	generation []uint32
}

// newFreeModel begins with a page that was just opened, so that what one run of the model did, the
// next starts from.
func newFreeModel(t tb, s *segment.Segment, page, slots int) *freeModel {
	c := s.Descriptor(page).Class()
	for slot := range uint32(slots) {
		offset := offsetOf(t, s, page, slot)
		if g := s.Memory().Load(offset).Generation(); !s.Memory().Load(offset).Is(segment.Free) {
			s.Memory().Store(offset, segment.FreeWord(g+1))
		}
	}
	s.ClosePage(page)
	_, _, err := s.EmptyPage(page)
	require.NoError(t, err)
	s.OpenPage(page, c)
	m := &freeModel{s: s, page: page, slots: slots, isFree: map[uint32]bool{}, generation: make([]uint32, slots)}
	for slot := range uint32(slots) {
		m.isFree[slot] = true
		m.generation[slot] = s.Descriptor(page).Base()
	}
	return m
}

func (m *freeModel) take(rt *rapid.T, slot uint32) {
	require.True(rt, m.isFree[slot], "slot %d was taken although it is not free", slot)
	delete(m.isFree, slot)
	m.claimed = append(m.claimed, slot)
}

func (m *freeModel) claim(rt *rapid.T) {
	first, taken := m.s.Claim(m.page)
	require.Equal(rt, len(m.isFree) > 0, taken != 0)
	require.Zero(rt, first%64)
	for slot := first; slot < first+64; slot++ {
		bit := taken&(1<<(slot-first)) != 0
		if want := taken != 0 && m.isFree[slot]; want != bit {
			rt.Fatalf("slot %d: free %t, taken %t: a claim is all that is free in a word", slot, want, bit)
		}
		if bit {
			m.take(rt, slot)
		}
	}
}

func (m *freeModel) claimOne(rt *rapid.T) {
	slot, ok := m.s.ClaimOne(m.page)
	require.Equal(rt, len(m.isFree) > 0, ok)
	if ok {
		m.take(rt, slot)
	}
}

// draw removes one of the slots, whichever the test wants.
func draw(rt *rapid.T, list *[]uint32) uint32 {
	if len(*list) == 0 {
		rt.Skip()
	}
	i := rapid.IntRange(0, len(*list)-1).Draw(rt, "i")
	slot := (*list)[i]
	(*list)[i] = (*list)[len(*list)-1]
	*list = (*list)[:len(*list)-1]
	return slot
}

func (m *freeModel) unclaim(rt *rapid.T) {
	first := draw(rt, &m.claimed)
	word := uint64(1) << (first % 64)
	rest := m.claimed[:0]
	for _, slot := range m.claimed { // with all that were claimed of the same word
		if slot/64 == first/64 {
			word |= 1 << (slot % 64)
		} else {
			rest = append(rest, slot)
		}
	}
	m.claimed = rest
	for b := word; b != 0; b &= b - 1 {
		m.isFree[first&^63+uint32(bits.TrailingZeros64(b))] = true
	}
	require.Equal(rt, len(m.isFree), m.s.Unclaim(m.page, first&^63, word))
}

func (m *freeModel) publish(rt *rapid.T) {
	slot := draw(rt, &m.claimed)
	offset := offsetOf(rt, m.s, m.page, slot)
	w := m.s.Memory().Load(offset)
	require.Equal(rt, segment.FreeWord(m.generation[slot]), w)
	m.s.Memory().Store(offset, segment.Header(segment.Value, 0, w.Generation(), 0, 1))
	m.published = append(m.published, slot)
}

func (m *freeModel) free(rt *rapid.T) {
	slot := draw(rt, &m.published)
	m.isFree[slot] = true
	require.Equal(rt, len(m.isFree), free(rt, m.s, m.page, slot))
	m.generation[slot]++
	require.Equal(rt, segment.FreeWord(m.generation[slot]), wordOf(rt, m.s, m.page, slot), "I10")
}

func (m *freeModel) check(rt *rapid.T) {
	require.Equal(rt, len(m.isFree), m.s.FreeSlots(m.page))
	require.Equal(rt, len(m.isFree) == m.slots, m.s.IsVacant(m.page))
	step := max(1, m.slots/50) // of a large page, a sample
	for slot := 0; slot < m.slots; slot += step {
		if m.isFree[uint32(slot)] != m.s.Available(m.page, uint32(slot)) {
			rt.Fatalf("slot %d: free %t, available %t", slot, m.isFree[uint32(slot)], m.s.Available(m.page, uint32(slot)))
		}
	}
	if m.slots <= 64 {
		require.Empty(rt, problems(m.s))
	}
}

// storeFunc is an observer.
type storeFunc func(offset int, w uint64)

func (f storeFunc) Stored(offset int, w uint64) { f(offset, w) }

// TestFreeSlotIsFreeBeforeItIsAvailable: who takes a slot finds its header free (I26). The observer
// looks at the moment of the store.
func TestFreeSlotIsFreeBeforeItIsAvailable(t *testing.T) {
	s := newSegment(t, heap(16))
	page := openPage(t, s, 1)
	slot, offset := publish(t, s, page, 4)
	retire(s, offset)
	seen := 0
	s.Memory().Observe(storeFunc(func(at int, w uint64) {
		seen++
		require.Equal(t, []any{offset, segment.FreeWord(1)}, []any{at, segment.Word(w)})
		require.False(t, s.Available(page, slot), "the slot may be taken already")
	}))
	s.FreeSlot(page, slot, offset)
	require.Equal(t, 1, seen)
	require.True(t, s.Available(page, slot))
}

// occupy publishes values in k slots that are spread over the page, and returns which.
func occupy(t *testing.T, s *segment.Segment, page, slots, k int) map[uint32]bool {
	live := map[uint32]bool{}
	var spare []uint32
	for i := range slots {
		slot, _ := publish(t, s, page, 1)
		if (i+1)*k/slots > i*k/slots {
			live[slot] = true
		} else {
			spare = append(spare, slot)
		}
	}
	for _, slot := range spare {
		free(t, s, page, slot)
	}
	require.Len(t, live, k)
	return live
}

// TestRoundRobin is I28: with k of n slots live, each of the n-k others is used once before one of
// them is used twice, although every slot is free again at once.
func TestRoundRobin(t *testing.T) {
	forSlotCounts(t, func(t *testing.T, s *segment.Segment, page, slots int) {
		for _, k := range []int{0, 1, slots / 3, slots / 2, slots - 1} {
			live := occupy(t, s, page, slots, k)
			for round := range 3 {
				seen := map[uint32]bool{}
				for range slots - k {
					slot, _ := publish(t, s, page, 1)
					require.False(t, live[slot])
					require.False(t, seen[slot], "round %d with %d live: slot %d comes again after %d", round, k, slot, len(seen))
					seen[slot] = true
					free(t, s, page, slot)
				}
			}
			for slot := range live {
				free(t, s, page, slot)
			}
		}
	})
}

// TestRoundRobinByWords is the same for claims of whole words: no word comes again before the last.
func TestRoundRobinByWords(t *testing.T) {
	forSlotCounts(t, func(t *testing.T, s *segment.Segment, page, slots int) {
		words := (slots + 63) / 64
		for range 3 {
			seen := map[uint32]bool{}
			n := 0
			for range words {
				first, taken := s.Claim(page)
				require.False(t, seen[first], "word of slot %d comes again after %d of %d", first, len(seen), words)
				seen[first] = true
				n += bits.OnesCount64(taken)
				s.Unclaim(page, first, taken)
			}
			require.Equal(t, slots, n, "all slots, and none beyond the last")
		}
	})
}

// TestGenerationsAdvanceTogether is what I28 is for.
func TestGenerationsAdvanceTogether(t *testing.T) {
	forSlotCounts(t, func(t *testing.T, s *segment.Segment, page, slots int) {
		for range slots*5 + slots/2 {
			slot, _ := publish(t, s, page, 1)
			free(t, s, page, slot)
		}
		low, high := uint32(segment.GenerationMax), uint32(0)
		s.Crawl(page, func(sl segment.Slot) bool {
			low, high = min(low, sl.Word.Generation()), max(high, sl.Word.Generation())
			return true
		})
		require.Equal(t, []uint32{5, 6}, []uint32{low, high})
	})
}
