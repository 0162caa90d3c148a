package main

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/bigpile/bigpile/pile"
	"github.com/bigpile/bigpile/serializer"
)

// records is the workloads of typed values: each kind of value is made afresh
// for each Put, in a pile of its own, and read back as the value that it was.
type records struct {
	b      *bench
	kinds  []kind
	most   int64 // values of the first kind, for the others the same or fewer
	counts []int64

	pile    *pile.Pile // of the kind being measured
	handles *numbers
}

// kind is a type of value and the way it is stored.
type kind struct {
	name   string
	stride float64 // bytes a value takes at most, header included; for the plan
	every  int64   // one value for so many of -n
	types  func() (*serializer.Registry, error)
	open   func(p *pile.Pile) (session, error)
}

// session makes, puts and gets the values of a kind, for one goroutine.
type session interface {
	// make makes value i and puts it nowhere.
	make(i int64)
	// put makes value i and puts it.
	put(i int64) (pile.PilePointer, error)
	// get reports whether the value of the handle is value i.
	get(handle pile.PilePointer, i int64) (bool, error)
}

// recordsGOGC keeps the collector from running hundreds of times a second for
// the values that are made, beside a heap of next to nothing.
const recordsGOGC = 800

// openRecords is what the workloads of records begin with.
func openRecords(most int64, kinds []kind) (workload, error) {
	debug.SetGCPercent(recordsGOGC)
	return &records{kinds: kinds, most: most}, nil
}

// recordsWanted is the bytes that a default run puts of the first kind.
const recordsWanted = 1_600_000_000

func (r *records) plan(c *config, allowed int64) (plan, error) {
	p := plan{n: c.n, allowed: allowed, stride: r.kinds[0].stride, meanSize: r.kinds[0].stride - headerSize}
	if p.n == 0 {
		fits := (float64(allowed)/2 - programBytes) / r.dearest()
		p.n = roundDown(int64(min(fits, recordsWanted/p.stride)))
	}
	if p.n > r.most {
		return p, fmt.Errorf("-n %d: -workload %s numbers up to %d values", p.n, c.workload, r.most)
	}
	p.need = int64(float64(p.n)*r.dearest()) + programBytes
	if p.n < valuesMin || p.need > allowed {
		return p, fmt.Errorf("-n %d: needs %s, but this process may use %s: "+
			"free memory, raise the container's limit, or take -n %d or less", p.n, formatSize(p.need),
			formatSize(allowed), max(0, roundDown(int64((float64(allowed)-programBytes)/r.dearest()))))
	}
	p.fillRounds = c.rounds + 1
	p.roundPuts = max(1, p.n/int64(p.fillRounds))
	p.readOps = min(readOpsWanted, p.n)
	p.settle = p.need - programBytes
	p.notes = append(p.notes, fmt.Sprintf("GOGC is %d, for the values that are made are garbage once they are put", recordsGOGC))
	for _, k := range r.kinds {
		r.counts = append(r.counts, max(int64(p.fillRounds), p.n/k.every))
	}
	return p, nil
}

// dearest is the bytes that one of n takes in the kind that takes most, its
// handle included. The kinds do not exist at the same time.
func (r *records) dearest() (most float64) {
	for _, k := range r.kinds {
		most = max(most, k.stride*1.015/float64(k.every)+8.25)
	}
	return most
}

func (r *records) steps(b *bench) []step {
	r.b = b
	b.report.roundsNote = fmt.Sprintf("%d for each kind, making and putting in turn, the first discarded; "+
		"ratio: median of the rounds; memory fresh", b.plan.fillRounds)
	steps := []step{{"settle", func() error { return settle(b) }}}
	for i := range r.kinds {
		steps = append(steps, step{r.kinds[i].name, func() error { return r.measure(i) }})
	}
	return steps
}

func (r *records) close() {
	// All of this is given back by the end of the process in any case.
	_ = errors.Join(closePile(r.pile), r.handles.close())
}

// measure does everything with one kind, in a pile of its own.
func (r *records) measure(i int) (err error) {
	k, n := r.kinds[i], r.counts[i]
	types, err := k.types()
	if err != nil {
		return err
	}
	before, _ := residentMemory()
	if r.pile, err = r.b.openPileOf(types); err != nil {
		return err
	}
	if r.handles, err = newNumbers(n); err != nil {
		return err
	}
	if err := r.fill(k, n); err != nil {
		return err
	}
	alive := measureAlive(r.b, r.pile, n, before)
	if r.b.report.alive == nil { // of the first kind, which the report is about
		r.b.report.alive = alive
	}
	r.b.report.rows[len(r.b.report.rows)-1].bytes = alive.bytesPerValue
	r.b.report.note(fmt.Sprintf("%s: %.2f bytes a value in the segments, %.2f by resident memory; full collection %s, "+
		"mark CPU %s", k.name, alive.allocatedPer, alive.residentPer, millis(alive.gc.full.median), formatMillis(alive.gc.markCPU)))
	if err := r.read(k, n); err != nil {
		return err
	}
	err = errors.Join(closePile(r.pile), r.handles.close())
	r.pile, r.handles = nil, nil
	return err
}

// fill makes the values alone and makes and puts them, in turn.
func (r *records) fill(k kind, n int64) error {
	rounds := r.b.plan.fillRounds
	span := func(t *task) span { return span{0, n}.part(t.round, rounds).part(t.worker, t.workers) }
	making := side{name: "make " + k.name, work: r.work(k, span, func(s session, i int64) error {
		s.make(i)
		return nil
	})}
	putting := side{name: "put " + k.name, work: r.work(k, span, func(s session, i int64) error {
		handle, err := s.put(i)
		r.handles.set(i, uint64(handle))
		return err
	})}
	putting.prepare = func(round int) error {
		r.handles.commit(allOf(n).part(round, rounds))
		return nil
	}
	r.b.progress.begin("put "+k.name, 2*n)
	measured, err := alternate(r.b, rounds, making, putting)
	if len(measured[1]) > 0 {
		r.b.report.add(row{op: "make-" + k.name, rate: measured[0].rate(), allocs: known(measured[0].allocsPerOp()),
			cpu: measured[0].cpuPerOp()})
		r.b.report.add(row{op: "put-" + k.name, rate: measured[1].rate(), against: "making alone",
			ratio: ratioOf(measured[1], measured[0]), allocs: known(measured[1].allocsPerOp()), cpu: measured[1].cpuPerOp()})
	}
	return err
}

// allOf is the values 0 to n-1.
func allOf(n int64) span { return span{0, n} }

// work calls do for each value of the task's span.
func (r *records) work(k kind, of func(*task) span, do func(s session, i int64) error) func(*task) (int64, error) {
	return func(t *task) (int64, error) {
		session, err := k.open(r.pile)
		if err != nil {
			return 0, err
		}
		s := of(t)
		return s.count, eachChunk(t, s, k.chunk(), func(first int64, count int) error {
			for i := first; i < first+int64(count); i++ {
				if err := do(session, i); err != nil {
					return fmt.Errorf("%s %d: %w", k.name, i, err)
				}
			}
			return nil
		})
	}
}

// chunk is the values between two looks at the progress.
func (k kind) chunk() int { return int(max(1, chunkValues/k.every)) }

// read reads every value once, in the order of putting, and then at random.
func (r *records) read(k kind, n int64) error {
	r.b.progress.begin("read "+k.name, n)
	one, err := runRound(r.b, 0, &side{name: "read back", work: r.work(k,
		func(t *task) span { return allOf(n).part(t.worker, t.workers) },
		func(s session, i int64) error { r.judge("read back", s, i, r.handles.get(i)); return nil })})
	if err != nil {
		return err
	}
	r.b.report.add(row{op: "read-" + k.name, rate: one.rate(), allocs: known(series{one}.allocsPerOp()), cpu: series{one}.cpuPerOp()})
	ops := max(1, min(r.b.plan.readOps/k.every, n))
	p, err := newPicks(ops)
	if err != nil {
		return err
	}
	rounds := r.b.rounds + 1
	r.b.progress.begin("get "+k.name, int64(rounds)*ops)
	measured, err := alternate(r.b, rounds, side{name: "get",
		prepare: func(round int) error { return p.pick(r.b, allOf(n), r.handles, uint64(round)) },
		work: r.work(k,
			func(t *task) span { return allOf(ops).part(t.worker, t.workers) },
			func(s session, i int64) error {
				r.judge("get", s, int64(p.values.get(i)), p.handles.get(i))
				return nil
			})})
	if len(measured[0]) > 0 {
		r.b.report.add(row{op: "get-" + k.name, rate: measured[0].rate(), allocs: known(measured[0].allocsPerOp()), cpu: measured[0].cpuPerOp()})
	}
	return firstError([]error{err, p.close()})
}

// judge reads a value and counts it as wrong or lost unless it is value i.
func (r *records) judge(op string, s session, i int64, handle uint64) {
	right, err := s.get(pile.PilePointer(handle), i)
	r.b.verdict.checked.Add(1)
	switch {
	case err != nil:
		r.b.verdict.lostValue(op, i, handle, err)
	case !right:
		r.b.verdict.wrongValue(op, i, handle, nil)
	}
}
