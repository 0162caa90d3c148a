package main

import (
	"math"
	"runtime"
	"runtime/metrics"
	"time"
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

// memoryUse is the memory of the process at one moment.
type memoryUse struct {
	resident int64
}

func currentUse() memoryUse {
	resident, _ := residentMemory()
	return memoryUse{resident}
}

// collect measures what depends on everything being alive.
func (v *values) collect() error {
	v.b.progress.begin("collect", collections)
	figures := collectFully()
	stats, use := v.pile.Stats(), currentUse()
	handles := v.b.plan.n * 8
	v.b.report.alive = &aliveFigures{
		objects:       stats.Objects,
		bytesPerValue: bytesPerValue(v.pile),
		residentPer:   float64(use.resident-v.resting.resident-handles) / float64(max(1, stats.Objects)),
		gc:            figures,
		resident:      use.resident,
		handles:       handles,
		segments:      stats.Segments,
	}
	if stats.Objects != v.b.plan.n {
		v.b.verdict.wrong.Add(1)
		v.b.verdict.describe("collect: the pile counts " + formatCount(stats.Objects) + " objects, " +
			formatCount(v.b.plan.n) + " were put")
	}
	return nil
}
