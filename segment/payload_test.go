package segment_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/bigpile/bigpile/segment"
)

// TestSum pins the function, which is part of the layout: CRC-32C with a seed of owner and generation.
func TestSum(t *testing.T) {
	check := []byte("123456789")
	require.Equal(t, uint32(0xe3069283), segment.Sum(0, 0, check), "the check value of CRC-32C")
	require.Zero(t, segment.Sum(0, 0, nil))
	require.Equal(t, uint32(0xaedb1e44), segment.Sum(segment.At(0xabcdef, 0x123), 0x456789, check))
	require.Equal(t, uint32(0xfa53e0a8), segment.Sum(segment.At(1, 0), 0, nil))
}

// TestSumIsSeeded: the payload of another slot, or of another value in the same, does not verify.
func TestSumIsSeeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		owner, g := genLocation.Draw(t, "owner"), genGeneration.Draw(t, "generation")
		payload := rapid.SliceOf(rapid.Byte()).Draw(t, "payload")
		sum := segment.Sum(owner, g, payload)
		require.Equal(t, sum, segment.Sum(owner, g, payload))
		bit := rapid.IntRange(0, segment.LocationBits-1).Draw(t, "bit of the owner")
		require.NotEqual(t, sum, segment.Sum(owner^1<<bit, g, payload))
		bit = rapid.IntRange(0, segment.GenerationBits-1).Draw(t, "bit of the generation")
		require.NotEqual(t, sum, segment.Sum(owner, g^1<<bit, payload))
		if len(payload) > 0 {
			bit = rapid.IntRange(0, len(payload)*8-1).Draw(t, "bit of the payload")
			payload[bit/8] ^= 1 << (bit % 8)
			require.NotEqual(t, sum, segment.Sum(owner, g, payload))
		}
	})
}

// TestSumOfNeighbours: slots of one page in near generations are what gets mixed up. All their seeds
// differ, for an empty payload too.
func TestSumOfNeighbours(t *testing.T) {
	seen := map[uint32][2]uint32{}
	for slot := range uint32(segment.SlotsMax) {
		for g := range uint32(16) {
			sum := segment.Sum(segment.At(77, slot), g, nil)
			if other, ok := seen[sum]; ok {
				t.Fatalf("slot %d generation %d and slot %d generation %d have one seed", slot, g, other[0], other[1])
			}
			seen[sum] = [2]uint32{slot, g}
		}
	}
}

// TestChecksumColumn: each slot has a place of its own, and none overlaps a slot.
func TestChecksumColumn(t *testing.T) {
	forBackings(t, func(t *testing.T, b segment.Backing) {
		for _, size := range []int{40, 2 * kiB, 16 * kiB} {
			s := newSegment(t, plan{backing: b, checksums: true})
			openPage(t, s, 1) // so that the page is not the first
			page := openPage(t, s, classOf(t, s.Geometry(), size))
			slots := s.Geometry().Shape(s.Descriptor(page).Class()).Slots
			room := s.Capacity(page)
			for slot := range slots {
				offset := offsetOf(t, s, page, slot)
				p := s.Memory().Room(offset, room, false)
				fill(p, slot)
				s.SetSum(page, slot, offset, segment.Sum(segment.At(uint32(page), slot), 0, p))
				s.Memory().Store(offset, segment.Header(segment.Value, 0, 0, 0, room))
			}
			want := make([]byte, room)
			for slot := range slots {
				offset := offsetOf(t, s, page, slot)
				fill(want, slot)
				p := s.Memory().Payload(offset, s.Memory().Load(offset))
				require.Equal(t, want, p, "slot %d", slot)
				require.Equal(t, segment.Sum(segment.At(uint32(page), slot), 0, want), s.StoredSum(page, slot, offset), "slot %d", slot)
			}
			next := s.Memory().Load((page + s.Descriptor(page).Length()) * segment.UnitSize)
			require.Zero(t, next, "the unit behind the page")
		}
	})
}

// TestRunChecksum: in the upper half of the length word.
func TestRunChecksum(t *testing.T) {
	s := newSegment(t, plan{backing: segment.Heap, checksums: true})
	openPage(t, s, 1)
	unit := publishRun(t, s, 100_000)
	offset := unit * segment.UnitSize
	require.Zero(t, s.StoredSum(unit, 0, offset))
	s.SetSum(unit, 0, offset, 0xdeadbeef)
	require.Equal(t, uint32(0xdeadbeef), s.StoredSum(unit, 0, offset))
	require.Equal(t, segment.Word(0xdeadbeef<<32|100_000), s.Memory().Load(offset+wordSize))
	require.Equal(t, 100_000, s.Memory().PayloadLen(offset, s.Memory().Load(offset)))
	require.Len(t, s.Memory().Payload(offset, s.Memory().Load(offset)), 100_000)
	s.SetSum(unit, 0, offset, 1)
	require.Equal(t, uint32(1), s.StoredSum(unit, 0, offset), "the second replaces the first")
	s.Memory().SetRunLength(offset, 7)
	require.Equal(t, segment.Word(7), s.Memory().Load(offset+wordSize))
}

func TestWithoutChecksumsNothingIsStored(t *testing.T) {
	s := newSegment(t, heap(16))
	page := openPage(t, s, 5)
	s.SetSum(page, 0, offsetOf(t, s, page, 0), 0xffffffff)
	unit := publishRun(t, s, 70_000)
	before := s.Memory().Load(unit*segment.UnitSize + wordSize)
	s.SetSum(unit, 0, unit*segment.UnitSize, 0xffffffff)
	require.Equal(t, before, s.Memory().Load(unit*segment.UnitSize+wordSize))
	for _, b := range s.Memory().Bytes(page*segment.UnitSize, segment.UnitSize) {
		require.Zero(t, b)
	}
}
