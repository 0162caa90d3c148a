package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"sync"
	"time"
)

// task is what the parent tells a child to do; outcome is what it answers, each a line of JSON. A child
// holds one store. In processes of their own no store profits from the memory of another one, or
// pays for its collector, and still they take turns step by step.
type task struct {
	Step     string `json:"step"`
	Entries  int    `json:"entries"`
	Ops      int    `json:"ops"`
	Seed     uint64 `json:"seed"`
	Presized bool   `json:"presized"`
	Profile  string `json:"profile"` // a file for a CPU profile of the step
}

type outcome struct {
	Ops     int64     `json:"ops"`
	Wall    float64   `json:"wall"` // seconds
	CPU     float64   `json:"cpu"`  // seconds of all processors
	Checked int64     `json:"checked"`
	Wrong   int64     `json:"wrong"`
	Lost    int64     `json:"lost"`
	Value   float64   `json:"value"` // what is not a rate
	Tail    *tails    `json:"tail,omitempty"`
	Config  string    `json:"config,omitempty"`
	Error   string    `json:"error,omitempty"`
	Times   []float64 `json:"times,omitempty"`
}

// child is a process that holds a store.
type child struct {
	side       side
	store      store
	n          int
	generation uint64
	resting    int64 // resident memory before the store was made
	verdict    verdict
}

// serve does what the lines of in say until they end.
func serve(name string, in io.Reader, out io.Writer) error {
	s, ok := sideOf(name)
	if !ok {
		return fmt.Errorf("no side %q", name)
	}
	c := &child{side: s}
	dec, enc := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var t task
		if err := dec.Decode(&t); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := enc.Encode(c.answer(t)); err != nil {
			return err
		}
	}
}

func (c *child) answer(t task) outcome {
	stop, err := profile(t.Profile)
	if err != nil {
		return outcome{Error: err.Error()}
	}
	o, err := c.do(t)
	stop()
	if err != nil {
		o.Error = err.Error()
	}
	o.Checked, o.Wrong, o.Lost = c.verdict.checked.Swap(0), c.verdict.wrong.Swap(0), c.verdict.lost.Swap(0)
	return o
}

func profile(name string) (func(), error) {
	if name == "" {
		return func() {}, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close() // nothing is left to do about it
	}, nil
}

func (c *child) do(t task) (outcome, error) {
	switch t.Step {
	case "fill":
		return c.fill(t)
	case "latency", "latency-cpu":
		return c.latency(t)
	case "overwrite", "overwrite-many":
		c.generation++
		return c.puts(c.n, scattered(c.n), t.Step == "overwrite-many")
	case "get":
		return c.gets(t.Ops, uniform(c.n, t.Seed))
	case "get-many":
		return c.getMany(t.Ops, uniform(c.n, t.Seed))
	case "zipf":
		return c.mixed(t.Ops, zipf(c.n, t.Ops, t.Seed))
	case "verify":
		return c.gets(c.n, inOrder)
	case "resident":
		return c.resident(), nil
	case "collect":
		return collect(), nil
	case "idle":
		return idle(time.Duration(t.Ops) * time.Millisecond), nil
	}
	return outcome{}, fmt.Errorf("no step %q", t.Step)
}

// open makes the store. The opening is part of a fill: room made in advance is not for free.
func (c *child) open(t task) (opened, error) {
	c.n, c.generation = t.Entries, 1
	// The fill, an overwriting in single puts and one in batches, and what zipf puts.
	writes := 3*t.Entries + t.Ops
	o, err := c.side.open(sizing{entries: t.Entries, presized: t.Presized, writes: writes})
	c.store = o.store
	return o, err
}

func (c *child) fill(t task) (outcome, error) {
	debug.FreeOSMemory()
	c.resting = residentBytes()
	begun, cpu := time.Now(), processorTime()
	opened, err := c.open(t)
	if err != nil {
		return outcome{}, err
	}
	o, err := c.puts(t.Entries, inOrder, false)
	o.Wall, o.CPU = time.Since(begun).Seconds(), (processorTime() - cpu).Seconds()
	o.Config = opened.config
	return o, err
}

// each runs count operations on all processors, a chunk at a time.
func (c *child) each(count int, o order, w what, fn func(ch *chunk, places int, t *tally) error) (outcome, error) {
	workers := runtime.GOMAXPROCS(0)
	var done sync.WaitGroup
	errs := make([]error, workers)
	w.generation, w.texts = c.generation, c.side.texts
	begun, cpu := time.Now(), processorTime()
	for k := range workers {
		done.Go(func() {
			var t tally
			defer func() { c.verdict.add(&t) }()
			ch := new(chunk)
			for at, end := count*k/workers, count*(k+1)/workers; at < end; at += ch.count {
				ch.count = min(chunkSize, end-at)
				for i := range ch.count {
					ch.indexes[i] = o(at + i)
				}
				ch.make(w)
				if errs[k] = fn(ch, at, &t); errs[k] != nil {
					return
				}
			}
		})
	}
	done.Wait()
	return outcome{
		Ops: int64(count), Wall: time.Since(begun).Seconds(), CPU: (processorTime() - cpu).Seconds(),
	}, errors.Join(errs...)
}

func (c *child) puts(count int, o order, batched bool) (outcome, error) {
	batch, ok := c.store.(manyPutter)
	if batched && !ok {
		return outcome{}, errors.New("has no batches")
	}
	return c.each(count, o, what{values: true}, func(ch *chunk, _ int, _ *tally) error {
		if batched {
			for from := 0; from < ch.count; from += many {
				if err := batch.putMany(ch, from, min(from+many, ch.count)); err != nil {
					return err
				}
			}
			return nil
		}
		for i := range ch.count {
			if err := c.store.put(ch, i); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *child) gets(count int, o order) (outcome, error) {
	return c.each(count, o, what{}, func(ch *chunk, _ int, t *tally) error {
		buf := make([]byte, 0, valueSize) // on the stack of neither: an allocation in hundreds of gets
		for i := range ch.count {
			v, ok := c.store.get(ch, i, buf)
			t.judge(v, ok, &ch.keys[i], c.generation)
		}
		return nil
	})
}

func (c *child) getMany(count int, o order) (outcome, error) {
	s, ok := c.store.(manyGetter)
	if !ok {
		return outcome{}, errors.New("has no batches")
	}
	return c.each(count, o, what{}, func(ch *chunk, _ int, t *tally) error {
		judge := func(i int, v []byte, ok bool) { t.judge(v, ok, &ch.keys[i], c.generation) }
		for from := 0; from < ch.count; from += many {
			s.getMany(ch, from, min(from+many, ch.count), judge)
		}
		return nil
	})
}

// mixed gets nine times and puts once in ten.
func (c *child) mixed(count int, o order) (outcome, error) {
	return c.each(count, o, what{values: true}, func(ch *chunk, at int, t *tally) error {
		buf := make([]byte, 0, valueSize)
		for i := range ch.count {
			if (at+i)%10 == 0 {
				if err := c.store.put(ch, i); err != nil {
					return err
				}
				continue
			}
			v, ok := c.store.get(ch, i, buf)
			t.judge(v, ok, &ch.keys[i], c.generation)
		}
		return nil
	})
}

// resident is the growth of the resident memory since before the store was made, garbage given back.
func (c *child) resident() outcome {
	debug.FreeOSMemory()
	runtime.KeepAlive(c.store)
	return outcome{Value: float64(residentBytes()-c.resting) / float64(c.n)}
}

// collections is how many full collections a median is of.
const collections = 9

func collect() outcome {
	runtime.GC() // finishes what was begun
	times := make([]float64, collections)
	for i := range times {
		begun := time.Now()
		runtime.GC()
		times[i] = time.Since(begun).Seconds() * 1e3
	}
	slices.Sort(times)
	return outcome{Value: times[collections/2], Times: times}
}

// idle is the share of a processor, in percent, that a store takes while nobody uses it.
func idle(d time.Duration) outcome {
	runtime.GC() // what is left to sweep and to give back is not the store's
	time.Sleep(d / 10)
	begun, cpu := time.Now(), processorTime()
	time.Sleep(d)
	return outcome{Value: 100 * (processorTime() - cpu).Seconds() / time.Since(begun).Seconds()}
}
