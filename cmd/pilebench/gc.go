package main

import (
	"math"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/bigpile/bigpile/pile"
)

// collections is how often a full collection is forced.
const collections = 9

// gcFigures is what full collections cost while everything is alive.
type gcFigures struct {
	full     spread        // wall time of runtime.GC, seconds
	markCPU  time.Duration // a collection, assists and idle workers included
	maxPause time.Duration // the largest stop of the world in them
}

// collectFully forces full collections and measures them.
func collectFully() gcFigures {
	runtime.GC() // finishes what was begun
	pauses, mark := pauseCounts(), markSeconds()
	times := make([]float64, collections)
	for i := range times {
		begun := time.Now()
		runtime.GC()
		times[i] = time.Since(begun).Seconds()
	}
	perCollection := (markSeconds() - mark) / collections
	return gcFigures{
		full:     spreadOf(times),
		markCPU:  time.Duration(perCollection * float64(time.Second)),
		maxPause: largestPause(pauses),
	}
}

// markSeconds returns the processor time spent on marking so far.
func markSeconds() (sum float64) {
	s := []metrics.Sample{
		{Name: "/cpu/classes/gc/mark/assist:cpu-seconds"},
		{Name: "/cpu/classes/gc/mark/dedicated:cpu-seconds"},
		{Name: "/cpu/classes/gc/mark/idle:cpu-seconds"},
	}
	metrics.Read(s)
	for _, one := range s {
		sum += one.Value.Float64()
	}
	return sum
}

// pauseHistogram reads the stops of the world by the collector.
func pauseHistogram() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64Histogram()
}

func pauseCounts() []uint64 { return pauseHistogram().Counts }

// largestPause returns the largest pause since the counts were taken; nil means
// since the process began. The runtime keeps a histogram, so it is the upper
// bound of the bucket: the pause was not longer than this.
func largestPause(since []uint64) time.Duration {
	h := pauseHistogram()
	for i := len(h.Counts) - 1; i >= 0; i-- {
		if h.Counts[i] == 0 || since != nil && h.Counts[i] == since[i] {
			continue
		}
		bound := h.Buckets[i+1]
		if math.IsInf(bound, 1) {
			bound = h.Buckets[i]
		}
		return time.Duration(bound * float64(time.Second))
	}
	return 0
}

// residentTrusted is the size of a pile from which the growth of the resident
// memory tells the cost of a value; below, it tells that of the program.
const residentTrusted = 256 << 20

// collect measures what depends on everything being alive.
func (v *values) collect() error {
	v.b.report.alive = measureAlive(v.b, v.pile, v.b.plan.n, v.resting)
	return nil
}

// measureAlive measures with n values in p, before which the process was
// resting with so much resident memory.
func measureAlive(b *bench, p *pile.Pile, n, resting int64) *aliveFigures {
	b.progress.begin("collect", collections)
	figures := collectFully()
	stats := p.Stats()
	use, told := residentMemory()
	handles := n * 8
	a := &aliveFigures{
		objects: stats.Objects, allocatedPer: bytesPerValue(p), gc: figures,
		residentPer: float64(use-resting-handles) / float64(max(1, stats.Objects)),
		resident:    use, handles: handles, segments: stats.Segments,
	}
	a.bytesPerValue = a.allocatedPer
	if told && stats.AllocatedBytes >= residentTrusted {
		a.bytesPerValue = max(a.allocatedPer, a.residentPer)
	}
	if stats.Objects != n {
		b.verdict.wrong.Add(1)
		b.verdict.describe("collect: the pile counts " + formatCount(stats.Objects) + " objects, " +
			formatCount(n) + " were put")
	}
	return a
}
