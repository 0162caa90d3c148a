package segment

import "hash/crc32"

// Payload returns the payload under the header w at offset, in place.
func (m *Memory) Payload(offset int, w Word) []byte {
	if w.Flags()&Large != 0 {
		return m.Bytes(offset+runHeader, int(uint32(m.loadLength(offset+wordSize))))
	}
	return m.Bytes(offset+wordSize, w.Length())
}

// PayloadLen returns the bytes of the payload under the header w at offset.
func (m *Memory) PayloadLen(offset int, w Word) int {
	if w.Flags()&Large != 0 {
		return int(uint32(m.loadLength(offset + wordSize)))
	}
	return w.Length()
}

// Room returns n payload bytes to fill at offset: of a run when large, else of a slot.
func (m *Memory) Room(offset, n int, large bool) []byte {
	if large {
		return m.Bytes(offset+runHeader, n)
	}
	return m.Bytes(offset+wordSize, n)
}

// The length word of a run:
//
//	 63         32 31          0
//	+-------------+-------------+
//	| checksum 32 | length 32   |
//	+-------------+-------------+

// SetRunLength stores the length word of a run, before its header is published.
func (m *Memory) SetRunLength(offset, n int) {
	m.format64(offset+wordSize, uint64(uint32(n)))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli) // read-only

// Sum returns the checksum of a payload that belongs to the slot owner with that generation: CRC-32C,
// seeded with both. A payload that was reached through a link to a slot that was reused, or that was
// written to the wrong place, does not verify.
//
// The seed is multiplied so that what differs little, neighbours in near generations, gets seeds that
// differ. Folding owner and generation by exclusive or gave slot 256 the seed of slot 0 one generation
// later.
func Sum(owner Location, generation uint32, payload []byte) uint32 {
	seed := (uint64(owner)<<generationBits | uint64(generation)) * 0x9e3779b97f4a7c15
	return crc32.Update(uint32(seed>>32), castagnoli, payload)
}

// SetSum stores the checksum of the slot whose header is at offset, before that is published. It
// does nothing when the geometry has no checksums.
func (s *Segment) SetSum(unit int, slot uint32, offset int, sum uint32) {
	d := s.Descriptor(unit)
	if !s.geo.Checksums {
		return
	}
	if d.Class() == ClassRun {
		s.mem.format64(offset+wordSize, s.mem.loadLength(offset+wordSize)&0xffffffff|uint64(sum)<<32)
		return
	}
	s.mem.storeSum(s.sumOffset(unit, slot, d), sum)
}

// StoredSum returns the checksum that SetSum stored.
func (s *Segment) StoredSum(unit int, slot uint32, offset int) uint32 {
	d := s.Descriptor(unit)
	if d.Class() == ClassRun {
		return uint32(s.mem.loadLength(offset+wordSize) >> 32)
	}
	return s.mem.loadSum(s.sumOffset(unit, slot, d))
}

func (s *Segment) sumOffset(unit int, slot uint32, d Descriptor) int {
	return unit*UnitSize + int(s.geo.Shape(d.Class()).SumOffset) + int(slot)*checksumSize
}
