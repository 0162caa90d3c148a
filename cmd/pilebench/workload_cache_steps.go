package main

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/bigpile/bigpile/cache"
)

// putEntries puts the entries of a span of places.
func (w *tables) putEntries(t *task, s span, at func(int64) int64, many bool) (int64, error) {
	return s.count, w.eachEntry(t, s, at, true, func(e *entries, _ int64, count int) error {
		if many {
			_, err := w.table.PutMany(e.keys[:count], e.values[:count], cache.PutOptions{})
			return err
		}
		for i := range count {
			if _, err := w.table.Put(e.keys[i], e.values[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// fillSide fills a new table in each round; the last one stays.
func (w *tables) fillSide(name string, capacity int64) side {
	return side{
		name:    name,
		prepare: func(int) error { return w.closeTable() },
		begin:   func(int) error { return w.openTable(capacity) },
		work: func(t *task) (int64, error) {
			return w.putEntries(t, span{0, w.b.plan.n}.part(t.worker, t.workers), inOrder, false)
		},
	}
}

// tableFills is how often a table is filled from empty; the first warms up.
const tableFills = 3

// addRates adds a row of what was measured.
func (w *tables) addRates(op string, s series) {
	if len(s) > 0 {
		w.b.report.add(row{op: op, rate: s.rate(), allocs: known(s.allocsPerOp())})
	}
}

func (w *tables) fillPresized() error {
	w.generation = 1
	w.b.progress.begin("fill-presized", tableFills*w.b.plan.n)
	measured, err := alternate(w.b, tableFills, w.fillSide("fill-presized", w.b.plan.n))
	w.addRates("fill-presized", measured[0])
	return err
}

func (w *tables) fillGrowing() error {
	if err := w.closeTable(); err != nil {
		return err
	}
	debug.FreeOSMemory()
	w.resting, _ = residentMemory()
	w.b.progress.begin("fill", tableFills*w.b.plan.n)
	measured, err := alternate(w.b, tableFills, w.fillSide("fill", 0))
	w.addRates("fill", measured[0])
	if sum := measured[0].total(); err == nil {
		w.b.report.filled, w.b.report.fillTime = sum.ops, time.Duration(sum.seconds*float64(time.Second))
	}
	return err
}

// collect measures what depends on everything being alive.
func (w *tables) collect() error {
	w.b.progress.begin("collect", collections)
	figures := collectFully()
	use, told := residentMemory()
	stats, n := w.cache.Stats(), float64(w.b.plan.n)
	a := &aliveFigures{
		objects: stats.Entries, gc: figures, resident: use, segments: stats.Pile.Segments,
		allocatedPer: float64(stats.Pile.AllocatedBytes) / n, residentPer: float64(use-w.resting) / n,
	}
	a.bytesPerValue = a.allocatedPer
	if told && stats.Pile.AllocatedBytes >= residentTrusted {
		a.bytesPerValue = max(a.allocatedPer, a.residentPer)
	}
	w.b.report.alive = a
	w.b.report.plan.notes = append(w.b.report.plan.notes, fmt.Sprintf(
		"index %.2f bytes an entry at a load of %.3f; payload %.2f: key, value, and what is known about the entry",
		float64(stats.IndexBytes)/n, stats.LoadFactor, float64(stats.PayloadBytes)/n))
	if stats.Entries != w.b.plan.n {
		w.b.verdict.wrong.Add(1)
		w.b.verdict.describe("collect: the table counts " + formatCount(stats.Entries) + " entries, " +
			formatCount(w.b.plan.n) + " were put")
	}
	return nil
}

// reads compares batches with single reads, of entries picked at random.
func (w *tables) reads() error {
	rounds := w.b.rounds + 1
	w.b.progress.begin("reads", 2*int64(rounds)*w.b.plan.readOps)
	picked := func(name string, stream uint64, read func(t *task, s span, at func(int64) int64) error) side {
		return side{name: name, work: func(t *task) (int64, error) {
			s := span{0, w.b.plan.readOps}.part(t.worker, t.workers)
			random := randomizer(mix(w.b.seed) ^ mix(stream<<32|uint64(t.round)<<16|uint64(t.worker)))
			w.b.verdict.checked.Add(s.count)
			return s.count, read(t, s, func(int64) int64 { return int64(random.below(uint64(w.b.plan.n))) })
		}}
	}
	measured, err := alternate(w.b, rounds, picked("get", 1, w.getEach), picked("get-batch", 2, w.getMany))
	w.addRates("get", measured[0])
	if len(measured[1]) > 0 {
		w.b.report.add(row{
			op: "get-batch", rate: measured[1].rate(), against: "get", ratio: ratioOf(measured[1], measured[0]),
			allocs: known(measured[1].allocsPerOp()),
		})
	}
	return err
}

func (w *tables) getEach(t *task, s span, at func(int64) int64) error {
	buf := make([]byte, 0, w.b.size)
	return w.eachEntry(t, s, at, false, func(e *entries, _ int64, count int) error {
		for i := range count {
			v, ok := w.table.AppendValue(buf[:0], e.keys[i])
			w.judge("get", e.index[i], v, ok)
		}
		return nil
	})
}

func (w *tables) getMany(t *task, s span, at func(int64) int64) error {
	return w.eachEntry(t, s, at, false, func(e *entries, _ int64, count int) error {
		w.table.GetMany(e.keys[:count], func(i int, v []byte, ok bool) bool {
			w.judge("get-batch", e.index[i], v, ok)
			return true
		})
		return nil
	})
}

// overwrite puts another value under every key, one by one and by the batch.
func (w *tables) overwrite() error {
	w.b.progress.begin("overwrite", 2*tableFills*w.b.plan.n)
	puts := func(name string, many bool) side {
		return side{
			name:    name,
			prepare: func(int) error { w.generation++; return nil },
			work: func(t *task) (int64, error) {
				return w.putEntries(t, span{0, w.b.plan.n}.part(t.worker, t.workers), w.scattered, many)
			},
		}
	}
	measured, err := alternate(w.b, tableFills, puts("overwrite", false), puts("overwrite-batch", true))
	w.addRates("overwrite", measured[0])
	if len(measured[1]) > 0 {
		w.b.report.add(row{
			op: "overwrite-batch", rate: measured[1].rate(), against: "overwrite",
			ratio: ratioOf(measured[1], measured[0]), allocs: known(measured[1].allocsPerOp()),
		})
	}
	return err
}

// The skew of the popularity of keys, and how often they are put rather than got.
const (
	zipfS     = 1.001
	zipfV     = 10
	zipfPutIn = 10
)

// zipf gets nine times and puts once in ten, some keys much more often.
func (w *tables) zipf() error {
	rounds := w.b.rounds + 1
	w.b.progress.begin("zipf", int64(rounds)*w.b.plan.readOps)
	picks, err := newNumbers(w.b.plan.readOps)
	if err != nil {
		return err
	}
	measured, err := alternate(w.b, rounds, side{
		name: "zipf",
		prepare: func(round int) error {
			z := rand.NewZipf(rand.New(rand.NewPCG(w.b.seed, uint64(round))), zipfS, zipfV, uint64(w.b.plan.n-1))
			for i := range w.b.plan.readOps {
				picks.set(i, z.Uint64())
			}
			return nil
		},
		work: func(t *task) (int64, error) {
			s := span{0, w.b.plan.readOps}.part(t.worker, t.workers)
			return s.count, w.getAndPut(t, s, func(place int64) int64 { return int64(picks.get(place)) })
		},
	})
	w.addRates("zipf", measured[0])
	return firstError([]error{err, picks.close()})
}

func (w *tables) getAndPut(t *task, s span, at func(int64) int64) error {
	buf := make([]byte, 0, w.b.size)
	return w.eachEntry(t, s, at, true, func(e *entries, first int64, count int) error {
		gets := int64(0)
		for i := range count {
			if (first+int64(i))%zipfPutIn == 0 {
				if _, err := w.table.Put(e.keys[i], e.values[i]); err != nil {
					return err
				}
				continue
			}
			v, ok := w.table.AppendValue(buf[:0], e.keys[i])
			w.judge("zipf", e.index[i], v, ok)
			gets++
		}
		w.b.verdict.checked.Add(gets)
		return nil
	})
}

// readBack reads every entry once, in the order of putting.
func (w *tables) readBack() error {
	w.b.progress.begin("read back", w.b.plan.n)
	one, err := runRound(w.b, 0, &side{name: "read back", work: func(t *task) (int64, error) {
		s := span{0, w.b.plan.n}.part(t.worker, t.workers)
		w.b.verdict.checked.Add(s.count)
		return s.count, w.getMany(t, s, inOrder)
	}})
	if err == nil {
		w.addRates("read-back", series{one})
	}
	return err
}

// remove removes every entry, and makes sure that they are gone.
func (w *tables) remove() error {
	w.b.progress.begin("delete", w.b.plan.n)
	one, err := runRound(w.b, 0, &side{name: "delete", work: func(t *task) (int64, error) {
		s := span{0, w.b.plan.n}.part(t.worker, t.workers)
		return s.count, w.eachEntry(t, s, w.scattered, false, func(e *entries, _ int64, count int) error {
			for i := range count {
				if !w.table.Remove(e.keys[i]) {
					w.judge("delete", e.index[i], nil, false)
				}
			}
			return nil
		})
	}})
	if err != nil {
		return err
	}
	w.addRates("delete", series{one})
	if left := w.table.Len(); left != 0 {
		w.b.verdict.wrong.Add(1)
		w.b.verdict.describe("delete: " + formatCount(int64(left)) + " entries are left after all were removed")
	}
	return w.closeTable()
}
