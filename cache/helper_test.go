package cache

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/bigpile/bigpile/pile"
)

// backings are those that a suite runs on; BIGPILE_TEST_BACKING picks one.
func backings() map[string]pile.Backing {
	all := map[string]pile.Backing{"heap": pile.Heap, "anonymous": pile.Anonymous}
	if name := os.Getenv("BIGPILE_TEST_BACKING"); name != "" {
		return map[string]pile.Backing{name: all[name]}
	}
	return all
}

// eachBacking runs a test on every backing, with small segments.
func eachBacking(t *testing.T, fn func(t *testing.T, o pile.Options)) {
	for name, b := range backings() {
		t.Run(name, func(t *testing.T) { fn(t, pile.Options{Backing: b, SegmentSize: 1 << 20}) })
	}
}

// fixture is a pile with a cache, checked and closed at the end of the test.
type fixture struct {
	*Cache
	t testing.TB
}

// anyBacking is the backing of tests for which it does not matter.
func anyBacking() pile.Options {
	o := pile.Options{SegmentSize: 1 << 20}
	if os.Getenv("BIGPILE_TEST_BACKING") == "heap" {
		o.Backing = pile.Heap
	}
	return o
}

func newFixture(t testing.TB, po pile.Options, o Options) *fixture {
	t.Helper()
	p, err := pile.New(po)
	require.NoError(t, err)
	c, err := New(p, o)
	require.NoError(t, err)
	f := &fixture{c, t}
	t.Cleanup(f.end)
	return f
}

// end checks and closes cache and pile.
func (f *fixture) end() {
	p := f.p
	if !f.closed.Load() {
		require.NoError(f.t, p.Check(context.Background()))
		f.checkTables()
	}
	require.NoError(f.t, f.Close())
	if !f.opt.OwnPile {
		if err := p.Check(context.Background()); err == nil {
			require.Zero(f.t, p.Stats().Objects, "what a closed cache leaves in a pile")
		}
	}
	require.NoError(f.t, p.Close())
}

func open[K comparable, V any](f *fixture, name string, o TableOptions[K, V]) *Table[K, V] {
	f.t.Helper()
	t, err := OpenTable(f.Cache, name, o)
	require.NoError(f.t, err)
	return t
}

// checkTables compares what the index remembers with what it holds. Nothing may be going on.
func (f *fixture) checkTables() {
	for _, t := range *f.cores.Load() {
		require.NoError(f.t, t.check())
	}
}

// fakeClock is a clock that tests set. The monotonic clock is that of the time it was made plus what
// passed; the wall clock can be set as one likes.
type fakeClock struct {
	mu   sync.Mutex
	base time.Time
	mono time.Duration
	wall time.Duration // how far the wall clock is ahead
}

func newFakeClock() *fakeClock { return &fakeClock{base: time.Now()} }

// read returns what the cache asks for.
func (c *fakeClock) read() (time.Time, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.base.Add(c.mono + c.wall), int64(c.mono)
}

// now is the wall clock.
func (c *fakeClock) now() time.Time {
	t, _ := c.read()
	return t
}

// jump sets the wall clock.
func (c *fakeClock) jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall += d
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mono += d
}

// useClock makes a cache go by a fake clock. Nothing may be in it yet.
func (f *fixture) useClock() *fakeClock {
	c := newFakeClock()
	f.clock.init(c.read)
	return c
}
