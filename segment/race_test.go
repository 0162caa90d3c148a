package segment_test

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bigpile/bigpile/segment"
)

// TestFreeWhileClaiming: one owner claims slots of a page and publishes values, others free them. No
// slot may have two owners, and what is free at the end is what was not kept. Payloads are read and
// written without atomics, so the race detector sees a slot that is handed out too early.
func TestFreeWhileClaiming(t *testing.T) {
	for _, g := range []int{1, runtime.GOMAXPROCS(0), 100} {
		for _, size := range []int{112, 1024, 8 * kiB} {
			t.Run(fmt.Sprintf("%d goroutines/%d bytes", g, size), func(t *testing.T) { freeWhileClaiming(t, g, size) })
		}
	}
}

func freeWhileClaiming(t *testing.T, goroutines, size int) {
	const puts = 10_000
	s := newSegment(t, heap(16))
	page := openPage(t, s, classOf(t, s.Geometry(), size))
	slots := int(s.Geometry().Shape(s.Descriptor(page).Class()).Slots)
	m := s.Memory()
	owner := make([]atomic.Uint32, slots) // how often each slot was claimed and not freed: 0 or 1
	published := make(chan uint32, slots/2)
	var wg sync.WaitGroup
	var wrong atomic.Pointer[string]
	fail := func(format string, args ...any) { wrong.Store(new(fmt.Sprintf(format, args...))) }
	for range goroutines {
		wg.Go(func() {
			for slot := range published {
				offset := page*segment.UnitSize + int(slot)*size
				w := m.Load(offset)
				got := binary.LittleEndian.Uint64(m.Payload(offset, w))
				if want := uint64(slot)<<32 | uint64(w.Generation()); got != want {
					fail("slot %d holds %#x, expected %#x", slot, got, want)
				}
				if !m.CompareAndSwap(offset, w, w.WithState(segment.Retired)) {
					fail("slot %d changed while it was ours", slot)
				}
				owner[slot].Add(^uint32(0))
				if n := s.FreeSlot(page, slot, offset); n > slots { // less while a claim is under way
					fail("%d slots free of %d", n, slots)
				}
			}
		})
	}
	put := func(slot uint32) {
		if owner[slot].Add(1) != 1 {
			fail("slot %d has two owners", slot)
		}
		offset := page*segment.UnitSize + int(slot)*size
		w := m.Load(offset)
		if !w.Is(segment.Free) {
			fail("I26: slot %d was claimed but holds %#x", slot, uint64(w))
		}
		g := w.Generation()
		binary.LittleEndian.PutUint64(m.Room(offset, 8, false), uint64(slot)<<32|uint64(g))
		m.Store(offset, segment.Header(segment.Value, 0, g, 0, 8))
		published <- slot
	}
	for n := 0; n < puts && wrong.Load() == nil; {
		if n%3 == 0 {
			if slot, ok := s.ClaimOne(page); ok {
				put(slot)
				n++
				continue
			}
		}
		first, taken := s.Claim(page)
		if n%5 == 0 && taken != 0 { // give the upper half back
			half := taken &^ (1<<32 - 1)
			s.Unclaim(page, first, half)
			taken &^= half
			n++
		}
		if taken == 0 {
			runtime.Gosched()
		}
		for ; taken != 0; taken &= taken - 1 {
			put(first + uint32(bits.TrailingZeros64(taken)))
			n++
		}
	}
	close(published)
	wg.Wait()
	if w := wrong.Load(); w != nil {
		t.Fatal(*w)
	}
	require.Equal(t, slots, s.FreeSlots(page))
	require.True(t, s.IsVacant(page))
	require.Empty(t, problems(s))
	require.Equal(t, 1, reuse(t, s, page)/int(s.Geometry().Shape(classOf(t, s.Geometry(), size)).Units))
}

// TestReadersAtClassChange: readers that look up slots meet a page that changes class all the time.
// They see it open with headers that are free and of a generation not before the last one, or not at
// all. What keeps a reader out of the formatting is a grace period, which here is a lock.
func TestReadersAtClassChange(t *testing.T) {
	s := newSegment(t, heap(16))
	var grace sync.RWMutex // held by readers as long as they may use what they located
	var stop atomic.Bool
	var wrong atomic.Pointer[string]
	var wg sync.WaitGroup
	for r := range 3 {
		wg.Go(func() {
			last := uint32(0)
			for i := uint32(r); !stop.Load(); i += 7 {
				grace.RLock()
				if offset, ok := s.Locate(0, i%32); ok {
					w := s.Memory().Load(offset)
					if !w.Is(segment.Free) && !w.Is(segment.Value) && !w.Is(segment.Retired) || w.Generation() < last {
						wrong.Store(new(fmt.Sprintf("slot %d holds %#x after generation %d", i%32, uint64(w), last)))
					}
					last = max(last, s.Descriptor(0).Base())
				}
				grace.RUnlock()
			}
		})
	}
	for i := range 300 {
		page := openPage(t, s, classOf(t, s.Geometry(), []int{1024, 1280, 2048}[i%3]))
		slot, _ := publish(t, s, page, 1000)
		free(t, s, page, slot)
		s.ClosePage(page)
		grace.Lock() // those inside have left
		role := s.Descriptor(page).Role()
		grace.Unlock()
		require.Equal(t, segment.Closed, role)
		_, _, err := s.EmptyPage(page)
		require.NoError(t, err)
		s.GiveUnits(page, 1)
	}
	stop.Store(true)
	wg.Wait()
	if w := wrong.Load(); w != nil {
		t.Fatal(*w)
	}
}
