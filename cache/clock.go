package cache

import (
	"sync/atomic"
	"time"
)

// A clock tells the time of a cache: the wall clock's at the moment the cache was made, and from then
// on what has really passed, by the monotonic clock. Entries are stamped and judged by it alone, so
// that a wall clock that is set forward or back, by hand or by a time service, neither brings back
// what has expired nor lets anything live longer than it was given.
//
// ExpiresAt is a moment of the wall clock. It is translated when the entry is put, by the distance of
// the two clocks at that time: what was to live for another ten minutes lives for ten minutes.
type clock struct {
	// read returns the wall clock and the nanoseconds since the cache was made. It is nil, for the
	// clocks of the system, but in tests.
	read  func() (wall time.Time, elapsed int64)
	start time.Time

	// skew is how far the wall clock is ahead of ours, in nanoseconds. It follows in steps of
	// more than skewStep only, so that a deadline is told as it was given.
	skew atomic.Int64
}

// skewStep is half of the millisecond to which expiry is exact.
const skewStep = int64(time.Millisecond / 2)

// init starts the clock.
func (c *clock) init(read func() (time.Time, int64)) {
	c.start = time.Now()
	if c.read = read; read != nil {
		c.start, _ = read()
	}
}

// elapsed returns the nanoseconds since the cache was made.
func (c *clock) elapsed() int64 {
	if c.read == nil {
		return int64(time.Since(c.start))
	}
	_, ns := c.read()
	return ns
}

// now returns the milliseconds since the cache was made.
func (c *clock) now() int64 { return c.elapsed() / int64(time.Millisecond) }

// distance returns how far the wall clock is ahead.
func (c *clock) distance() int64 {
	wall := time.Now()
	elapsed := int64(wall.Sub(c.start))
	if c.read != nil {
		wall, elapsed = c.read()
	}
	// Without the monotonic reading the difference is that of the wall clock.
	d := int64(wall.Round(0).Sub(c.start.Round(0))) - elapsed
	if s := c.skew.Load(); d-s <= skewStep && s-d <= skewStep {
		return s
	}
	c.skew.Store(d)
	return d
}

// deadline translates a moment of the wall clock into nanoseconds of ours. What is more than 146
// years ahead is never.
func (c *clock) deadline(t time.Time) int64 {
	d := int64(t.Round(0).Sub(c.start.Round(0)))
	if d > never/2 {
		return never
	}
	return max(d, -never/2) - c.distance()
}

// wall translates nanoseconds of ours into a moment of the wall clock.
func (c *clock) wall(ns int64) time.Time {
	return c.start.Round(0).Add(time.Duration(ns)).Add(time.Duration(c.distance()))
}
