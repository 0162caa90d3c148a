package pile_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	kiB = 1 << 10
	miB = 1 << 20

	// pageSize is the smallest page of architecture section 4.2; capacity bounds are worked out with it.
	pageSize = 64 * kiB

	// patience is how long a call that must not block may take before the test calls it a dead-lock.
	patience = 10 * time.Second
)

// variant is one way to configure a pile; the suite runs over all of them.
type variant struct {
	name string
	opts pile.Options
}

// backings are the memory kinds under test. BIGPILE_TEST_BACKING=heap or =anonymous picks one:
// the race detector does not see mapped memory, so -race runs are limited to the Go heap.
func backings() []pile.Backing {
	switch os.Getenv("BIGPILE_TEST_BACKING") {
	case "heap":
		return []pile.Backing{pile.Heap}
	case "anonymous":
		return []pile.Backing{pile.Anonymous}
	}
	return []pile.Backing{pile.Anonymous, pile.Heap}
}

func backingName(b pile.Backing) string {
	if b == pile.Heap {
		return "heap"
	}
	return "anonymous"
}

// variants is every backing times every set of options.
func variants() []variant {
	sets := []variant{
		{"default", pile.Options{}},
		{"tiny-segments", pile.Options{SegmentSize: miB}},
		{"tiny-memory", pile.Options{MaxMemory: 16 * miB}},
		{"debug", pile.Options{Debug: true, SegmentSize: 4 * miB}},
		{"checksums", pile.Options{Checksums: true, SegmentSize: 4 * miB}},
		{"favor-speed", pile.Options{AllocMode: pile.FavorSpeed, SegmentSize: 4 * miB}},
	}
	var all []variant
	for _, b := range backings() {
		for _, v := range sets {
			v.name = backingName(b) + "/" + v.name
			v.opts.Backing = b
			if b == pile.Heap && v.opts.SegmentSize == 0 && v.opts.MaxMemory == 0 {
				v.opts.SegmentSize = 8 * miB // clearing 256 MiB for each test would be most of the run
			}
			all = append(all, v)
		}
	}
	return all
}

// eachVariant runs fn once for every variant, with a fresh pile that is checked and closed afterwards.
func eachVariant(t *testing.T, fn func(t *testing.T, p *pile.Pile)) {
	for _, v := range variants() {
		t.Run(v.name, func(t *testing.T) { guarded(t, open(t, v.opts), fn) })
	}
}

// eachBacking runs fn once for every backing with the same other options.
func eachBacking(t *testing.T, o pile.Options, fn func(t *testing.T, p *pile.Pile)) {
	for _, b := range backings() {
		t.Run(backingName(b), func(t *testing.T) {
			o.Backing = b
			guarded(t, open(t, o), fn)
		})
	}
}

// guarded runs a whole test under a watchdog: a call that hangs where no test expects it fails in minutes, too.
func guarded(t *testing.T, p *pile.Pile, fn func(t *testing.T, p *pile.Pile)) {
	t.Helper()
	withinTime(t, 3*time.Minute, "the test", func() { fn(t, p) })
}

// hung is set when something did not return in time: the run has failed.
var hung atomic.Bool

// openPiles counts the fixture's piles that are not closed yet, of all tests.
var openPiles atomic.Int32

// open makes a pile and registers what must hold at the end of every test: Check finds nothing, Close and Done
// come, and neither a goroutine nor a mapping of the library is left.
func open(t testing.TB, o pile.Options) *pile.Pile {
	t.Helper()
	if hung.Load() {
		t.Skip("an earlier test hangs; each of the others might wait for its whole patience, too")
	}
	p, err := pile.New(o)
	require.NoError(t, err)
	openPiles.Add(1)
	t.Cleanup(func() {
		defer func() {
			if openPiles.Add(-1) == 0 {
				requireNoLibraryGoroutine(t)
			}
		}()
		within(t, "Check at the end of the test", func() {
			if err := p.Check(context.Background()); !errors.Is(err, pile.ErrClosed) {
				assert.NoError(t, err, "Check at the end of the test")
			}
		})
		shut(t, p)
	})
	return p
}

// shut closes the pile and waits for Done.
func shut(t testing.TB, p *pile.Pile) {
	t.Helper()
	within(t, "Close", func() { assert.NoError(t, p.Close()) })
	awaitDone(t, p)
	assert.Zero(t, p.Stats().MappedBytes, "bytes mapped after Done")
}

func awaitDone(t testing.TB, p *pile.Pile) {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(patience):
		t.Fatalf("Done is not closed %v after Close\n%s", patience, stacks())
	}
}

func isDone(p *pile.Pile) bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}

// within fails the test when fn has not returned in time. fn runs in a goroutine of its own, so it may Goexit.
func within(t testing.TB, what string, fn func()) {
	t.Helper()
	withinTime(t, patience, what, fn)
}

func withinTime(t testing.TB, limit time.Duration, what string, fn func()) {
	t.Helper()
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		fn()
	}()
	select {
	case <-returned:
	case <-time.After(limit):
		hung.Store(true)
		t.Fatalf("%s does not return: dead-lock?\n%s", what, stacks())
	}
}

// eventually repeats cond, yielding in between, until it holds or the deadline passes.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for start := time.Now(); !cond(); {
		if time.Since(start) > patience {
			t.Fatalf("still not true after %v: %s", patience, what)
		}
		runtime.Gosched()
	}
}

// together runs n goroutines, each with random numbers of its own, and fails with their first error.
func together(t testing.TB, n int, fn func(g int, rng *rand.Rand) error) {
	t.Helper()
	errs := make([]error, n)
	withinTime(t, 2*time.Minute, fmt.Sprintf("work of %d goroutines", n), func() {
		var all sync.WaitGroup
		for g := range n {
			rng := rand.New(rand.NewPCG(seed(t), uint64(g)))
			all.Go(func() { errs[g] = fn(g, rng) })
		}
		all.Wait()
	})
	require.NoError(t, errors.Join(errs...))
}

var runSeed = sync.OnceValue(func() uint64 {
	if s, err := strconv.ParseUint(os.Getenv("BIGPILE_SEED"), 10, 64); err == nil {
		return s
	}
	return rand.Uint64()
})

// seed is the run's seed mixed with the test's name, so that a single test can be repeated alone.
func seed(t testing.TB) uint64 {
	t.Logf("repeat with BIGPILE_SEED=%d", runSeed())
	h := fnv.New64a()
	h.Write([]byte(t.Name()))
	return h.Sum64() ^ runSeed()
}

func newRand(t testing.TB) *rand.Rand { return rand.New(rand.NewPCG(seed(t), 0)) }

// scaled makes a loop count smaller for -short and for the race detector.
func scaled(n int) int {
	if testing.Short() || raceEnabled {
		return max(1, n/10)
	}
	return n
}

// pattern is n bytes that differ from those of any other seed and at any other offset.
func pattern(n int, seed uint64) []byte {
	b := make([]byte, n+8)
	x := seed*0x9e3779b97f4a7c15 + 1
	for i := 0; i < n; i += 8 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		binary.LittleEndian.PutUint64(b[i:], x)
	}
	return b[:n:n]
}

func put(t testing.TB, p *pile.Pile, b []byte) pile.PilePointer {
	t.Helper()
	ptr, err := p.PutBytes(b)
	require.NoError(t, err)
	require.True(t, ptr.Valid())
	return ptr
}

func get(t testing.TB, p *pile.Pile, ptr pile.PilePointer) []byte {
	t.Helper()
	b, err := p.GetBytes(ptr)
	require.NoError(t, err)
	return b
}

// fill puts n values of one size, each with a pattern of its own number.
func fill(t testing.TB, p *pile.Pile, n, size int) []pile.PilePointer {
	t.Helper()
	ptrs := make([]pile.PilePointer, n)
	b := pattern(size, 0)
	for i := range ptrs {
		copy(b, strconv.Itoa(i)) // cheap, and still tells values apart
		ptr, err := p.PutBytes(b)
		require.NoErrorf(t, err, "value %d of %d bytes", i, size)
		ptrs[i] = ptr
	}
	return ptrs
}

func deleteAll(t testing.TB, p *pile.Pile, ptrs []pile.PilePointer) {
	t.Helper()
	n, err := p.DeleteMany(ptrs)
	require.NoError(t, err)
	require.Equal(t, len(ptrs), n)
}

// deadHandle tries every call that takes a handle and says what is wrong when one of them does anything but
// return an error that wraps one of want. It changes nothing, if the pile keeps its promise.
func deadHandle(p *pile.Pile, ptr pile.PilePointer, want ...error) error {
	bad := func(call string, err error) error {
		if err != nil {
			for _, w := range want {
				if errors.Is(err, w) {
					return nil
				}
			}
		}
		return fmt.Errorf("%s(%v) of a dead handle: got %v, want one of %v", call, ptr, err, want)
	}
	var errs []error
	b, err := p.GetBytes(ptr)
	errs = append(errs, bad("GetBytes", err))
	if len(b) != 0 {
		errs = append(errs, fmt.Errorf("GetBytes(%v) of a dead handle returns %d bytes", ptr, len(b)))
	}
	s, err := p.GetString(ptr)
	errs = append(errs, bad("GetString", err))
	if s != "" {
		errs = append(errs, fmt.Errorf("GetString(%v) of a dead handle returns %q", ptr, s))
	}
	b, err = p.AppendBytes([]byte("kept"), ptr)
	errs = append(errs, bad("AppendBytes", err))
	if string(b) != "kept" {
		errs = append(errs, fmt.Errorf("AppendBytes(%v) of a dead handle changes dst to %q", ptr, b))
	}
	err = p.View(ptr, func([]byte) error {
		errs = append(errs, fmt.Errorf("View(%v) of a dead handle calls back", ptr))
		return nil
	})
	errs = append(errs, bad("View", err))
	_, err = p.SizeOf(ptr)
	errs = append(errs, bad("SizeOf", err))
	errs = append(errs,
		bad("UpdateBytes", p.UpdateBytes(ptr, []byte("intruder"))),
		bad("UpdateString", p.UpdateString(ptr, "intruder")),
		bad("Update", p.Update(ptr, []byte("intruder"))),
		bad("Delete", p.Delete(ptr)))
	n, err := p.DeleteMany([]pile.PilePointer{ptr})
	errs = append(errs, bad("DeleteMany", err))
	if n != 0 {
		errs = append(errs, fmt.Errorf("DeleteMany(%v) of a dead handle deletes %d", ptr, n))
	}
	calls := 0
	many := p.GetMany([]pile.PilePointer{ptr}, func(_ int, b []byte, err error) bool {
		calls++
		errs = append(errs, bad("GetMany", err))
		return true
	})
	if calls == 0 {
		errs = append(errs, bad("GetMany", many))
	}
	return errors.Join(errs...)
}

func requireDead(t testing.TB, p *pile.Pile, ptr pile.PilePointer, want ...error) {
	t.Helper()
	require.NoError(t, deadHandle(p, ptr, want...))
}

func stacks() string {
	buf := make([]byte, miB)
	return string(buf[:runtime.Stack(buf, true)])
}

// libraryGoroutines are the stacks of goroutines that run code of the library and none of the tests.
func libraryGoroutines() []string {
	var left []string
	for g := range strings.SplitSeq(stacks(), "\n\n") {
		ours := strings.Contains(g, "github.com/bigpile/bigpile/pile.") || strings.Contains(g, "github.com/bigpile/bigpile/segment.")
		if ours && !strings.Contains(g, "bigpile/pile_test.") {
			left = append(left, g)
		}
	}
	return left
}

func requireNoLibraryGoroutine(t testing.TB) {
	t.Helper()
	for start := time.Now(); len(libraryGoroutines()) > 0; runtime.Gosched() {
		if time.Since(start) > patience {
			t.Errorf("goroutines left after Done:\n%s", strings.Join(libraryGoroutines(), "\n\n"))
			return
		}
	}
}
