package main

import (
	"encoding/binary"
	"math/bits"
)

// pattern makes the bytes of a value from its number, and knows them again.
//
// The number is mixed by a bijection, so that no two values are alike, and
// written into two words that alternate over the whole value: a flipped byte,
// another value and two halves of different values are all found. As text the
// two words are the 16 hexadecimal digits of the mixed number.
type pattern struct {
	seed uint64 // mixed, so that near seeds make far values
	text bool
}

func newPattern(seed uint64, text bool) pattern { return pattern{mix(seed), text} }

// mix is a bijection on 64-bit numbers that leaves no pattern (the finalizer of
// MurmurHash3).
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// words returns the two words that value i is made of.
func (p pattern) words(i uint64) (first, second uint64) {
	x := mix(i ^ p.seed)
	if p.text {
		return hexDigits(uint32(x >> 32)), hexDigits(uint32(x))
	}
	return x, x * 0x9e3779b97f4a7c15
}

// hexDigits returns the eight digits of x as eight bytes, without a branch.
func hexDigits(x uint32) uint64 {
	v := uint64(x)
	v = (v | v<<16) & 0x0000ffff0000ffff
	v = (v | v<<8) & 0x00ff00ff00ff00ff
	v = (v | v<<4) & 0x0f0f0f0f0f0f0f0f
	letter := (v + 0x0606060606060606) >> 4 & 0x0101010101010101
	return bits.ReverseBytes64(v + 0x3030303030303030 + letter*('a'-'0'-10))
}

// write fills dst with value i.
func (p pattern) write(dst []byte, i uint64) {
	first, second := p.words(i)
	for len(dst) >= 16 {
		binary.LittleEndian.PutUint64(dst, first)
		binary.LittleEndian.PutUint64(dst[8:], second)
		dst = dst[16:]
	}
	if len(dst) >= 8 {
		binary.LittleEndian.PutUint64(dst, first)
		dst, first = dst[8:], second
	}
	for k := range dst {
		dst[k] = byte(first >> (8 * k))
	}
}

// check reports whether b is value i, every byte of it.
func (p pattern) check(b []byte, i uint64) bool {
	first, second := p.words(i)
	for len(b) >= 16 {
		if binary.LittleEndian.Uint64(b) != first || binary.LittleEndian.Uint64(b[8:]) != second {
			return false
		}
		b = b[16:]
	}
	if len(b) >= 8 {
		if binary.LittleEndian.Uint64(b) != first {
			return false
		}
		b, first = b[8:], second
	}
	for k := range b {
		if b[k] != byte(first>>(8*k)) {
			return false
		}
	}
	return true
}

// randomizer is a small generator for places to read, one a goroutine.
type randomizer uint64

// below returns a number in [0, n).
func (r *randomizer) below(n uint64) uint64 {
	*r += 0x9e3779b97f4a7c15
	high, _ := bits.Mul64(mix(uint64(*r)), n)
	return high
}
