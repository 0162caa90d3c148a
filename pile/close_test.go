package pile_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryCallAfterCloseIsErrClosed(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptrs := fill(t, p, 100, 30)
		shut(t, p)
		for _, ptr := range []pile.PilePointer{ptrs[0], ptrs[99], ptrs[0] ^ 1<<50, 1} {
			requireDead(t, p, ptr, pile.ErrClosed)
		}
		requireDead(t, p, 0, pile.ErrClosed, pile.ErrInvalidPointer)
		ctx := context.Background()
		for call, fn := range map[string]func() (any, error){
			"PutBytes":   func() (any, error) { return p.PutBytes([]byte("x")) },
			"PutString":  func() (any, error) { return p.PutString("x") },
			"PutReserve": func() (any, error) { return p.PutReserve("x", 10) },
			"PutMany":    func() (any, error) { return p.PutMany([][]byte{{1}}, nil) },
			"GetMany":    func() (any, error) { return nil, p.GetMany(ptrs[:0], func(int, []byte, error) bool { return true }) },
			"DeleteMany": func() (any, error) { return p.DeleteMany(ptrs) },
			"Purge":      func() (any, error) { return nil, p.Purge() },
			"Compact":    func() (any, error) { return p.Compact(ctx, nil) },
			"Check":      func() (any, error) { return nil, p.Check(ctx) },
		} {
			_, err := fn()
			require.ErrorIs(t, err, pile.ErrClosed, call)
		}
		for range p.All() {
			t.Fatal("All of a closed pile yields something")
		}
		p.Stats()
		p.MaxValueSize()
		require.NoError(t, p.Close(), "a second Close is fine")
		require.True(t, isDone(p))
	})
}

func TestClosedByManyAtOnce(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		fill(t, p, 100, 30)
		together(t, 8, func(int, *rand.Rand) error { return p.Close() })
		awaitDone(t, p)
	})
}

func TestCloseReturnsWhileAViewIsOpenAndDoneWaitsForIt(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		want := pattern(1000, 1)
		ptr := put(t, p, want)
		entered, release, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(left)
			assert.NoError(t, p.View(ptr, func(b []byte) error {
				close(entered)
				<-release
				assert.Equal(t, want, b, "after Close, while the view is open")
				return nil
			}))
		}()
		<-entered
		require.False(t, isDone(p))
		within(t, "Close while a view is open", func() { assert.NoError(t, p.Close()) })
		requireDead(t, p, ptr, pile.ErrClosed)
		_, err := p.PutString("x")
		require.ErrorIs(t, err, pile.ErrClosed)
		for range 100 { // Done must not come meanwhile, however long one looks
			runtime.Gosched()
			require.False(t, isDone(p), "Done while a view is open")
		}
		close(release)
		<-left
		awaitDone(t, p)
	})
}

func TestCloseUnderLoadGivesTheOthersErrClosedOnly(t *testing.T) {
	eachVariant(t, func(t *testing.T, first *pile.Pile) {
		shut(t, first)
		for round := range max(3, scaled(5)) {
			p := open(t, variantOptions(t))
			ptrs := make([]pile.PilePointer, 64)
			for i := range ptrs {
				ptrs[i] = put(t, p, stamp(uint64(i), 0, 100))
			}
			var done, failed atomic.Int64
			together(t, 9, func(g int, rng *rand.Rand) error {
				if g == 8 {
					for done.Load() < int64(round*200) && failed.Load() == 0 { // closed at another moment each round
						runtime.Gosched()
					}
					return p.Close()
				}
				for {
					if err := anyCall(p, ptrs, rng); errors.Is(err, pile.ErrClosed) {
						return nil
					} else if err != nil {
						failed.Add(1)
						return err
					}
					done.Add(1)
				}
			})
			awaitDone(t, p)
		}
	})
}

// variantOptions finds the options of the running variant by the name of the test.
func variantOptions(t *testing.T) pile.Options {
	for _, v := range variants() {
		if strings.HasSuffix(t.Name(), "/"+v.name) {
			return v.opts
		}
	}
	t.Fatalf("%s runs no variant", t.Name())
	return pile.Options{}
}

// anyCall makes one random call; its own values come and go, ptrs stay alive and belong to their index.
func anyCall(p *pile.Pile, ptrs []pile.PilePointer, rng *rand.Rand) error {
	i := rng.IntN(len(ptrs))
	check := func(b []byte) error { _, err := readStamp(b, uint64(i)); return err }
	switch rng.IntN(9) {
	case 0:
		ptr, err := p.PutBytes(pattern(rng.IntN(500), 1))
		if err != nil {
			return err
		}
		return p.Delete(ptr)
	case 1:
		return p.UpdateBytes(ptrs[i], stamp(uint64(i), 1, rng.IntN(900)))
	case 2:
		return p.View(ptrs[i], func(b []byte) error { runtime.Gosched(); return check(b) })
	case 3:
		var bad error
		return errors.Join(p.GetMany(ptrs, func(k int, b []byte, err error) bool {
			if err == nil {
				_, err = readStamp(b, uint64(k))
			}
			bad = err
			return bad == nil
		}), bad)
	case 4:
		many, err := p.PutMany([][]byte{{1}, {2}, {3}}, nil)
		if err != nil {
			return err
		}
		_, err = p.DeleteMany(many)
		return err
	case 5:
		for range p.All() {
			break
		}
		return nil
	case 6:
		p.Stats()
		_, err := p.SizeOf(ptrs[i])
		return err
	case 7:
		_, err := p.Compact(context.Background(), nil)
		return err
	}
	b, err := p.GetBytes(ptrs[i])
	if err != nil {
		return err
	}
	return check(b)
}

func TestClosedPilesReturnTheirMappings(t *testing.T) {
	if _, ok := anonymousBytes(); !ok || raceEnabled || backings()[0] != pile.Anonymous {
		t.Skip("needs /proc/self/maps, the anonymous backing and no race detector")
	}
	runtime.GC()
	before, _ := anonymousBytes()
	p := open(t, pile.Options{SegmentSize: 32 * miB})
	fill(t, p, 40_000, 3000)
	mapped := p.Stats().MappedBytes
	require.GreaterOrEqual(t, mapped, int64(96*miB))
	shut(t, p)
	after, _ := anonymousBytes()
	require.Less(t, after, before+48*miB, "%d bytes were mapped meanwhile", mapped)
}

func TestManyPilesAtOnceLeaveNothing(t *testing.T) {
	before, known := anonymousBytes()
	for _, b := range backings() {
		const n = 100
		piles := make([]*pile.Pile, n)
		ptrs := make([]pile.PilePointer, n)
		for i := range piles {
			piles[i] = open(t, pile.Options{SegmentSize: miB, Backing: b})
			ptrs[i] = put(t, piles[i], stamp(uint64(i), 0, 100))
		}
		for i, p := range piles {
			_, err := readStamp(get(t, p, ptrs[i]), uint64(i))
			require.NoError(t, err)
		}
		for _, p := range piles {
			shut(t, p)
		}
	}
	requireNoLibraryGoroutine(t)
	if after, _ := anonymousBytes(); known && !raceEnabled {
		require.Less(t, after, before+48*miB)
	}
}

// logLines is a slog handler target that may be read while others write.
type logLines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logLines) count() int { return strings.Count(l.String(), "\n") }

func (l *logLines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func TestForgottenPilesAreClosedByTheCollectorAndLogged(t *testing.T) {
	for _, b := range backings() {
		t.Run(backingName(b), func(t *testing.T) {
			runtime.GC()
			before, known := anonymousBytes()
			var log logLines
			const n = 10
			for range n {
				p, err := pile.New(pile.Options{SegmentSize: 16 * miB, Backing: b, Logger: log.logger()})
				require.NoError(t, err)
				fill(t, p, 1000, 1000)
			}
			collectUntil(t, "each forgotten pile is logged", func() bool { return log.count() >= n })
			collectUntil(t, "the memory of the forgotten piles is unmapped", func() bool {
				after, _ := anonymousBytes()
				return !known || raceEnabled || after < before+80*miB
			})
			requireNoLibraryGoroutine(t)
		})
	}
}

// collectUntil runs the collector until cond holds.
func collectUntil(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for start := time.Now(); !cond(); runtime.Gosched() {
		if time.Since(start) > patience {
			t.Fatalf("not after %v of garbage collections: %s", patience, what)
		}
		runtime.GC()
	}
}

// The last use of the pile is a View that runs: nobody else holds it, and still its memory must stay.
func TestCollectorLeavesAPileAloneWhileAViewRuns(t *testing.T) {
	for _, b := range backings() {
		t.Run(backingName(b), func(t *testing.T) {
			want := pattern(5000, 1)
			var log logLines
			viewOfForgottenPile(t, b, want, &log)
			collectUntil(t, "the pile is closed once its last view has ended", func() bool { return log.count() > 0 })
		})
	}
}

func viewOfForgottenPile(t *testing.T, b pile.Backing, want []byte, log *logLines) {
	p, err := pile.New(pile.Options{SegmentSize: miB, Backing: b, Logger: log.logger()})
	require.NoError(t, err)
	ptr := put(t, p, want)
	require.NoError(t, p.View(ptr, func(b []byte) error {
		for range 5 {
			runtime.GC()
			for range 100 {
				runtime.Gosched() // so that the cleanup, if it is due, has run
			}
			assert.Equal(t, want, b)
			assert.Zero(t, log.count(), "closed while a view runs")
		}
		return nil
	}))
}

func TestClosedPileIsNotLoggedAsForgotten(t *testing.T) {
	var log logLines
	for range 5 {
		p, err := pile.New(pile.Options{SegmentSize: miB, Logger: log.logger(), Backing: backings()[0]})
		require.NoError(t, err)
		put(t, p, []byte("x"))
		require.NoError(t, p.Close())
		awaitDone(t, p)
	}
	for range 3 {
		runtime.GC()
		runtime.Gosched()
	}
	require.NotContains(t, log.String(), "level=WARN")
	require.NotContains(t, log.String(), "level=ERROR")
}
