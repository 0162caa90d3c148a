package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/bigpile/bigpile/pile"
)

// within fails when fn takes more than a second or two: something waits for itself.
func within(t *testing.T, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		buf := make([]byte, 1<<20)
		t.Fatalf("it hangs\n%s", buf[:runtime.Stack(buf, true)])
	}
}

func TestGetOrPutLoadsOnce(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	tab := open(f, "t", TableOptions[string, []byte]{})
	var loads, inserted atomic.Int64
	var wg sync.WaitGroup
	values := make([][]byte, 50)
	for i := range values {
		wg.Go(func() {
			v, r, err := tab.GetOrPut(t.Context(), "k", func(context.Context, string) ([]byte, error) {
				loads.Add(1)
				time.Sleep(20 * time.Millisecond)
				return []byte("value"), nil
			})
			require.NoError(t, err)
			if r == Inserted {
				inserted.Add(1)
			} else {
				require.Equal(t, Existing, r)
			}
			values[i] = v
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, loads.Load())
	require.EqualValues(t, 1, inserted.Load())
	values[0][0] = 'X'
	for _, v := range values[1:] {
		require.Equal(t, "value", string(v), "callers do not share memory")
	}
}

func TestGetOrPutErrors(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	tab := open(f, "t", TableOptions[string, string]{})
	mine := errors.New("mine")
	for name, c := range map[string]struct {
		load func(context.Context, string) (string, error)
		want error
	}{
		"error":     {func(context.Context, string) (string, error) { return "", mine }, mine},
		"not found": {func(context.Context, string) (string, error) { return "", ErrNotFound }, ErrNotFound},
		"panic":     {func(context.Context, string) (string, error) { panic("on purpose") }, ErrLoader},
		"exit":      {func(context.Context, string) (string, error) { runtime.Goexit(); return "", nil }, ErrLoader},
	} {
		within(t, func() {
			for range 2 { // the key is not left locked
				_, _, err := tab.GetOrPut(t.Context(), name, c.load)
				require.ErrorIs(t, err, c.want, name)
			}
			v, r, err := tab.GetOrPut(t.Context(), name, func(context.Context, string) (string, error) { return "v", nil })
			require.NoError(t, err)
			require.Equal(t, Inserted, r)
			require.Equal(t, "v", v)
		})
	}
}

// TestGetOrPutContexts lets the first caller give up: the others get the value. When all give up the
// load is cancelled.
func TestGetOrPutContexts(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	tab := open(f, "t", TableOptions[string, string]{})
	started, goOn := make(chan struct{}), make(chan struct{})
	load := func(ctx context.Context, _ string) (string, error) {
		close(started)
		select {
		case <-goOn:
			return "v", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	first, cancel := context.WithCancel(t.Context())
	errs := make(chan error, 2)
	go func() { _, _, err := tab.GetOrPut(first, "k", load); errs <- err }()
	<-started
	values := make(chan string)
	go func() {
		v, _, err := tab.GetOrPut(t.Context(), "k", load)
		require.NoError(t, err)
		values <- v
	}()
	for { // the second has joined
		tab.flights.mu.Lock()
		n := tab.flights.m["k"].waiting
		tab.flights.mu.Unlock()
		if n == 2 {
			break
		}
		runtime.Gosched()
	}
	cancel()
	require.ErrorIs(t, <-errs, context.Canceled)
	close(goOn)
	require.Equal(t, "v", <-values)

	started, goOn = make(chan struct{}), nil
	alone, cancel := context.WithCancel(t.Context())
	stopped := make(chan error)
	go func() {
		_, _, err := tab.GetOrPut(alone, "other", func(ctx context.Context, k string) (string, error) {
			v, err := load(ctx, k)
			stopped <- err
			return v, err
		})
		errs <- err
	}()
	<-started
	cancel()
	require.ErrorIs(t, <-errs, context.Canceled)
	require.ErrorIs(t, <-stopped, context.Canceled)

	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := tab.GetOrPut(done, "third", load)
	require.ErrorIs(t, err, context.Canceled)
}

// TestGetOrPutCycles lets loads wait for themselves: directly, through another key, another table, and
// from two sides at once.
func TestGetOrPutCycles(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	a := open(f, "a", TableOptions[string, string]{})
	b := open(f, "b", TableOptions[string, string]{})
	within(t, func() {
		_, _, err := a.GetOrPut(t.Context(), "self", func(ctx context.Context, k string) (string, error) {
			v, _, err := a.GetOrPut(ctx, k, nil)
			return v, err
		})
		require.ErrorIs(t, err, ErrCycle)
	})
	var both sync.WaitGroup
	both.Add(2)
	var intoA, intoB func(ctx context.Context, k string) (string, error)
	intoA = func(ctx context.Context, k string) (string, error) {
		both.Done()
		both.Wait()
		v, _, err := b.GetOrPut(ctx, "k", intoB)
		return v, err
	}
	intoB = func(ctx context.Context, k string) (string, error) {
		both.Done()
		both.Wait()
		v, _, err := a.GetOrPut(ctx, "k", intoA)
		return v, err
	}
	within(t, func() {
		var wg sync.WaitGroup
		wg.Go(func() { _, _, err := a.GetOrPut(t.Context(), "k", intoA); require.ErrorIs(t, err, ErrCycle) })
		wg.Go(func() { _, _, err := b.GetOrPut(t.Context(), "k", intoB); require.ErrorIs(t, err, ErrCycle) })
		wg.Wait()
	})
	// What only looks like a cycle is none.
	v, _, err := a.GetOrPut(t.Context(), "1", func(ctx context.Context, _ string) (string, error) {
		v, _, err := a.GetOrPut(ctx, "2", func(ctx context.Context, _ string) (string, error) {
			v, _, err := b.GetOrPut(ctx, "1", func(context.Context, string) (string, error) { return "deep", nil })
			return v, err
		})
		return v, err
	})
	require.NoError(t, err)
	require.Equal(t, "deep", v)
}

func TestGetOrPutKeepsWhatCameMeanwhile(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	tab := open(f, "t", TableOptions[string, string]{})
	v, r, err := tab.GetOrPut(t.Context(), "k", func(context.Context, string) (string, error) {
		_, err := tab.Put("k", "put")
		return "loaded", err
	})
	require.NoError(t, err)
	require.Equal(t, "put", v)
	require.Equal(t, Existing, r)
	_, _, err = tab.GetOrPutWith(t.Context(), "aged", func(context.Context, string) (string, PutOptions, error) {
		return "v", PutOptions{MaxAge: time.Hour, Priority: 3}, nil
	})
	require.NoError(t, err)
	e, ok := tab.Entry("aged")
	require.True(t, ok)
	require.Equal(t, time.Hour, e.MaxAge)
	require.EqualValues(t, 3, e.Priority)
}

func TestComputeConflict(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	tab := open(f, "t", TableOptions[string, int]{})
	within(t, func() {
		runs := 0
		_, _, err := tab.Compute("k", func(old int, _ bool) (int, Op) {
			runs++
			_, err := tab.Put("k", runs)
			require.NoError(t, err)
			return 99, Write
		})
		require.ErrorIs(t, err, ErrConflict)
		require.LessOrEqual(t, runs, 3)
		_, _, err = tab.Compute("k", func(int, bool) (int, Op) {
			_, _, err := tab.Compute("k", func(n int, _ bool) (int, Op) { return n + 1, Write })
			require.NoError(t, err)
			return 0, Delete
		})
		require.ErrorIs(t, err, ErrConflict)
		_, _, err = tab.Compute("k", func(int, bool) (int, Op) {
			tab.Remove("k")
			_, _ = tab.Put("other", 1)
			return 0, Keep
		})
		if err != nil { // it was there at first, and then it was not
			require.ErrorIs(t, err, ErrConflict)
		}
		_, _, err = tab.Compute("k", func(int, bool) (int, Op) { // another key is fine
			tab.Remove("other")
			return 7, Write
		})
		require.NoError(t, err)
		require.Empty(t, tab.watches.list)
	})
}

// TestCallbacksMayDoAnything calls back into table and cache from every callback, Close included, and
// lets each panic and exit. Nothing may hang, and the table works afterwards.
func TestCallbacksMayDoAnything(t *testing.T) {
	acts := map[string]func(f *fixture, tab *Table[string, string]){
		"same key":  func(f *fixture, tab *Table[string, string]) { tab.Get("k"); tab.Contains("k") },
		"other key": func(f *fixture, tab *Table[string, string]) { _, _ = tab.Put("other", "v"); tab.Remove("other") },
		"len":       func(f *fixture, tab *Table[string, string]) { tab.Len(); f.Len(); f.Stats() },
		"iterate": func(f *fixture, tab *Table[string, string]) {
			for range tab.All() {
				break
			}
		},
		"purge": func(f *fixture, tab *Table[string, string]) { tab.Purge() },
		"drop":  func(f *fixture, tab *Table[string, string]) { _ = f.Drop("t") },
		"close": func(f *fixture, tab *Table[string, string]) { _ = f.Close() },
		"panic": func(f *fixture, tab *Table[string, string]) { panic("on purpose") },
		"exit":  func(f *fixture, tab *Table[string, string]) { runtime.Goexit() },
	}
	for name, act := range acts {
		for _, where := range []string{"view", "load", "compute", "remove", "all", "many"} {
			t.Run(name+"/"+where, func(t *testing.T) { callback(t, where, act) })
		}
	}
}

func callback(t *testing.T, where string, act func(*fixture, *Table[string, string])) {
	f := newFixture(t, anyBacking(), Options{})
	var done atomic.Bool
	var tab *Table[string, string]
	do := func() {
		if !done.Swap(true) {
			act(f, tab)
		}
	}
	o := TableOptions[string, string]{OnRemove: func(Removal[string, string]) {
		if where == "remove" {
			do()
		}
	}}
	tab = open(f, "t", o)
	_, err := tab.Put("k", "v")
	require.NoError(t, err)
	within(t, func() {
		defer func() { _ = recover() }()
		switch where {
		case "view":
			_, _ = tab.View("k", func(b []byte) error { do(); require.Equal(t, "v", string(b)); return nil })
		case "load":
			_, _, _ = tab.GetOrPut(t.Context(), "new", func(context.Context, string) (string, error) { do(); return "v", nil })
		case "compute":
			_, _, _ = tab.Compute("k", func(string, bool) (string, Op) { do(); return "w", Write })
		case "remove":
			_, _ = tab.Put("k", "again")
		case "all":
			for range tab.All() {
				do()
			}
		case "many":
			tab.GetMany([]string{"k", "none"}, func(int, string, bool) bool { do(); return true })
		}
	})
	within(t, func() {
		next, err := OpenTable(f.Cache, "after", TableOptions[string, string]{})
		if f.closed.Load() {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		_, err = next.Put("k", "v")
		require.NoError(t, err)
		if _, err = tab.Put("k", "v"); err != nil {
			require.ErrorIs(t, err, ErrDropped)
		}
	})
}

// TestOnRemovePanicsInPurge is told of every entry all the same, and nothing is left in the pile.
func TestOnRemovePanicsInPurge(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	told := map[string]bool{}
	tab := open(f, "t", TableOptions[string, string]{OnRemove: func(r Removal[string, string]) {
		told[r.Key] = true
		panic("on purpose")
	}})
	for i := range 1000 {
		_, err := tab.Put(fmt.Sprint(i), "v")
		require.NoError(t, err)
	}
	for range len(tab.shards) + 1 {
		func() {
			defer func() { _ = recover() }()
			tab.Purge()
		}()
	}
	require.Len(t, told, 1000)
	require.Zero(t, f.p.Stats().Objects)
}

// TestCloseDuringEverything closes the cache, or the pile below it, while others work.
func TestCloseDuringEverything(t *testing.T) {
	for _, below := range []bool{false, true} {
		for range 5 {
			po := anyBacking()
			p, err := pile.New(po)
			require.NoError(t, err)
			c, err := New(p, Options{OwnPile: below})
			require.NoError(t, err)
			tab, err := OpenTable(c, "t", TableOptions[int, []byte]{})
			require.NoError(t, err)
			var wg sync.WaitGroup
			var over atomic.Bool
			for g := range 8 {
				wg.Go(func() {
					for i := 0; !over.Load(); i++ {
						k := i % 1000
						_, err := tab.PutWith(k, stamp(uint64(k), uint64(i)), PutOptions{MaxAge: time.Duration(i%5+1) * time.Millisecond})
						if err != nil && !errors.Is(err, ErrDropped) && !errors.Is(err, pile.ErrClosed) {
							t.Errorf("put: %v", err)
						}
						if v, ok := tab.Get(k); ok && stamped(uint64(k), v) != nil {
							t.Error(stamped(uint64(k), v))
						}
						switch {
						case g == 0:
							tab.Len()
						case g == 1:
							for range tab.All() {
								break
							}
						case g == 2:
							_, _, _ = tab.Compute(k, func(v []byte, _ bool) ([]byte, Op) { return v, Keep })
						}
					}
				})
			}
			time.Sleep(5 * time.Millisecond)
			within(t, func() {
				require.NoError(t, c.Close())
				require.NoError(t, c.Close())
			})
			over.Store(true)
			wg.Wait()
			if !below {
				require.NoError(t, p.Check(context.Background()))
				require.Zero(t, p.Stats().Objects)
			}
			require.NoError(t, p.Close())
			<-p.Done()
			require.Zero(t, tab.Len())
		}
	}
}
