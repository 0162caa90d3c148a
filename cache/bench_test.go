package cache_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/bigpile/bigpile/cache"
	"github.com/bigpile/bigpile/pile"
)

// benchEntries is how many entries the benchmarks work with; BIGPILE_BENCH_ENTRIES sets it.
func benchEntries() int {
	if n, err := strconv.Atoi(os.Getenv("BIGPILE_BENCH_ENTRIES")); err == nil {
		return n
	}
	return 1_000_000
}

// benchKey writes key i, 16 bytes that look random.
func benchKey(b []byte, i int) {
	x := uint64(i) * 0x9e3779b97f4a7c15
	x ^= x >> 29
	binary.LittleEndian.PutUint64(b, x*0xbf58476d1ce4e5b9)
	binary.LittleEndian.PutUint64(b[8:], uint64(i))
}

func benchTable(b testing.TB, o cache.TableOptions[[16]byte, []byte]) *cache.Table[[16]byte, []byte] {
	p, err := pile.New(pile.Options{})
	if err != nil {
		b.Fatal(err)
	}
	c, err := cache.New(p, cache.Options{OwnPile: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	t, err := cache.OpenTable(c, "bench", o)
	if err != nil {
		b.Fatal(err)
	}
	return t
}

// took is what some work took, by the clock and of the processors.
type took struct{ clock, cpu time.Duration }

func parallel(g int, fn func(k int)) took {
	var wg sync.WaitGroup
	start, cpu := time.Now(), cpuTime()
	for k := range g {
		wg.Go(func() { fn(k) })
	}
	wg.Wait()
	return took{time.Since(start), cpuTime() - cpu}
}

func fill(b testing.TB, t *cache.Table[[16]byte, []byte], n, g int, o cache.PutOptions) took {
	return parallel(g, func(k int) {
		var key [16]byte
		v := make([]byte, 64)
		for i := k; i < n; i += g {
			benchKey(key[:], i)
			copy(v, key[:])
			if _, err := t.PutWith(key, v, o); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func BenchmarkTable(b *testing.B) {
	n, g := benchEntries(), runtime.GOMAXPROCS(0)
	rate := func(b *testing.B, d took, ops int) {
		b.ReportMetric(float64(ops)/d.clock.Seconds()/1e6, "M/s")
		b.ReportMetric(float64(d.cpu.Nanoseconds())/float64(ops), "cpu-ns/op")
		b.ReportMetric(0, "ns/op")
	}
	var t *cache.Table[[16]byte, []byte]
	for _, presized := range []bool{false, true} {
		b.Run(fmt.Sprintf("fill/presized=%v", presized), func(b *testing.B) {
			for b.Loop() {
				o := cache.TableOptions[[16]byte, []byte]{}
				o.DefaultMaxAge = time.Hour
				if presized {
					o.InitialCapacity = n
				}
				t = benchTable(b, o)
				rate(b, fill(b, t, n, g, cache.PutOptions{}), n)
			}
		})
	}
	o := cache.TableOptions[[16]byte, []byte]{}
	o.DefaultMaxAge = time.Hour
	t = benchTable(b, o)
	fill(b, t, n, g, cache.PutOptions{})
	s := t.Stats()
	ps := poolStats(t)
	b.Logf("load %.3f, index %.2f B/entry, pile %.2f B/entry", s.LoadFactor, float64(s.IndexBytes)/float64(n), float64(ps)/float64(n))
	b.Run("bare", func(b *testing.B) { // what two random accesses and a copy take without any table
		mem := make([]byte, n*96)
		idx := make([]uint64, n)
		for i := range idx {
			idx[i] = uint64(i) * 0x9e3779b97f4a7c15 % uint64(n)
		}
		for i := range mem {
			mem[i] = byte(i)
		}
		for b.Loop() {
			rate(b, parallel(g, func(k int) {
				buf := make([]byte, 64)
				x := uint64(k) + 1
				for range n / g {
					x ^= x << 13
					x ^= x >> 7
					x ^= x << 17
					at := idx[(x^uint64(buf[0]&1))%uint64(n)] * 96
					copy(buf, mem[at:at+64])
				}
			}), n)
		}
	})
	b.Run("overwrite", func(b *testing.B) {
		for b.Loop() {
			rate(b, fill(b, t, n, g, cache.PutOptions{}), n)
		}
	})
	b.Run("get", func(b *testing.B) {
		for b.Loop() {
			rate(b, parallel(g, func(k int) {
				var key [16]byte
				buf := make([]byte, 0, 64)
				x := uint64(k) + 1
				for range n / g {
					x ^= x << 13
					x ^= x >> 7
					x ^= x << 17
					benchKey(key[:], int(x%uint64(n)))
					var ok bool
					if buf, ok = t.AppendValue(buf[:0], key); !ok || [16]byte(buf) != key {
						b.Error("wrong value")
						return
					}
				}
			}), n)
		}
	})
	b.Run("getmany", func(b *testing.B) {
		for b.Loop() {
			rate(b, parallel(g, func(k int) {
				keys := make([][16]byte, 64)
				x := uint64(k) + 1
				for range n / g / 64 {
					for i := range keys {
						x ^= x << 13
						x ^= x >> 7
						x ^= x << 17
						benchKey(keys[i][:], int(x%uint64(n)))
					}
					t.GetMany(keys, func(i int, v []byte, ok bool) bool {
						if !ok || [16]byte(v) != keys[i] {
							b.Error("wrong value")
						}
						return true
					})
				}
			}), n)
		}
	})
	start := time.Now()
	runtime.GC()
	b.Logf("GC %v", time.Since(start))
}

func poolStats(t *cache.Table[[16]byte, []byte]) int64 {
	return t.Cache().Pile().Stats().AllocatedBytes
}
