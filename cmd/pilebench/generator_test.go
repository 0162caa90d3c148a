package main

import (
	"fmt"
	"testing"
)

func sources() map[string]source {
	return map[string]source{
		"text":  &fixedSource{newPattern(1, true), 32},
		"bytes": &fixedSource{newPattern(1, false), 100},
		"odd":   &fixedSource{newPattern(2, true), 13},
		"least": &fixedSource{newPattern(3, false), sizeMin},
		"mixed": newMixedSource(newPattern(4, false)),
	}
}

func TestValueReadsBackAsItself(t *testing.T) {
	for name, s := range sources() {
		t.Run(name, func(t *testing.T) {
			var c chunk
			for _, count := range []int{256, 256, 7, 1} {
				s.fill(&c, 1000, count)
				for i := range count {
					if b := c.value(i); !s.check(1000+int64(i), b) {
						t.Fatalf("value %d is not itself: %q", 1000+i, b)
					}
					if got, want := len(c.value(i)), s.size(1000+int64(i)); got != want {
						t.Fatalf("value %d has %d bytes, size says %d", 1000+i, got, want)
					}
				}
			}
		})
	}
}

func TestCheckFindsEveryFlippedByte(t *testing.T) {
	for name, s := range sources() {
		t.Run(name, func(t *testing.T) {
			var c chunk
			s.fill(&c, 5, 1)
			b := c.value(0)
			for at := range b {
				for bit := range 8 {
					b[at] ^= 1 << bit
					if s.check(5, b) {
						t.Fatalf("bit %d of byte %d flipped and not noticed", bit, at)
					}
					b[at] ^= 1 << bit
				}
			}
		})
	}
}

func TestCheckFindsOtherValues(t *testing.T) {
	s := &fixedSource{newPattern(1, true), 32}
	var c chunk
	s.fill(&c, 0, 2)
	torn := append(append([]byte(nil), c.value(0)[:16]...), c.value(1)[16:]...)
	for name, b := range map[string][]byte{
		"the next": c.value(1), "torn": torn, "short": c.value(0)[:31], "empty": {}, "nil": nil,
	} {
		if s.check(0, b) {
			t.Errorf("%s passes for value 0", name)
		}
	}
}

func TestHexDigitsAreThoseOfTheNumber(t *testing.T) {
	for _, x := range []uint32{0, 1, 0x9abcdef0, 0x12345678, 0xffffffff} {
		var b [8]byte
		digits := hexDigits(x)
		for k := range b {
			b[k] = byte(digits >> (8 * k))
		}
		if want := fmt.Sprintf("%08x", x); string(b[:]) != want {
			t.Errorf("hexDigits(%#x) = %q, want %q", x, b, want)
		}
	}
}

func TestMixedSizesReachBothEnds(t *testing.T) {
	s := newMixedSource(newPattern(1, false))
	low, high := s.size(0), s.size(0)
	for i := range int64(100_000) {
		low, high = min(low, s.size(i)), max(high, s.size(i))
	}
	if low != 0 || high != mixedMax {
		t.Errorf("sizes from %d to %d, want 0 to %d", low, high, mixedMax)
	}
}

func BenchmarkGenerator(b *testing.B) {
	s := &fixedSource{newPattern(1, true), 32}
	var c chunk
	b.Run("op=fill", func(b *testing.B) {
		for i := 0; i < b.N; i += 256 {
			s.fill(&c, int64(i), 256)
		}
	})
	b.Run("op=check", func(b *testing.B) {
		s.fill(&c, 7, 1)
		for range b.N {
			if !s.check(7, c.value(0)) {
				b.Fatal("wrong")
			}
		}
	})
}
