package cache

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/bigpile/bigpile/pile"
)

// stressTime is how long a stress test runs.
func stressTime() time.Duration {
	if testing.Short() {
		return 100 * time.Millisecond
	}
	return 700 * time.Millisecond
}

// stamp makes a value that says which key it belongs to, of a length that varies, each byte of it.
func stamp(key, seq uint64) []byte {
	b := make([]byte, 16+seq%200)
	binary.LittleEndian.PutUint64(b, key)
	binary.LittleEndian.PutUint64(b[8:], seq)
	for i := 16; i < len(b); i++ {
		b[i] = byte(key + seq)
	}
	return b
}

func stamped(key uint64, b []byte) error {
	if len(b) < 16 || binary.LittleEndian.Uint64(b) != key {
		return fmt.Errorf("key %d: value %x", key, b)
	}
	seq := binary.LittleEndian.Uint64(b[8:])
	if len(b) != int(16+seq%200) {
		return fmt.Errorf("key %d: %d bytes for sequence %d", key, len(b), seq)
	}
	for _, x := range b[16:] {
		if x != byte(key+seq) {
			return fmt.Errorf("key %d: torn value", key)
		}
	}
	return nil
}

// TestStress lets everything happen at once, and looks at every value that is read.
func TestStress(t *testing.T) {
	eachBacking(t, func(t *testing.T, o pile.Options) {
		for _, keys := range []uint64{8, 5000} {
			t.Run(fmt.Sprint("keys=", keys), func(t *testing.T) { stress(t, o, keys) })
		}
	})
}

func stress(t *testing.T, po pile.Options, keys uint64) {
	po.Checksums = keys > 100
	f := newFixture(t, po, Options{})
	var puts, gone atomic.Int64
	o := TableOptions[uint64, []byte]{OnRemove: func(r Removal[uint64, []byte]) {
		gone.Add(1)
		if err := stamped(r.Key, r.Value); err != nil {
			t.Errorf("removed: %v", err)
		}
	}}
	tab := open(f, "stress", o)
	var wg sync.WaitGroup
	stop := time.Now().Add(stressTime())
	for g := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), keys))
			for n := uint64(0); time.Now().Before(stop); n++ {
				k := r.Uint64N(keys)
				switch r.IntN(12) {
				case 0, 1, 2, 3:
					age := time.Duration(r.IntN(3)) * 5 * time.Millisecond
					if _, err := tab.PutWith(k, stamp(k, n), PutOptions{MaxAge: age}); err != nil {
						t.Errorf("put: %v", err)
					}
					puts.Add(1)
				case 4:
					tab.Remove(k)
				case 5:
					if v, ok := tab.Take(k); ok && stamped(k, v) != nil {
						t.Error(stamped(k, v))
					}
				case 6:
					tab.Rejuvenate(k)
				case 7:
					_, err := tab.View(k, func(b []byte) error { runtime.Gosched(); return stamped(k, b) })
					if err != nil {
						t.Error(err)
					}
				case 8:
					some := []uint64{k, k + 1, k + 2, k + 3}
					tab.GetMany(some, func(i int, v []byte, ok bool) bool {
						if ok && stamped(some[i], v) != nil {
							t.Error(stamped(some[i], v))
						}
						return true
					})
				case 9:
					if n%500 == 0 {
						for k, v := range tab.All() {
							if err := stamped(k, v); err != nil {
								t.Error(err)
							}
						}
					}
				case 10:
					if n%300 == 0 && g == 0 {
						tab.Purge()
					}
					if n%200 == 0 && g == 1 {
						if err := f.p.Check(context.Background()); err != nil {
							t.Error(err)
						}
					}
				default:
					if v, ok := tab.Get(k); ok && stamped(k, v) != nil {
						t.Error(stamped(k, v))
					}
				}
			}
		})
	}
	wg.Wait()
	tab.Purge()
	require.Zero(t, tab.Len())
	f.sweeper.stop()
	require.Equal(t, puts.Load(), gone.Load(), "every entry that was put is removed exactly once")
	require.Zero(t, f.p.Stats().Objects)
}

// TestGrowthUnderReaders lets a table grow and shrink while readers look for keys that are there
// throughout and iterations pass.
func TestGrowthUnderReaders(t *testing.T) {
	eachBacking(t, func(t *testing.T, o pile.Options) {
		f := newFixture(t, o, Options{})
		tab := open(f, "t", TableOptions[uint64, uint64]{})
		const stay, churn = 500, 60_000
		for k := range uint64(stay) {
			_, err := tab.Put(k, k)
			require.NoError(t, err)
		}
		var wg sync.WaitGroup
		var over atomic.Bool
		wg.Go(func() {
			for !over.Load() {
				for k := range uint64(stay) {
					if v, ok := tab.Get(k); !ok || v != k {
						t.Errorf("key %d: %d %v", k, v, ok)
						return
					}
				}
			}
		})
		wg.Go(func() {
			for !over.Load() {
				seen := make([]int, stay)
				for k := range tab.Keys() {
					if k < stay {
						seen[k]++
					}
				}
				for k, n := range seen {
					if n != 1 {
						t.Errorf("key %d appeared %d times", k, n)
						return
					}
				}
			}
		})
		for range 2 {
			for k := uint64(stay); k < churn; k++ {
				_, err := tab.Put(k, k)
				require.NoError(t, err)
			}
			for k := uint64(stay); k < churn; k++ {
				require.True(t, tab.Remove(k))
			}
		}
		over.Store(true)
		wg.Wait()
		s := tab.Stats()
		require.Positive(t, s.Grown)
		require.Positive(t, s.Shrunk)
		require.Equal(t, stay, tab.Len())
	})
}

// op is one operation of a history: on a key, as porcupine sees it.
type op struct {
	kind  string
	key   uint64
	value string
}

type seen struct {
	value string
	ok    bool
}

var registers = porcupine.Model{
	Partition: func(h []porcupine.Operation) [][]porcupine.Operation {
		by := map[uint64][]porcupine.Operation{}
		for _, o := range h {
			k := o.Input.(op).key
			by[k] = append(by[k], o)
		}
		var out [][]porcupine.Operation
		for _, l := range by {
			out = append(out, l)
		}
		return out
	},
	Init: func() any { return seen{} },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.(seen), input.(op), output.(seen)
		switch in.kind {
		case "put":
			return out.ok == s.ok, seen{in.value, true}
		case "get":
			return out == s, s
		case "remove":
			return out.ok == s.ok, seen{}
		case "take":
			return out == s, seen{}
		case "append": // Compute: the value with one more letter
			next := seen{s.value + in.value, true}
			return out == next, next
		case "absent": // GetOrPut
			if s.ok {
				return out == s, s
			}
			return out == seen{in.value, true}, seen{in.value, true}
		}
		return false, s
	},
	Equal: func(a, b any) bool { return a == b },
}

// TestLinearizable records histories of concurrent operations on few keys and has them checked. The
// table also grows, so that segments move below the operations.
func TestLinearizable(t *testing.T) {
	eachBacking(t, func(t *testing.T, o pile.Options) {
		for round := range 4 {
			history(t, o, uint64(round))
		}
	})
}

func history(t *testing.T, o pile.Options, seed uint64) {
	f := newFixture(t, o, Options{})
	defer f.end()
	tab := open(f, "t", TableOptions[uint64, string]{})
	if seed%2 == 1 {
		tab.hashMask = 0xfff << 40 // few hashes, few segments
	}
	const workers, each, keys = 4, 120, 5
	var mu sync.Mutex
	var all []porcupine.Operation
	var wg sync.WaitGroup
	start := time.Now()
	for w := range workers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			var mine []porcupine.Operation
			for i := range each {
				in := op{key: r.Uint64N(keys), value: fmt.Sprintf("%c%d.", 'a'+w, i)}
				in.kind = []string{"put", "get", "get", "remove", "take", "append", "absent"}[r.IntN(7)]
				call := time.Since(start).Nanoseconds()
				out := in.do(t, tab)
				mine = append(mine, porcupine.Operation{ClientId: w, Input: in, Call: call, Output: out, Return: time.Since(start).Nanoseconds()})
				if i%10 == 0 { // neighbours, to make it grow
					for n := range uint64(30) {
						_, err := tab.Put(1000+uint64(i)*30+n, "x")
						require.NoError(t, err)
					}
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, mine...)
		})
	}
	wg.Wait()
	if r := porcupine.CheckOperationsTimeout(registers, all, 20*time.Second); r != porcupine.Ok {
		t.Errorf("seed %d: history is %s", seed, r)
	}
}

func (in op) do(t *testing.T, tab *Table[uint64, string]) seen {
	switch in.kind {
	case "put":
		r, err := tab.Put(in.key, in.value)
		require.NoError(t, err)
		return seen{ok: r == Replaced}
	case "get":
		v, ok := tab.Get(in.key)
		return seen{v, ok}
	case "remove":
		return seen{ok: tab.Remove(in.key)}
	case "take":
		v, ok := tab.Take(in.key)
		return seen{v, ok}
	case "append":
		v, ok, err := tab.Compute(in.key, func(old string, _ bool) (string, Op) { return old + in.value, Write })
		require.NoError(t, err)
		return seen{v, ok}
	}
	v, _, err := tab.putAbsent(binary.LittleEndian.AppendUint64(nil, in.key), in.value, PutOptions{})
	require.NoError(t, err)
	return seen{v, true}
}

// TestCountersAddUp increments few counters from many goroutines.
func TestCountersAddUp(t *testing.T) {
	f := newFixture(t, anyBacking(), Options{})
	tab := open(f, "counters", TableOptions[string, int]{})
	const workers, each = 8, 400
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range each {
				_, _, err := tab.Compute(strings.Repeat("k", i%3), func(n int, _ bool) (int, Op) { return n + 1, Write })
				require.NoError(t, err)
			}
		})
	}
	wg.Wait()
	sum := 0
	for _, n := range tab.All() {
		sum += n
	}
	require.Equal(t, workers*each, sum)
}
