package cache

import (
	"encoding/binary"
	"math/bits"
)

// seed makes the hashes of a table its own, so that nobody outside can prepare keys that collide. It
// belongs to the table as long as its index does: the index keeps bits of the hash.
type seed [2]uint64

// Two odd constants with as many ones as zeros, from the fraction of the golden ratio and of √3.
const (
	mixA = 0x9e3779b97f4a7c15
	mixB = 0xbb67ae8584caa73b
)

// hash mixes the bytes of a key, 16 at a step, each step one 64 × 64 → 128 bit multiplication whose
// halves are folded. It is not cryptographic. Short keys are what it is for: 16 bytes are one
// step.
func (s *seed) hash(b []byte) uint64 {
	h := s[0] ^ uint64(len(b))*mixA
	for ; len(b) > 16; b = b[16:] {
		h = mix(binary.LittleEndian.Uint64(b)^s[1], binary.LittleEndian.Uint64(b[8:])^h)
	}
	var x, y uint64
	switch n := len(b); {
	case n >= 8:
		x, y = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:])
	case n >= 4:
		x, y = uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[n-4:]))
	case n > 0:
		x, y = uint64(b[0])|uint64(b[n/2])<<8, uint64(b[n-1])
	}
	return mix(mix(x^s[1], y^h)^mixB, s[0]^mixA)
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
