package main

import (
	"errors"
	"fmt"
	"runtime/metrics"
	"sync"
	"time"
)

// errInterrupted ends a step early; what was measured before it stays.
var errInterrupted = errors.New("interrupted")

// side is one of the things that are compared: they take turns, round by
// round, so that whatever else the machine does meets all of them.
type side struct {
	name       string
	goroutines int                                  // 0: as -goroutines says
	prepare    func(round int) error                // before the clock runs; may be nil
	begin      func(round int) error                // while it runs, before the goroutines; may be nil
	work       func(t *task) (int64, error)         // while it runs, on each goroutine; returns the operations done
	finish     func(round int, complete bool) error // after it; may be nil
}

// task is the work of one goroutine in one round.
type task struct {
	round, worker, workers int
	bench                  *bench
	counter                *counter
}

// step counts operations for the progress shown, and returns errInterrupted
// when the work is to stop. Loops call it once for hundreds of operations.
func (t *task) step(ops int) error {
	t.counter.Add(int64(ops))
	if t.bench.stopped.Load() {
		return errInterrupted
	}
	return nil
}

// alternate runs the sides in turn for some rounds. The first round warms up
// and is not in the result; the order of the sides rotates from round to round.
// With an error the result has the rounds that were complete.
func alternate(b *bench, rounds int, sides ...side) ([]series, error) {
	result := make([]series, len(sides))
	for round := range rounds {
		for k := range sides {
			i := (k + round) % len(sides)
			one, err := runRound(b, round, &sides[i])
			if err != nil {
				return result, err
			}
			b.logRound(round, sides[i].name, one)
			if round > 0 {
				result[i] = append(result[i], one)
			}
		}
	}
	return result, nil
}

// runRound measures one round of one side.
func runRound(b *bench, round int, s *side) (one sample, err error) {
	if b.stopped.Load() {
		return one, errInterrupted
	}
	if s.prepare != nil {
		if err := s.prepare(round); err != nil {
			return one, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	one, err = timed(b, round, s)
	if s.finish != nil {
		err = errors.Join(err, s.finish(round, err == nil))
	}
	if err != nil && !errors.Is(err, errInterrupted) {
		err = fmt.Errorf("%s: %w", s.name, err)
	}
	return one, err
}

// timed starts the goroutines at once and stops the clock when the last one is
// through.
func timed(b *bench, round int, s *side) (sample, error) {
	workers := s.goroutines
	if workers == 0 {
		workers = b.goroutines
	}
	var (
		start = make(chan struct{})
		done  sync.WaitGroup
		ops   = make([]int64, workers)
		errs  = make([]error, workers)

		failed error // of begin; written before start is closed
	)
	for w := range workers {
		t := &task{round: round, worker: w, workers: workers, bench: b, counter: b.progress.counter(w)}
		done.Go(func() {
			if <-start; failed == nil {
				ops[w], errs[w] = s.work(t)
			}
		})
	}
	allocs, cpu, begun := heapAllocs(), processorTime(), time.Now()
	if s.begin != nil {
		failed = s.begin(round)
	}
	close(start)
	done.Wait()
	one := sample{seconds: time.Since(begun).Seconds(), allocs: heapAllocs() - allocs, cpu: processorTime() - cpu}
	for _, n := range ops {
		one.ops += n
	}
	return one, firstError(append(errs, failed))
}

// firstError prefers a real error to an interruption.
func firstError(errs []error) (first error) {
	for _, err := range errs {
		if err != nil && (first == nil || errors.Is(first, errInterrupted)) {
			first = err
		}
	}
	return first
}

// heapAllocs returns how many objects were ever allocated on the Go heap.
func heapAllocs() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// inParallel runs untimed work on all goroutines.
func inParallel(b *bench, work func(t *task) error) error {
	s := side{name: "prepare", work: func(t *task) (int64, error) { return 0, work(t) }}
	_, err := timed(b, 0, &s)
	return err
}
