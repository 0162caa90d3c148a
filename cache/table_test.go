package cache

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/bigpile/bigpile/pile"
)

type point struct {
	A int8 // padding follows
	B int64
	_ int32 // == does not look at it
	S string
	F float32
	C complex128
	X [3]uint16
	N [5]byte
	O bool
}

func roundTrip[K comparable](t *testing.T, keys ...K) {
	f := newFixture(t, anyBacking(), Options{})
	tab := open(f, fmt.Sprintf("%T", *new(K)), TableOptions[K, int]{})
	for i, k := range keys {
		r, err := tab.Put(k, i)
		require.NoError(t, err)
		require.Equal(t, Inserted, r, "%#v", k)
	}
	for i, k := range keys {
		v, ok := tab.Get(k)
		require.True(t, ok, "%#v", k)
		require.Equal(t, i, v)
	}
	n := 0
	for k, i := range tab.All() {
		require.Equal(t, keys[i], k)
		n++
	}
	require.Equal(t, len(keys), n)
}

func TestKeys(t *testing.T) {
	roundTrip(t, "", "a", "\xff\xfe", "\x00", strings.Repeat("k", 255), strings.Repeat("k", 256),
		strings.Repeat("k", 16382), strings.Repeat("k", 16383), strings.Repeat("k", 16384),
		strings.Repeat("k", 65517), strings.Repeat("k", 65535), strings.Repeat("k", 65536), strings.Repeat("k", 100_000))
	roundTrip(t, 0, -1, 1, math.MinInt, math.MaxInt)
	roundTrip[int8](t, -128, -1, 0, 127)
	roundTrip[uint16](t, 0, 1, 65535)
	roundTrip[uintptr](t, 0, 1, 1<<31)
	roundTrip(t, 0.0, math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat64, -1.5)
	roundTrip(t, true, false)
	roundTrip(t, complex(1, 2), complex(2, 1))
	roundTrip(t, struct{}{})
	roundTrip(t, [0]int{})
	roundTrip(t, [2]string{"a", "bc"}, [2]string{"ab", "c"}, [2]string{"", "abc"})
	roundTrip(t, [1000]int32{1}, [1000]int32{999: 1})
	type named string
	roundTrip(t, named("x"), named(""))
	roundTrip(t, point{}, point{A: 1}, point{B: 1}, point{S: "s"}, point{F: 1}, point{C: 1i}, point{X: [3]uint16{2: 1}}, point{N: [5]byte{4: 1}}, point{O: true})
}

func TestFloatKeys(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	tab := open(f, "t", TableOptions[[2]float64, string]{})
	minus := math.Copysign(0, -1)
	_, err := tab.Put([2]float64{minus, 1}, "zero")
	require.NoError(t, err)
	v, ok := tab.Get([2]float64{0, 1})
	require.True(t, ok)
	require.Equal(t, "zero", v)
	for k := range tab.Keys() {
		require.False(t, math.Signbit(k[0]))
	}
	_, err = tab.Put([2]float64{1, math.NaN()}, "never")
	require.ErrorIs(t, err, ErrKey)
	require.False(t, tab.Contains([2]float64{1, math.NaN()}))
	require.False(t, tab.Remove([2]float64{1, math.NaN()}))
	_, err = tab.PutMany([][2]float64{{2}, {math.NaN()}, {3}}, []string{"a", "b", "c"}, PutOptions{})
	require.ErrorIs(t, err, ErrKey)
	require.Equal(t, 2, tab.Len())
	n := 0
	tab.GetMany([][2]float64{{2}, {math.NaN()}, {0, 1}}, func(i int, _ string, ok bool) bool {
		require.Equal(t, i != 1, ok)
		n++
		return true
	})
	require.Equal(t, 3, n)
}

func TestPaddingDoesNotMatter(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	tab := open(f, "t", TableOptions[point, int]{})
	dirty := make([]point, 1)
	b := bytesAt(&dirty[0], 0, 8)
	for i := range b {
		b[i] = 0xaa
	}
	dirty[0].A = 1
	_, err := tab.Put(dirty[0], 1)
	require.NoError(t, err)
	require.True(t, tab.Contains(point{A: 1}))
}

func TestImpossibleKeys(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	_, err := OpenTable(f.Cache, "t", TableOptions[*int, int]{})
	require.ErrorIs(t, err, ErrKey)
	_, err = OpenTable(f.Cache, "t", TableOptions[time.Time, int]{})
	require.ErrorIs(t, err, ErrKey)
	require.ErrorContains(t, err, "time.Time.loc is *time.Location")
	_, err = OpenTable(f.Cache, "t", TableOptions[[2]any, int]{})
	require.ErrorIs(t, err, ErrKey)
	require.ErrorContains(t, err, "[0] is interface {}")
	_, err = OpenTable(f.Cache, "t", TableOptions[struct{ C chan int }, int]{})
	require.ErrorIs(t, err, ErrKey)
	_, err = OpenTable(f.Cache, "t", TableOptions[int, chan int]{})
	require.Error(t, err)
	require.Empty(t, f.Tables())
}

type person struct {
	Name    string
	Friends []*person
	Any     any
}

func TestValues(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	raw := open(f, "raw", TableOptions[int, []byte]{})
	for i, n := range []int{0, 1, 7, 8, 127, 128, 2039, 2040, 2041, 4096, 65535, 65536, 65537, 262144, 300_000} {
		v := stamp(uint64(i), 0)[:0]
		for len(v) < n {
			v = append(v, byte(i+len(v)))
		}
		_, err := raw.Put(i, v)
		require.NoError(t, err)
		for range 2 {
			got, ok := raw.Get(i)
			require.True(t, ok)
			require.Equal(t, v, got)
			for k := range got {
				got[k] = 0xee // the caller's own
			}
		}
		into, ok := raw.AppendValue([]byte("x"), i)
		require.True(t, ok)
		require.Equal(t, append([]byte("x"), v...), into)
		raw.GetMany([]int{i, -1, i}, func(k int, b []byte, ok bool) bool {
			require.Equal(t, k != 1, ok)
			if ok {
				require.Equal(t, v, b)
			}
			return true
		})
	}
	n := 0
	for range raw.All() {
		n++
	}
	require.Equal(t, raw.Len(), n)
	_, err := raw.Put(99, nil)
	require.NoError(t, err)
	v, ok := raw.Get(99)
	require.True(t, ok)
	require.Equal(t, []byte{}, v)
	_, err = raw.Put(99, make([]byte, f.p.MaxValueSize()))
	require.ErrorIs(t, err, pile.ErrTooLarge)
	require.True(t, raw.Contains(99), "the old value stands")

	plain := open(f, "plain", TableOptions[int, [3]int32]{})
	_, err = plain.Put(1, [3]int32{1, 2, 3})
	require.NoError(t, err)
	arr, ok := plain.Get(1)
	require.True(t, ok)
	require.Equal(t, [3]int32{1, 2, 3}, arr)
	plain.GetMany([]int{1}, func(_ int, v [3]int32, ok bool) bool { require.Equal(t, arr, v); return ok })

	graph := open(f, "graph", TableOptions[string, *person]{})
	me := &person{Name: "me", Any: 42}
	me.Friends = []*person{me}
	_, err = graph.Put("me", me)
	require.NoError(t, err)
	got, ok := graph.Get("me")
	require.True(t, ok)
	require.NotSame(t, me, got)
	require.Same(t, got, got.Friends[0])
	require.Equal(t, 42, got.Any)
	taken, ok := graph.Take("me")
	require.True(t, ok)
	require.Equal(t, "me", taken.Name)

	anyTab := open(f, "any", TableOptions[string, any]{})
	for k, v := range map[string]any{"int": 7, "string": "s", "bytes": []byte("b"), "map": map[string]int{"a": 1}} {
		_, err := anyTab.Put(k, v)
		require.NoError(t, err)
		got, ok := anyTab.Get(k)
		require.True(t, ok)
		require.Equal(t, v, got)
	}
	_, err = anyTab.Put("nil", nil)
	require.ErrorIs(t, err, pile.ErrNil)
	_, err = anyTab.Put("int", make(chan int))
	require.Error(t, err)
	require.True(t, anyTab.Contains("int"), "the old value stands")
}

func TestTables(t *testing.T) {
	p, err := pile.New(anyBacking())
	require.NoError(t, err)
	c, err := New(p, Options{})
	require.NoError(t, err)
	a, err := OpenTable(c, "a", TableOptions[string, int]{})
	require.NoError(t, err)
	again, err := OpenTable(c, "a", TableOptions[string, int]{})
	require.NoError(t, err)
	require.Same(t, a, again)
	_, err = OpenTable(c, "a", TableOptions[string, string]{})
	require.ErrorIs(t, err, ErrTableMismatch)
	require.ErrorContains(t, err, "Table[string, int]")
	require.ErrorContains(t, err, "Table[string, string]")
	_, err = OpenTable(c, "a", TableOptions[int, int]{})
	require.ErrorIs(t, err, ErrTableMismatch)
	_, err = OpenTable(c, "a", TableOptions[string, int]{FoldID: "lower", Fold: strings.ToLower})
	require.ErrorIs(t, err, ErrTableMismatch)
	_, err = OpenTable(c, "", TableOptions[string, int]{})
	require.ErrorIs(t, err, ErrOption)
	b, err := OpenTable(c, "b", TableOptions[int, []byte]{})
	require.NoError(t, err)
	for i := range 300 {
		_, err = a.Put(fmt.Sprint(i), i)
		require.NoError(t, err)
		_, err = b.Put(i, []byte("b"))
		require.NoError(t, err)
	}
	require.Equal(t, []string{"a", "b"}, c.Tables())
	require.Equal(t, 600, c.Len())
	require.EqualValues(t, 600, c.Stats().Entries)
	require.EqualValues(t, 2, c.Stats().Tables)

	// Another cache, and values of the pile itself, in the same pile.
	ptr, err := p.PutString("mine")
	require.NoError(t, err)
	other, err := New(p, Options{})
	require.NoError(t, err)
	x, err := OpenTable(other, "a", TableOptions[int, int]{})
	require.NoError(t, err)
	_, err = x.Put(1, 1)
	require.NoError(t, err)
	require.EqualValues(t, 602, p.Stats().Objects)
	for found := range p.All() {
		require.Equal(t, ptr, found, "entries are not values of the pile")
	}
	require.NoError(t, p.Purge())
	require.Equal(t, 600, c.Len(), "Purge of the pile leaves tables alone")

	require.NoError(t, c.Drop("a"))
	require.ErrorIs(t, c.Drop("a"), ErrNotFound)
	_, err = a.Put("k", 1)
	require.ErrorIs(t, err, ErrDropped)
	_, ok := a.Get("1")
	require.False(t, ok)
	require.Zero(t, a.Len())
	fresh, err := OpenTable(c, "a", TableOptions[int, int]{})
	require.NoError(t, err)
	require.Zero(t, fresh.Len())
	c.PurgeAll()
	require.Zero(t, c.Len())
	require.Equal(t, 1, other.Len())
	require.NoError(t, c.Close())
	require.EqualValues(t, 1, p.Stats().Objects, "the other cache's")
	_, err = OpenTable(c, "new", TableOptions[int, int]{})
	require.ErrorIs(t, err, ErrDropped)
	v, ok := x.Get(1)
	require.True(t, ok && v == 1)
	require.NoError(t, other.Close())
	require.NoError(t, p.Check(context.Background()))
	require.Zero(t, p.Stats().Objects)
	require.NoError(t, p.Close())
	_, err = New(p, Options{})
	require.ErrorIs(t, err, pile.ErrClosed)
	_, err = New(nil, Options{})
	require.ErrorIs(t, err, ErrOption)
}

func TestOwnPile(t *testing.T) {
	p, err := pile.New(anyBacking())
	require.NoError(t, err)
	c, err := New(p, Options{OwnPile: true, Logger: slog.Default()})
	require.NoError(t, err)
	require.Same(t, p, c.Pile())
	require.NoError(t, c.Close())
	<-p.Done()
	_, err = p.PutString("x")
	require.ErrorIs(t, err, pile.ErrClosed)
}

func TestFold(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	tab := open(f, "t", TableOptions[string, int]{Fold: strings.ToLower, FoldID: "lower"})
	_, err := tab.Put("Key", 1)
	require.NoError(t, err)
	r, err := tab.Put("KEY", 2)
	require.NoError(t, err)
	require.Equal(t, Replaced, r)
	v, ok := tab.Get("kEY")
	require.True(t, ok && v == 2)
	tab.GetMany([]string{"kEy", "no"}, func(i int, v int, ok bool) bool { require.Equal(t, i == 0, ok); return true })
	for k := range tab.Keys() {
		require.Equal(t, "key", k)
	}
	require.True(t, tab.Remove("keY"))
}

func TestOptions(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	for name, c := range map[string]struct {
		config TableConfig
		want   error
	}{
		"MaxEntries":      {TableConfig{MaxEntries: -2}, ErrOption},
		"MaxBytes":        {TableConfig{MaxBytes: -2}, ErrOption},
		"DefaultMaxAge":   {TableConfig{DefaultMaxAge: -time.Second}, ErrOption},
		"InitialCapacity": {TableConfig{InitialCapacity: -1}, ErrOption},
		"MinCapacity":     {TableConfig{MinCapacity: 1 << 41}, ErrOption},
		"Mode":            {TableConfig{Mode: 9}, ErrOption},
		"WhenFull":        {TableConfig{WhenFull: 9}, ErrOption},
		"GrowthFactor":    {TableConfig{GrowthFactor: math.NaN()}, ErrOption},
		"LoadFactorLow":   {TableConfig{LoadFactorLow: .8, LoadFactorHigh: .7}, ErrOption},
		"Speculative":     {TableConfig{Mode: Speculative}, ErrUnsupported},
		"Evict":           {TableConfig{WhenFull: Evict}, ErrUnsupported},
		"NegativeMaxAge":  {TableConfig{NegativeMaxAge: time.Second}, ErrUnsupported},
	} {
		_, err := OpenTable(f.Cache, "t", TableOptions[int, int]{TableConfig: c.config})
		require.ErrorIs(t, err, c.want, name)
		require.ErrorContains(t, err, name)
		_, err = New(f.p, Options{Defaults: c.config})
		require.ErrorIs(t, err, c.want, name)
		_, err = New(f.p, Options{Tables: map[string]TableConfig{"t": c.config}})
		require.ErrorIs(t, err, c.want, name)
	}
	tab := open(f, "t", TableOptions[int, int]{})
	_, err := tab.PutWith(1, 1, PutOptions{MaxAge: -time.Second})
	require.ErrorIs(t, err, ErrOption)
	require.Zero(t, tab.Len())

	c, err := New(f.p, Options{
		Defaults: TableConfig{MaxEntries: 10, DefaultMaxAge: time.Hour},
		Tables:   map[string]TableConfig{"x": {MaxEntries: Unlimited}},
	})
	require.NoError(t, err)
	x, err := OpenTable(c, "x", TableOptions[int, int]{TableConfig: TableConfig{DefaultMaxAge: time.Minute}})
	require.NoError(t, err)
	require.Equal(t, TableConfig{
		Mode: Durable, MaxEntries: Unlimited, MaxBytes: Unlimited, WhenFull: Reject,
		DefaultMaxAge: time.Minute, NegativeMaxAge: Never,
	}, x.Stats().Config)
	require.NoError(t, c.Close())
}

// TestLimits holds limits at every step, among writers.
func TestLimits(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	tab := open(f, "n", TableOptions[int, string]{TableConfig: TableConfig{MaxEntries: 100}})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				k := g*200 + i
				if _, err := tab.Put(k, "v"); err != nil {
					require.ErrorIs(t, err, ErrTableFull)
					require.False(t, tab.Contains(k))
				}
				require.LessOrEqual(t, tab.Len(), 100)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 100, tab.Len())
	for k := range tab.Keys() {
		r, err := tab.Put(k, "overwriting needs no room")
		require.NoError(t, err)
		require.Equal(t, Replaced, r)
	}
	tab.Purge()
	_, err := tab.Put(1, "v")
	require.NoError(t, err)

	bytes := open(f, "b", TableOptions[int, []byte]{TableConfig: TableConfig{MaxBytes: 300_000}})
	full := 0
	for i := range 1000 {
		if _, err := bytes.Put(i, make([]byte, 500)); err != nil {
			require.ErrorIs(t, err, ErrTableFull)
			full++
		}
		s := bytes.Stats()
		require.LessOrEqual(t, s.PayloadBytes+s.IndexBytes, int64(300_000))
	}
	require.Positive(t, full)
	require.Greater(t, bytes.Len(), 300)
}

// TestExpiredMakesRoom lets a full table take a new entry in the place of one that has expired.
func TestExpiredMakesRoom(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	clock := f.useClock()
	f.sweeper.stop()
	tab := open(f, "t", TableOptions[int, string]{TableConfig: TableConfig{MaxEntries: 3}})
	for i := range 3 {
		_, err := tab.PutWith(i, "v", PutOptions{MaxAge: time.Second})
		require.NoError(t, err)
	}
	_, err := tab.Put(3, "v")
	require.ErrorIs(t, err, ErrTableFull)
	clock.advance(time.Second)
	_, err = tab.Put(3, "v")
	require.NoError(t, err)
	require.Equal(t, 1, tab.Len())
}

// TestOutOfSpace fills the pile: a Put that fails changes nothing, and what is there stays readable.
func TestOutOfSpace(t *testing.T) {
	po := anyBacking()
	po.MaxMemory = 4 << 20
	f := newFixture(t, po, Options{})
	tab := open(f, "t", TableOptions[int, []byte]{})
	n := 0
	var err error
	for ; err == nil; n++ {
		_, err = tab.Put(n, stamp(uint64(n), 9))
	}
	n--
	require.ErrorIs(t, err, pile.ErrOutOfSpace)
	require.Equal(t, n, tab.Len())
	require.LessOrEqual(t, f.p.Stats().MappedBytes, po.MaxMemory)
	for k := range n {
		v, ok := tab.Get(k)
		require.True(t, ok)
		require.NoError(t, stamped(uint64(k), v))
	}
	for k := range n {
		require.True(t, tab.Remove(k))
	}
	for k := range n / 2 {
		_, err := tab.Put(k, stamp(uint64(k), 9))
		require.NoError(t, err, "room was made again")
	}
}

// TestOverwritingOneKeyStaysFlat is a peer's bug: the ring grew without bound.
func TestOverwritingOneKeyStaysFlat(t *testing.T) {
	po := anyBacking()
	po.MaxMemory = 2 << 20
	f := newFixture(t, po, Options{})
	tab := open(f, "t", TableOptions[string, []byte]{})
	for range 50_000 {
		_, err := tab.Put("same", make([]byte, 100))
		require.NoError(t, err)
	}
	require.Equal(t, 1, tab.Len())
	require.LessOrEqual(t, f.p.Stats().AllocatedBytes, int64(1<<20))
}

// TestConstantHash works, if slowly, when all keys have one hash.
func TestConstantHash(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	tab := open(f, "t", TableOptions[int, int]{})
	tab.hashMask = 0
	const n = 2500
	for i := range n {
		_, err := tab.Put(i, i)
		require.NoError(t, err)
	}
	for i := range n {
		v, ok := tab.Get(i)
		require.True(t, ok)
		require.Equal(t, i, v)
	}
	seen := 0
	for k, v := range tab.All() {
		require.Equal(t, k, v)
		seen++
	}
	require.Equal(t, n, seen)
	for i := range n {
		require.Equal(t, i%2 == 0, i%2 == 0 && tab.Remove(i))
	}
	require.Equal(t, n/2, tab.Len())
	require.False(t, tab.Remove(0))
	require.True(t, tab.Remove(1), "the other key is still there")
}

// TestPresized has all its index from the start, and keeps the floor.
func TestPresized(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	const n = 100_000
	tab := open(f, "t", TableOptions[int, int]{TableConfig: TableConfig{InitialCapacity: n, MinCapacity: n}})
	s := tab.Stats()
	require.GreaterOrEqual(t, s.Capacity, int64(n))
	for i := range n {
		_, err := tab.Put(i, i)
		require.NoError(t, err)
	}
	require.Less(t, tab.Stats().Grown, int64(len(tab.shards)/4), "it hardly grows")
	for i := range n {
		require.True(t, tab.Remove(i))
	}
	require.GreaterOrEqual(t, tab.Stats().Capacity, int64(n)*3/4)
	_, err := OpenTable(f.Cache, "huge", TableOptions[int, int]{TableConfig: TableConfig{InitialCapacity: 1000}})
	require.NoError(t, err)
	po := anyBacking()
	po.MaxMemory = 1 << 20
	small := newFixture(t, po, Options{})
	_, err = OpenTable(small.Cache, "huge", TableOptions[int, int]{TableConfig: TableConfig{InitialCapacity: 1 << 20}})
	require.ErrorIs(t, err, pile.ErrOutOfSpace)
	require.Empty(t, small.Tables())
}

func TestMetrics(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	tab := open(f, "t", TableOptions[int, int]{TableConfig: TableConfig{DetailedMetrics: true}})
	_, err := tab.Put(1, 1)
	require.NoError(t, err)
	tab.Get(1)
	tab.Get(2)
	tab.GetMany([]int{1, 2, 3}, func(int, int, bool) bool { return true })
	s := tab.Stats()
	require.EqualValues(t, 2, s.Hits)
	require.EqualValues(t, 3, s.Misses)
	require.EqualValues(t, 1, s.Inserted)
}
