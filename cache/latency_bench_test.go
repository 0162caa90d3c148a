package cache_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/bigpile/bigpile/cache"
)

// BenchmarkPutLatency fills a table from empty with one goroutine and tells how long single puts took,
// beside a bare loop that copies as many bytes into fresh memory.
func BenchmarkPutLatency(b *testing.B) {
	n := benchEntries()
	times := make([]uint32, n)
	tell := func(b *testing.B, name string) {
		s := slices.Clone(times)
		slices.Sort(s)
		b.ReportMetric(float64(s[n/2]), name+"-p50-ns")
		b.ReportMetric(float64(s[n-n/1000-1])/1e3, name+"-p99.9-µs")
		b.ReportMetric(float64(s[n-n/10000-1])/1e3, name+"-p99.99-µs")
		b.ReportMetric(float64(s[n-1])/1e3, name+"-max-µs")
		b.ReportMetric(0, "ns/op")
	}
	for b.Loop() {
		t := benchTable(b, cache.TableOptions[[16]byte, []byte]{})
		var key [16]byte
		v := make([]byte, 64)
		for i := range n {
			benchKey(key[:], i)
			start := time.Now()
			if _, err := t.Put(key, v); err != nil {
				b.Fatal(err)
			}
			times[i] = uint32(time.Since(start))
		}
		tell(b, "put")
		for i := range n {
			times[i] = 0
		}
		var chunks [][]byte
		var at []byte
		for i := range n {
			start := time.Now()
			if len(at) < 96 {
				at = make([]byte, 1<<20)
				chunks = append(chunks, at)
			}
			copy(at, v)
			at = at[96:]
			times[i] = uint32(time.Since(start))
		}
		tell(b, "bare")
		runtime.KeepAlive(chunks)
	}
}

// BenchmarkCollection tells how long a full collection takes with all entries alive: the median of nine.
func BenchmarkCollection(b *testing.B) {
	n := benchEntries()
	collect := func(what string) {
		var times []time.Duration
		for range 9 {
			start := time.Now()
			runtime.GC()
			times = append(times, time.Since(start))
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[4].Microseconds())/1e3, what+"-median-ms")
		b.ReportMetric(float64(times[0].Microseconds())/1e3, what+"-min-ms")
	}
	for b.Loop() {
		collect("empty")
		t := benchTable(b, cache.TableOptions[[16]byte, []byte]{})
		fill(b, t, n, runtime.GOMAXPROCS(0), cache.PutOptions{})
		collect("full")
		b.ReportMetric(float64(n), "entries")
		b.ReportMetric(0, "ns/op")
		runtime.KeepAlive(t)
	}
}

// BenchmarkSweeperIdle tells what share of a core the process takes in ten seconds with entries that
// can expire, none of them due.
func BenchmarkSweeperIdle(b *testing.B) {
	o := cache.TableOptions[[16]byte, []byte]{}
	o.DefaultMaxAge = time.Hour
	t := benchTable(b, o)
	fill(b, t, benchEntries(), runtime.GOMAXPROCS(0), cache.PutOptions{})
	runtime.GC()
	time.Sleep(5 * time.Second) // until segments are collapsed, and the collector is at rest
	for b.Loop() {
		cpu := cpuTime()
		time.Sleep(10 * time.Second)
		b.ReportMetric(float64(cpuTime()-cpu)/float64(10*time.Second)*100, "%core")
		b.ReportMetric(0, "ns/op")
	}
	runtime.KeepAlive(t)
}

// BenchmarkBytes tells the resident bytes an entry of 16 + 64 bytes: with the table's age, and with its
// own age and priority.
func BenchmarkBytes(b *testing.B) {
	n := benchEntries()
	for _, own := range []bool{false, true} {
		name, o := "age=table", cache.PutOptions{}
		if own {
			name, o = "age=own", cache.PutOptions{MaxAge: time.Hour, Priority: 3}
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				to := cache.TableOptions[[16]byte, []byte]{}
				to.DefaultMaxAge = 2 * time.Hour
				t := benchTable(b, to)
				fill(b, t, n, runtime.GOMAXPROCS(0), o)
				b.ReportMetric(float64(poolStats(t))/float64(n), "B/entry")
				ts, ps := t.Stats(), t.Cache().Pile().Stats()
				b.ReportMetric(ts.LoadFactor, "load")
				b.ReportMetric(float64(ts.IndexBytes)/float64(n), "index-B/entry")
				b.ReportMetric(float64(ps.FreeBytes)/float64(n), "free-B/entry")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}
