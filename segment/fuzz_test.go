package segment_test

import (
	"encoding/binary"
	"testing"

	"github.com/bigpile/bigpile/segment"
)

// fuzzUnits is a segment with pages of one, two and four units.
const fuzzUnits = 64

// FuzzCheck writes arbitrary words into descriptors and headers. Whatever they say, no walk panics or
// leaves the region, and what Check finds sound can be read.
//
// The input is a list of commands of 10 bytes: what and where (2), and a word (8). A rest is skipped.
func FuzzCheck(f *testing.F) {
	mem := newMemory(f, segment.Heap, fuzzUnits*segment.UnitSize)
	descs := newMemory(f, segment.Heap, fuzzUnits*wordSize)
	g := geometry(f, fuzzUnits, false)
	f.Add([]byte{})
	for _, seed := range fuzzSeeds(g) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if len(input) > 2000 {
			t.Skip() // more commands say nothing new
		}
		var written []int
		for ; len(input) >= 10; input = input[10:] {
			what, w := binary.LittleEndian.Uint16(input), segment.Word(binary.LittleEndian.Uint64(input[2:]))
			if what&1 == 0 {
				descs.Store(int(what>>1)%fuzzUnits*wordSize, w)
				continue
			}
			offset := fuzzOffset(what >> 1)
			mem.Store(offset, w)
			written = append(written, offset)
		}
		defer func() { // the next input begins with zeros
			clear(descs.Bytes(0, descs.Len()))
			for _, offset := range written {
				mem.Store(offset, 0)
			}
		}()
		s, err := segment.New(mem, descs, g, 0)
		if err != nil {
			t.Fatal(err)
		}
		fuzzWalk(t, s)
		if len(problems(s)) == 0 {
			fuzzRead(t, s)
		}
	})
}

// fuzzOffset spreads places over the region: the first words of each unit, where runs have their
// lengths, and multiples of a slot size.
func fuzzOffset(n uint16) int {
	unit, i := int(n)%fuzzUnits, int(n)/fuzzUnits
	if i < 4 {
		return unit*segment.UnitSize + i*wordSize
	}
	return unit*segment.UnitSize + i*128
}

// fuzzWalk looks at everything by any way there is.
func fuzzWalk(t *testing.T, s *segment.Segment) {
	end := s.Memory().Len() - wordSize
	for unit := range s.Units() {
		s.Crawl(unit, func(sl segment.Slot) bool {
			if sl.Offset < 0 || sl.Offset > end {
				t.Fatalf("unit %d slot %d: crawled to %d", unit, sl.Index, sl.Offset)
			}
			return true
		})
	}
	for unit := range uint32(s.Units() + 1) {
		for _, slot := range []uint32{0, 1, 15, 16, 31, 32, 1000, 4095, 4096, 1<<32 - 1} {
			if offset, ok := s.Locate(unit, slot); ok && (offset < 0 || offset > end) {
				t.Fatalf("unit %d slot %d: located at %d", unit, slot, offset)
			}
		}
	}
	s.Heads(func(unit int, d segment.Descriptor) bool {
		if r := d.Role(); r != segment.Open && r != segment.Closed {
			t.Fatalf("unit %d: role %d is no head", unit, r)
		}
		return true
	})
}

// fuzzRead reads the payloads of a segment that Check found sound: each lies in its page, and pages do
// not overlap.
func fuzzRead(t *testing.T, s *segment.Segment) {
	next := 0
	s.Heads(func(unit int, d segment.Descriptor) bool {
		if unit < next {
			t.Fatalf("the page at unit %d begins within another", unit)
		}
		next = unit + d.Length()
		pageEnd := next * segment.UnitSize
		s.Crawl(unit, func(sl segment.Slot) bool {
			if !sl.Word.Is(segment.Value) && !sl.Word.Is(segment.Target) {
				return true
			}
			p := s.Memory().Payload(sl.Offset, sl.Word)
			if n := s.Memory().PayloadLen(sl.Offset, sl.Word); n != len(p) || n > s.Capacity(unit) {
				t.Fatalf("unit %d slot %d: %d bytes, %d, room for %d", unit, sl.Index, len(p), n, s.Capacity(unit))
			}
			if end := sl.Offset + wordSize + len(p); end > pageEnd {
				t.Fatalf("unit %d slot %d: ends at %d, the page at %d", unit, sl.Index, end, pageEnd)
			}
			for _, b := range p[max(0, len(p)-8):] {
				_ = b
			}
			return true
		})
		return true
	})
}

// fuzzSeeds are segments as they are, and the ways in which Check once left the region.
func fuzzSeeds(g *segment.Geometry) [][]byte {
	type command struct {
		descriptor bool
		place      uint16
		word       uint64
	}
	desc := func(unit int, r segment.Role, c segment.Class, base uint32, n int) command {
		return command{true, uint16(unit), uint64(segment.Describe(r, c, base, n))}
	}
	head := func(unit uint16, w segment.Word) command { return command{false, unit, uint64(w)} }
	small, wide := g.ClassFor(128), g.ClassFor(16*kiB)
	var seeds [][]byte
	for _, list := range [][]command{
		{desc(1, segment.Open, small, 0, 1), head(1, segment.Header(segment.Value, 0, 0, 0, 120))},
		{desc(1, segment.Open, small, 3, 1), head(1, segment.Link(2, 4096))},
		{desc(2, segment.Open, wide, 0, 4), desc(3, segment.Continuation, 0, 0, 1),
			desc(4, segment.Continuation, 0, 0, 2), desc(5, segment.Continuation, 0, 0, 3)},
		{desc(62, segment.Open, segment.ClassRun, 0, 2), desc(63, segment.Continuation, 0, 0, 1),
			head(62, segment.Header(segment.Value, segment.Large, 0, 0, 2)), head(62+fuzzUnits, 131056)},
		{desc(63, segment.Open, wide, 0, 4)},
		{desc(63, segment.Open, small+segment.ClassCount, 0, 1)},
		{desc(0, segment.Open, 255, 0, 0)},
		{desc(8, segment.Closed, segment.ClassRun, 0, 16000)},
		{desc(63, segment.Open, segment.ClassRun, 0, 1), head(63, segment.Header(segment.Value, segment.Large, 0, 0, 1)),
			head(63+fuzzUnits, 1<<32-1)},
	} {
		var seed []byte
		for _, c := range list {
			what := c.place << 1
			if !c.descriptor {
				what |= 1
			}
			seed = binary.LittleEndian.AppendUint16(seed, what)
			seed = binary.LittleEndian.AppendUint64(seed, c.word)
		}
		seeds = append(seeds, seed)
	}
	return seeds
}
