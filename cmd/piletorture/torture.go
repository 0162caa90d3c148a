package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bigpile/bigpile/pile"
)

// maxDetails is how many wrong values are described; the rest is only counted.
const maxDetails = 20

// cell is one place of the table. Its lock is held by whoever changes the object, never by a reader.
type cell struct {
	mu  sync.Mutex
	now atomic.Pointer[object]
}

type torture struct {
	p     *pile.Pile
	c     config
	cells []cell

	// quiet is read-locked around each step of a worker; an inspection takes it whole.
	quiet    sync.RWMutex
	stop     atomic.Bool
	owners   atomic.Uint64
	phase    atomic.Int64
	printing sync.Mutex

	ops                              []atomic.Int64
	checks, outOfSpace, stale, wrong atomic.Int64
	detailsMu                        sync.Mutex
	details                          []string

	buriedMu sync.Mutex
	buried   []pile.PilePointer // some of the handles that died, of all times
}

func newTorture(p *pile.Pile, c config) *torture {
	return &torture{p: p, c: c, cells: make([]cell, c.objects), ops: make([]atomic.Int64, len(opNames))}
}

// wrongValue reports a promise that was broken.
func (t *torture) wrongValue(call string, ptr pile.PilePointer, expected, found string) {
	n := t.wrong.Add(1)
	text := fmt.Sprintf("%s(%v): expected %s, found %s", call, ptr, expected, found)
	t.detailsMu.Lock()
	if len(t.details) < maxDetails {
		t.details = append(t.details, text)
	}
	t.detailsMu.Unlock()
	if n <= maxDetails {
		t.say("wrong", map[string]any{"call": call, "handle": ptr, "expected": expected, "found": found}, "WRONG %s", text)
	}
}

// phases are the sizes in fashion; from one to the next most objects are replaced.
var phases = []struct {
	name     string
	min, max int
}{
	{"small", leastValue, 64}, {"medium", 200, 1500}, {"tiny and large", leastValue, 90_000},
	{"one size", 128, 128}, {"pages", 3000, 20_000}, {"mixed", leastValue, 4000},
}

func (t *torture) size(rng *rand.Rand) int {
	ph := phases[int(t.phase.Load())%len(phases)]
	n := ph.min + rng.IntN(ph.max-ph.min+1)
	if ph.max > 20_000 && rng.IntN(20) > 0 {
		return leastValue + n%100 // large ones are rare
	}
	return n
}

// work runs the workers until the time is over or ctx ends, changes the phase, inspects and prints progress.
func (t *torture) work(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, t.c.duration)
	defer cancel()
	var workers sync.WaitGroup
	for g := range t.c.goroutines {
		rng := rand.New(rand.NewPCG(t.c.seed, uint64(g)))
		workers.Go(func() { t.worker(g, rng) })
	}
	rng := rand.New(rand.NewPCG(t.c.seed, 1<<32))
	step := min(max(t.c.duration/60, 200*time.Millisecond), 5*time.Second)
	tick := time.NewTicker(step)
	defer tick.Stop()
	start := time.Now()
	for i := 1; ; i++ {
		select {
		case <-ctx.Done():
			t.stop.Store(true)
			workers.Wait()
			return
		case <-tick.C:
		}
		t.inspect(rng.IntN(8) == 0)
		if i%2 == 0 {
			t.shift(rng)
		}
		s := t.p.Stats()
		t.say("progress", map[string]any{"seconds": time.Since(start).Seconds(), "ops": t.total(), "wrong": t.wrong.Load(), "objects": s.Objects, "allocated": s.AllocatedBytes},
			"%6.1f s  %11d ops  %6d objects  %5d MiB  phase %s  wrong %d",
			time.Since(start).Seconds(), t.total(), s.Objects, s.AllocatedBytes>>20, phases[int(t.phase.Load())%len(phases)].name, t.wrong.Load())
	}
}

// shift begins another phase: most objects go, and their pages are wanted for another class.
func (t *torture) shift(rng *rand.Rand) {
	t.phase.Add(1)
	for i := range t.cells {
		if rng.IntN(4) > 0 {
			t.quiet.RLock()
			t.remove(i, rng)
			t.quiet.RUnlock()
		}
	}
	if rng.IntN(2) == 0 {
		t.compact(rng)
	}
}

func (t *torture) total() (n int64) {
	for i := range t.ops {
		n += t.ops[i].Load()
	}
	return n
}

func (t *torture) result(took time.Duration) result {
	r := result{
		Seed: t.c.seed, Seconds: took.Seconds(), Ops: map[string]int64{}, Checks: t.checks.Load(),
		OutOfSpace: t.outOfSpace.Load(), Stale: t.stale.Load(), Wrong: t.wrong.Load(), Details: t.details,
	}
	for i, name := range opNames {
		r.Ops[name] = t.ops[i].Load()
	}
	return r
}

// yield gives the processor away now and then, so that others come in between two steps.
func yield(rng *rand.Rand) {
	for range max(0, rng.IntN(6)-3) {
		runtime.Gosched()
	}
}
