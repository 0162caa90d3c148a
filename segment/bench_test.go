package segment_test

import (
	"math/bits"
	"testing"

	"github.com/bigpile/bigpile/segment"
)

func BenchmarkClassFor(b *testing.B) {
	var sum segment.Class
	n := 1
	for b.Loop() {
		sum += segment.ClassFor(n)
		n = n*5%slotSizeMax + 1
	}
	_ = sum
}

// BenchmarkOpenPage changes the class of a page that was used: all headers are written.
func BenchmarkOpenPage(b *testing.B) {
	for name, size := range map[string]int{"40B": 40, "1KiB": 1024} {
		b.Run(name, func(b *testing.B) {
			s := newSegment(b, plan{backing: segment.Heap, units: 16, describe: map[int]segment.Descriptor{0: emptied(1)}})
			c := s.Geometry().ClassFor(size)
			for b.Loop() {
				s.OpenPage(0, c)
			}
		})
	}
}

func BenchmarkOpenPageVirgin(b *testing.B) {
	s := newSegment(b, heap(16))
	c := s.Geometry().ClassFor(40)
	for b.Loop() {
		s.OpenPage(0, c)
		s.ClosePage(0)
		if _, _, err := s.EmptyPage(0); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkClaimAndFree takes 64 slots, publishes a value in each and frees it; the figure is for one.
func BenchmarkClaimAndFree(b *testing.B) {
	s := newSegment(b, heap(16))
	m := s.Memory()
	page := openPage(b, s, s.Geometry().ClassFor(40))
	var first uint32
	var taken uint64
	for b.Loop() {
		if taken == 0 {
			first, taken = s.Claim(page)
		}
		slot := first + uint32(bits.TrailingZeros64(taken))
		taken &= taken - 1
		offset := page*segment.UnitSize + int(slot)*40
		m.Store(offset, segment.Header(segment.Retired, 0, m.Load(offset).Generation()&0xffff, 0, 32))
		s.FreeSlot(page, slot, offset)
	}
}

func BenchmarkClaimOneAndFree(b *testing.B) {
	s := newSegment(b, heap(16))
	m := s.Memory()
	page := openPage(b, s, s.Geometry().ClassFor(40))
	for b.Loop() {
		slot, _ := s.ClaimOne(page)
		offset := page*segment.UnitSize + int(slot)*40
		m.Store(offset, segment.Header(segment.Retired, 0, m.Load(offset).Generation()&0xffff, 0, 32))
		s.FreeSlot(page, slot, offset)
	}
}

func BenchmarkLocate(b *testing.B) {
	s := newSegment(b, heap(16))
	page := uint32(openPage(b, s, s.Geometry().ClassFor(40)))
	sum, slot := 0, uint32(0)
	for b.Loop() {
		offset, _ := s.Locate(page, slot)
		sum += offset
		slot = (slot*5 + 1) & 1023
	}
	_ = sum
}

func BenchmarkCheck(b *testing.B) {
	s := newSegment(b, heap(16))
	page := openPage(b, s, s.Geometry().ClassFor(40))
	for range 1000 {
		publish(b, s, page, 32)
	}
	for b.Loop() {
		s.Check(func(err error) { b.Fatal(err) })
	}
}
