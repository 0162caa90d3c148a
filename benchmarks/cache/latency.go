package main

import (
	"runtime"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// tails are the quantiles of a latency, in microseconds.
type tails struct {
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p999"`
	P9999 float64 `json:"p9999"`
	Worst float64 `json:"worst"`
}

// The bounds of the histogram: nanoseconds, three digits.
const (
	latencyMax    = int64(10 * time.Second)
	latencyDigits = 3
)

// latency fills a store that grows from empty and times every put: by the clock, or by what the thread
// used of the processor, which leaves out the time in which the machine did something else (and
// the waiting for a lock).
func (c *child) latency(t task) (outcome, error) {
	opened, err := c.open(t)
	if err != nil {
		return outcome{}, err
	}
	start := time.Now()
	clock := func() time.Duration { return time.Since(start) }
	if t.Step == "latency-cpu" {
		clock = threadTime
	}
	whole := hdrhistogram.New(1, latencyMax, latencyDigits)
	var mu sync.Mutex // guards whole and failed
	var failed error
	var done sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for k := range workers {
		done.Go(func() {
			runtime.LockOSThread() // the time is that of a thread
			defer runtime.UnlockOSThread()
			h := hdrhistogram.New(1, latencyMax, latencyDigits)
			err := c.timedPuts(h, clock, t.Entries*k/workers, t.Entries*(k+1)/workers)
			mu.Lock()
			defer mu.Unlock()
			whole.Merge(h)
			if err != nil {
				failed = err
			}
		})
	}
	done.Wait()
	at := func(q float64) float64 { return float64(whole.ValueAtQuantile(q)) / 1e3 }
	return outcome{
		Ops: whole.TotalCount(), Wall: time.Since(start).Seconds(), Config: opened.config,
		Tail: &tails{at(50), at(99), at(99.9), at(99.99), float64(whole.Max()) / 1e3},
	}, failed
}

func (c *child) timedPuts(h *hdrhistogram.Histogram, clock func() time.Duration, from, to int) error {
	ch := new(chunk)
	for at := from; at < to; at += ch.count {
		ch.count = min(chunkSize, to-at)
		for i := range ch.count {
			ch.indexes[i] = uint32(at + i)
		}
		ch.make(what{generation: c.generation, values: true, texts: c.side.texts})
		for i := range ch.count {
			before := clock()
			if err := c.store.put(ch, i); err != nil {
				return err
			}
			if err := h.RecordValue(int64(max(1, clock()-before))); err != nil {
				return err
			}
		}
	}
	return nil
}
