package segment

import (
	"math/bits"
	"sync/atomic"
)

// The free map of a page has a bit a slot, set while the slot is free for the taking. It lives on
// the Go heap: after a crash it is rebuilt from the headers, and a bitmap is right whatever was
// torn, where a list threaded through the slots would not be.

func (s *Segment) freeMap(unit int) []atomic.Uint64 {
	return s.free[unit*mapWords : (unit+1)*mapWords]
}

// Claim takes all free slots of one word of the free map, the next that has any, so that the slots
// of a page are used in turn (I28). The caller owns the page. It returns the first slot of the word
// and a bit for each slot taken; no bits when the page has no free slot.
func (s *Segment) Claim(unit int) (first uint32, taken uint64) {
	p := &s.pages[unit]
	words := s.freeMap(unit)
	n := (s.slots(unit) + 63) / 64
	for range n {
		i := p.cursor / 64
		if p.cursor = (i + 1) * 64; i+1 >= n {
			p.cursor = 0
		}
		if words[i].Load() == 0 {
			continue
		}
		if taken = words[i].Swap(0); taken != 0 {
			p.freeSlots.Add(-int32(bits.OnesCount64(taken)))
			return i * 64, taken
		}
	}
	return 0, 0
}

// ClaimOne takes the next free slot of the page (I28). The caller owns the page or has excluded
// others from taking.
func (s *Segment) ClaimOne(unit int) (slot uint32, ok bool) {
	p := &s.pages[unit]
	words := s.freeMap(unit)
	n := (s.slots(unit) + 63) / 64
	for range n + 1 { // the word of the cursor twice: its end first, its start last
		i := p.cursor / 64
		w := words[i].Load() &^ (1<<(p.cursor%64) - 1)
		if w == 0 {
			if p.cursor = (i + 1) * 64; i+1 >= n {
				p.cursor = 0
			}
			continue
		}
		bit := w & -w
		words[i].And(^bit)
		p.freeSlots.Add(-1)
		slot = i*64 + uint32(bits.TrailingZeros64(bit))
		if p.cursor = slot + 1; p.cursor >= n*64 {
			p.cursor = 0
		}
		return slot, true
	}
	return 0, false
}

func (s *Segment) slots(unit int) uint32 {
	return s.geo.Shape(s.Descriptor(unit).Class()).Slots
}

// Unclaim gives slots of a claim back and returns how many slots of the page are free now.
func (s *Segment) Unclaim(unit int, first uint32, slots uint64) int {
	s.freeMap(unit)[first/64].Or(slots)
	return int(s.pages[unit].freeSlots.Add(int32(bits.OnesCount64(slots))))
}

// FreeSlot makes a retired slot free with the next generation (I10) and returns how many slots of
// the page are free now; while others claim it may count less. A slot whose generations are used up
// stays retired, and is worn (I13).
func (s *Segment) FreeSlot(unit int, slot uint32, offset int) int {
	p := &s.pages[unit]
	g := s.mem.Load(offset).Generation() + 1
	if g > GenerationMax {
		p.wornSlots.Add(1)
		return int(p.freeSlots.Load())
	}
	s.mem.Store(offset, FreeWord(g))
	s.freeMap(unit)[slot/64].Or(1 << (slot % 64))
	return int(p.freeSlots.Add(1))
}

// FreeSlots returns the free slots of the page, claimed ones not counted.
func (s *Segment) FreeSlots(unit int) int { return int(s.pages[unit].freeSlots.Load()) }

// WornSlots returns the slots of the page whose generations are used up.
func (s *Segment) WornSlots(unit int) int { return int(s.pages[unit].wornSlots.Load()) }

// IsVacant reports whether every slot of the page is free or worn, and none claimed.
func (s *Segment) IsVacant(unit int) bool {
	p := &s.pages[unit]
	return p.freeSlots.Load()+p.wornSlots.Load() == int32(s.slots(unit))
}

// Available reports whether the bit of the slot is set in the free map.
func (s *Segment) Available(unit int, slot uint32) bool {
	return s.freeMap(unit)[slot/64].Load()&(1<<(slot%64)) != 0
}
