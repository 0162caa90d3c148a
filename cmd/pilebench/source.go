package main

import (
	"math"
	"slices"
)

// source makes values by number, cheaply, and checks them; it keeps none.
type source interface {
	// fill makes the values first, first+1, … in c.
	fill(c *chunk, first int64, count int)
	// check reports whether b is value i.
	check(i int64, b []byte) bool
	// size returns the bytes of value i.
	size(i int64) int
	// meanSize returns the average of size.
	meanSize() float64
}

// chunkValues is the values made at a time: enough that the loop around them
// costs nothing, few enough that they stay in the nearest cache.
const (
	chunkValues = 256
	chunkBytes  = 16 << 10
)

// chunkCount returns how many values of the source to make at a time.
func chunkCount(s source) int {
	return min(chunkValues, max(1, int(chunkBytes/(s.meanSize()+1))))
}

// chunk is a few consecutive values, made just before they are put.
type chunk struct {
	data []byte
	ends []int // ends[i] is where value i begins, ends[i+1] where it ends
}

func (c *chunk) reset() {
	c.data, c.ends = c.data[:0], append(c.ends[:0], 0)
}

// grow appends room for one value and returns it.
func (c *chunk) grow(size int) []byte {
	at := len(c.data)
	c.data = slices.Grow(c.data, size)[:at+size]
	c.ends = append(c.ends, at+size)
	return c.data[at:]
}

// even makes room for values of one size; mostly it is the room of last time.
func (c *chunk) even(count, size int) {
	if len(c.ends) == count+1 && len(c.data) == count*size {
		return
	}
	c.reset()
	for range count {
		c.grow(size)
	}
}

func (c *chunk) value(i int) []byte { return c.data[c.ends[i]:c.ends[i+1]] }

// fixedSource makes values of one size.
type fixedSource struct {
	pattern
	bytes int
}

func (s *fixedSource) fill(c *chunk, first int64, count int) {
	c.even(count, s.bytes)
	for i, at := uint64(first), 0; at < len(c.data); i, at = i+1, at+s.bytes {
		s.write(c.data[at:at+s.bytes], i)
	}
}

func (s *fixedSource) check(i int64, b []byte) bool {
	return len(b) == s.bytes && s.pattern.check(b, uint64(i))
}

func (s *fixedSource) size(int64) int    { return s.bytes }
func (s *fixedSource) meanSize() float64 { return float64(s.bytes) }

// mixedMax is the largest value of the mixed workload.
const mixedMax = 4 << 10

// mixedSource makes values of 0 to 4096 bytes, as many between 8 and 16 as
// between 1024 and 2048.
type mixedSource struct {
	pattern
	sizes [4096]uint16
	mean  float64
}

func newMixedSource(p pattern) *mixedSource {
	s := &mixedSource{pattern: p}
	total := 0
	for i := range s.sizes {
		share := float64(i) / float64(len(s.sizes)-1)
		size := int(math.Round(math.Pow(mixedMax+1, share))) - 1
		s.sizes[i] = uint16(size)
		total += size
	}
	s.mean = float64(total) / float64(len(s.sizes))
	return s
}

func (s *mixedSource) size(i int64) int {
	return int(s.sizes[mix(uint64(i)+s.seed)%uint64(len(s.sizes))])
}

func (s *mixedSource) fill(c *chunk, first int64, count int) {
	c.reset()
	for i := first; i < first+int64(count); i++ {
		s.write(c.grow(s.size(i)), uint64(i))
	}
}

func (s *mixedSource) check(i int64, b []byte) bool {
	return len(b) == s.size(i) && s.pattern.check(b, uint64(i))
}

func (s *mixedSource) meanSize() float64 { return s.mean }

// headerSize is what a pile keeps before each value, and the bare copy too.
const headerSize = 8

// stride returns the bytes that a value of this size takes: a header before
// it, rounded up to whole words.
func stride(size int) int64 { return headerSize + (int64(size)+7)&^7 }

// meanStride returns the average stride of a source.
func meanStride(s source) float64 {
	if fixed, ok := s.(*fixedSource); ok {
		return float64(stride(fixed.bytes))
	}
	return headerSize + s.meanSize() + 3.5
}
