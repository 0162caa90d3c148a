package cache

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/bigpile/bigpile/pile"
)

// sweepersInBubble is sweepers when all have begun to run: one that was started and has not run yet has no
// frame to be recognised by.
func sweepersInBubble() int {
	synctest.Wait()
	return sweepers()
}

// sweepers counts the goroutines of sweepers.
func sweepers() int {
	buf := make([]byte, 1<<20)
	return strings.Count(string(buf[:runtime.Stack(buf, true)]), "(*sweeper).run(")
}

// inBubble runs a test with a cache whose time is that of a bubble.
func inBubble(t *testing.T, o TableOptions[string, string], fn func(*testing.T, *fixture, *Table[string, string])) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, pile.Options{Backing: pile.Heap, SegmentSize: 1 << 20, HugePages: pile.HugeNever}, Options{})
		fn(t, f, open(f, "t", o))
		f.end()
	})
}

func TestExpiryIsExactOnRead(t *testing.T) {
	o := TableOptions[string, string]{}
	o.DefaultMaxAge = time.Second
	inBubble(t, o, func(t *testing.T, f *fixture, tab *Table[string, string]) {
		put := func(k string, o PutOptions) {
			_, err := tab.PutWith(k, k, o)
			require.NoError(t, err)
		}
		put("table's age", PutOptions{})
		put("own age", PutOptions{MaxAge: 3 * time.Second})
		put("deadline", PutOptions{MaxAge: Never, ExpiresAt: time.Now().Add(2 * time.Second)})
		put("both", PutOptions{MaxAge: 5 * time.Second, ExpiresAt: time.Now().Add(4 * time.Second)})
		put("never", PutOptions{MaxAge: Never})
		put("past", PutOptions{ExpiresAt: time.Now().Add(-time.Hour)})
		put("longest", PutOptions{MaxAge: 1<<63 - 1, ExpiresAt: time.Unix(1<<40, 0)})
		require.False(t, tab.Contains("past"))
		for i, k := range []string{"table's age", "deadline", "own age", "both"} {
			time.Sleep(time.Duration(i+1)*time.Second - time.Since(f.clock.start) - time.Millisecond)
			require.True(t, tab.Contains(k), k)
			time.Sleep(time.Millisecond)
			require.False(t, tab.Contains(k), k)
			_, ok := tab.Get(k)
			require.False(t, ok, k)
			require.Equal(t, 5-i, tab.Len())
		}
		time.Sleep(100 * 365 * 24 * time.Hour)
		require.True(t, tab.Contains("never"))
		require.True(t, tab.Contains("longest"))
	})
}

func TestEntryTellsItsLife(t *testing.T) {
	inBubble(t, TableOptions[string, string]{}, func(t *testing.T, f *fixture, tab *Table[string, string]) {
		end := time.Now().Add(time.Minute + 123456789).Round(0)
		_, err := tab.PutWith("k", "v", PutOptions{MaxAge: time.Hour + 1, ExpiresAt: end, Priority: -7})
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		e, ok := tab.Entry("k")
		require.True(t, ok)
		require.True(t, end.Equal(e.ExpiresAt), "%v, expected %v", e.ExpiresAt, end)
		e.ExpiresAt = time.Time{}
		require.Equal(t, Entry[string, string]{Key: "k", Value: "v", Age: 10 * time.Second, MaxAge: time.Hour + 1, Priority: -7}, e)
		_, ok = tab.GetFresh("k", 9*time.Second)
		require.False(t, ok)
		_, ok = tab.GetFresh("k", 10*time.Second)
		require.True(t, ok)
	})
}

// TestRejuvenate is the ancestor's: what is rejuvenated outlives its age, the deadline stands.
func TestRejuvenate(t *testing.T) {
	inBubble(t, TableOptions[string, string]{}, func(t *testing.T, f *fixture, tab *Table[string, string]) {
		for _, k := range []string{"kept", "left", "ends"} {
			o := PutOptions{MaxAge: 12 * time.Second}
			if k == "ends" {
				o.ExpiresAt = time.Now().Add(20 * time.Second)
			}
			_, err := tab.PutWith(k, "v", o)
			require.NoError(t, err)
		}
		for range 30 {
			time.Sleep(time.Second)
			tab.Rejuvenate("kept")
			tab.Rejuvenate("ends")
		}
		require.True(t, tab.Contains("kept"))
		require.False(t, tab.Contains("left"))
		require.False(t, tab.Contains("ends"))
		require.False(t, tab.Rejuvenate("left"))
		time.Sleep(12 * time.Second)
		require.Zero(t, tab.Len())
	})
}

// TestPutOnExpiredEntry is a peer's bug: the new value must not inherit the old deadline.
func TestPutOnExpiredEntry(t *testing.T) {
	var causes []Cause
	o := TableOptions[string, string]{OnRemove: func(r Removal[string, string]) { causes = append(causes, r.Cause) }}
	inBubble(t, o, func(t *testing.T, f *fixture, tab *Table[string, string]) {
		f.sweeper.stop() // it would be due at the same moment
		_, err := tab.PutWith("k", "old", PutOptions{MaxAge: 30 * time.Millisecond})
		require.NoError(t, err)
		time.Sleep(30 * time.Millisecond)
		r, err := tab.Put("k", "new")
		require.NoError(t, err)
		require.Equal(t, Inserted, r)
		time.Sleep(time.Hour)
		v, ok := tab.Get("k")
		require.True(t, ok)
		require.Equal(t, "new", v)
		require.Equal(t, []Cause{CauseExpired}, causes)
	})
}

// TestSweeper removes what is due soon after, tells OnRemove once each, and rests otherwise.
func TestSweeper(t *testing.T) {
	var told atomic.Int64
	o := TableOptions[string, string]{OnRemove: func(r Removal[string, string]) {
		if r.Cause == CauseExpired {
			told.Add(1)
		}
	}}
	inBubble(t, o, func(t *testing.T, f *fixture, tab *Table[string, string]) {
		require.Zero(t, sweepersInBubble(), "none before it is needed")
		_, err := tab.Put("stays", "v")
		require.NoError(t, err)
		require.Zero(t, sweepersInBubble(), "none for what does not expire")
		for i := range 3000 {
			_, err := tab.PutWith(fmt.Sprint(i), "v", PutOptions{MaxAge: time.Duration(i%3+1) * time.Minute})
			require.NoError(t, err)
		}
		require.Equal(t, 1, sweepersInBubble(), "one")
		for i := range 3 {
			time.Sleep(time.Minute)
			synctest.Wait()
			require.EqualValues(t, (i+1)*1000, told.Load())
			require.EqualValues(t, 3001-(i+1)*1000, tab.len(), "removed without anybody looking")
		}
		require.Zero(t, sweepersInBubble(), "none when nothing can expire any more")
		_, err = tab.PutWith("again", "v", PutOptions{MaxAge: time.Minute})
		require.NoError(t, err)
		require.Equal(t, 1, sweepersInBubble())
		require.NoError(t, f.Close())
		require.Zero(t, sweepersInBubble(), "none after Close")
	})
}

// TestSweeperSurvivesCallbacks lets OnRemove panic and exit in the sweeper.
func TestSweeperSurvivesCallbacks(t *testing.T) {
	var told atomic.Int64
	o := TableOptions[string, string]{OnRemove: func(r Removal[string, string]) {
		switch told.Add(1) {
		case 1:
			panic("on purpose")
		case 2:
			runtime.Goexit()
		}
	}}
	inBubble(t, o, func(t *testing.T, f *fixture, tab *Table[string, string]) {
		for i := range 10 {
			_, err := tab.PutWith(fmt.Sprint(i), "v", PutOptions{MaxAge: time.Duration(i+1) * time.Second})
			require.NoError(t, err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		require.EqualValues(t, 10, told.Load())
		require.EqualValues(t, 0, tab.len())
	})
}

// TestCloseInsideSweeper closes the cache in a callback of its own sweeper.
func TestCloseInsideSweeper(t *testing.T) {
	var f *fixture
	o := TableOptions[string, string]{OnRemove: func(Removal[string, string]) { _ = f.Close() }}
	inBubble(t, o, func(t *testing.T, fx *fixture, tab *Table[string, string]) {
		f = fx
		_, err := tab.PutWith("k", "v", PutOptions{MaxAge: time.Second})
		require.NoError(t, err)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.True(t, f.closed.Load())
		require.Zero(t, sweepers())
		_, err = tab.Put("k", "v")
		require.ErrorIs(t, err, ErrDropped)
	})
}

// TestClockJumps sets the wall clock by hours while entries live: nothing is brought back, nothing
// lives longer.
func TestClockJumps(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	clock := f.useClock()
	f.sweeper.stop()
	tab := open(f, "t", TableOptions[string, string]{})
	for _, d := range []time.Duration{time.Hour, -3 * time.Hour, 2 * time.Hour} {
		_, err := tab.PutWith("age", "v", PutOptions{MaxAge: time.Minute})
		require.NoError(t, err)
		_, err = tab.PutWith("deadline", "v", PutOptions{MaxAge: Never, ExpiresAt: clock.now().Add(time.Minute)})
		require.NoError(t, err)
		clock.jump(d)
		clock.advance(time.Minute - time.Millisecond)
		require.True(t, tab.Contains("age"))
		require.True(t, tab.Contains("deadline"))
		e, ok := tab.Entry("deadline")
		require.True(t, ok)
		require.True(t, clock.now().Add(time.Millisecond).Equal(e.ExpiresAt), "told by the clock of now")
		clock.advance(time.Millisecond)
		require.False(t, tab.Contains("age"))
		require.False(t, tab.Contains("deadline"))
		clock.jump(-d)
		require.False(t, tab.Contains("age"), "brought back")
		require.False(t, tab.Contains("deadline"), "brought back")
		clock.jump(d)
		require.Zero(t, tab.Len())
	}
}

// TestNothingDueCostsNothing has many entries, none due, and asks what the sweeper took.
func TestNothingDueCostsNothing(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	o := TableOptions[int, string]{}
	o.DefaultMaxAge = time.Hour
	tab := open(f, "t", o)
	for i := range 50_000 {
		_, err := tab.Put(i, "v")
		require.NoError(t, err)
	}
	next := f.sweeper.next.Load()
	require.Greater(t, next, f.clock.now()+time.Hour.Milliseconds()/2, "it sleeps until the first is due")
}

// TestForgottenCache lets the collector find a cache that was not closed.
func TestForgottenCache(t *testing.T) {
	before := sweepers()
	for range 20 {
		p, err := pile.New(pile.Options{SegmentSize: 1 << 20})
		require.NoError(t, err)
		c, err := New(p, Options{OwnPile: true})
		require.NoError(t, err)
		tab, err := OpenTable(c, "t", TableOptions[string, string]{})
		require.NoError(t, err)
		_, err = tab.PutWith("k", "v", PutOptions{MaxAge: time.Hour})
		require.NoError(t, err)
	}
	for range 100 {
		runtime.GC()
		if sweepers() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%d sweepers are left", sweepers())
}
