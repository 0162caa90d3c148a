package main

import (
	"bytes"

	"github.com/bigpile/bigpile/pile"
)

// getBatch is the values of one GetMany.
const getBatch = 64

// readSpan reads values by the batch and checks each; it returns how many.
func (v *values) readSpan(t *task, p *pile.Pile, kept results, s span) (int64, error) {
	handles := make([]pile.PilePointer, getBatch)
	var first int64
	check := func(i int, b []byte, err error) bool {
		v.judge("read back", first+int64(i), uint64(handles[i]), b, err)
		return true
	}
	err := eachChunk(t, s, getBatch, func(at int64, count int) error {
		first = at
		for i := range count {
			handles[i] = pile.PilePointer(kept.get(at + int64(i) - kept.base))
		}
		return p.GetMany(handles[:count], check)
	})
	v.b.verdict.checked.Add(s.count)
	return s.count, err
}

// judge counts value i as wrong or lost unless b is it.
func (v *values) judge(op string, i int64, handle uint64, b []byte, err error) {
	switch {
	case err != nil:
		v.b.verdict.lostValue(op, i, handle, err)
	case !v.source.check(i, b):
		v.b.verdict.wrongValue(op, i, handle, b)
	}
}

// readBack reads every value once, in the order of putting.
func (v *values) readBack() error {
	v.b.progress.begin("read back", v.b.plan.n)
	one, err := runRound(v.b, 0, &side{name: "read back", work: func(t *task) (int64, error) {
		s := span{0, v.b.plan.n}.part(t.worker, t.workers)
		return v.readSpan(t, v.pile, results{v.handles, 0}, s)
	}})
	if err == nil {
		v.b.report.add(row{op: "read-back", rate: one.rate(), allocs: known(series{one}.allocsPerOp())})
	}
	return err
}

// picks are values chosen at random to be read in one round of one side. They
// are chosen before the clock runs, so that reading the handles is no part of
// what is measured.
type picks struct {
	values, handles *numbers
	count           int64
}

func newPicks(count int64) (*picks, error) {
	values, err := newNumbers(count)
	if err != nil {
		return nil, err
	}
	handles, err := newNumbers(count)
	return &picks{values, handles, count}, err
}

func (p *picks) close() error { return firstError([]error{p.values.close(), p.handles.close()}) }

// pick chooses anew among the values of s, differently for each stream.
func (p *picks) pick(b *bench, of span, handles *numbers, stream uint64) error {
	return inParallel(b, func(t *task) error {
		random := randomizer(mix(b.seed) ^ mix(stream<<16|uint64(t.worker)))
		s := span{0, p.count}.part(t.worker, t.workers)
		for i := s.first; i < s.end(); i++ {
			value := of.first + int64(random.below(uint64(of.count)))
			p.values.set(i, uint64(value))
			p.handles.set(i, handles.get(value))
		}
		return nil
	})
}

// randomReads compares the ways to read independent random values.
func (v *values) randomReads() error {
	p, err := newPicks(v.b.plan.readOps)
	if err != nil {
		return err
	}
	ways := []struct {
		op   string
		read func(t *task, p *picks, s span) error
	}{{"get", v.getPicks}, {"get-batch", v.getManyPicks}, {"view", v.viewPicks}}
	sides := make([]side, len(ways))
	for k, way := range ways {
		sides[k] = side{
			name:    way.op,
			prepare: func(round int) error { return p.pick(v.b, span{0, v.b.plan.n}, v.handles, uint64(round*len(ways)+k)) },
			work: func(t *task) (int64, error) {
				s := span{0, v.b.plan.readOps}.part(t.worker, t.workers)
				v.b.verdict.checked.Add(s.count)
				return s.count, way.read(t, p, s)
			},
		}
	}
	rounds := v.b.rounds + 1
	v.b.progress.begin("random reads", int64(rounds*len(sides))*v.b.plan.readOps)
	measured, err := alternate(v.b, rounds, sides...)
	for k, way := range ways {
		if len(measured[k]) == 0 {
			continue
		}
		r := row{op: way.op, rate: measured[k].rate(), allocs: known(measured[k].allocsPerOp())}
		if k > 0 {
			r.against, r.ratio = "single gets", ratioOf(measured[k], measured[0])
		}
		v.b.report.add(r)
	}
	return firstError([]error{err, p.close()})
}

func (v *values) getPicks(t *task, p *picks, s span) error {
	var buffer []byte
	return eachChunk(t, s, chunkValues, func(first int64, count int) error {
		for i := first; i < first+int64(count); i++ {
			value, handle := int64(p.values.get(i)), p.handles.get(i)
			b, err := v.pile.AppendBytes(buffer[:0], pile.PilePointer(handle))
			v.judge("get", value, handle, b, err)
			buffer = b
		}
		return nil
	})
}

func (v *values) getManyPicks(t *task, p *picks, s span) error {
	handles := make([]pile.PilePointer, getBatch)
	var first int64
	check := func(i int, b []byte, err error) bool {
		v.judge("get-batch", int64(p.values.get(first+int64(i))), uint64(handles[i]), b, err)
		return true
	}
	return eachChunk(t, s, getBatch, func(at int64, count int) error {
		first = at
		for i := range count {
			handles[i] = pile.PilePointer(p.handles.get(at + int64(i)))
		}
		return v.pile.GetMany(handles[:count], check)
	})
}

func (v *values) viewPicks(t *task, p *picks, s span) error {
	var value int64
	var handle uint64
	look := func(b []byte) error {
		v.judge("view", value, handle, b, nil)
		return nil
	}
	return eachChunk(t, s, chunkValues, func(first int64, count int) error {
		for i := first; i < first+int64(count); i++ {
			value, handle = int64(p.values.get(i)), p.handles.get(i)
			if err := v.pile.View(pile.PilePointer(handle), look); err != nil {
				v.judge("view", value, handle, nil, err)
			}
		}
		return nil
	})
}

// hotReads reads one value over and over, from one goroutine and from all.
func (v *values) hotReads() error {
	value := v.b.plan.n / 2
	handle := v.handles.get(value)
	var made chunk
	v.source.fill(&made, value, 1)
	want := made.value(0) // comparing costs less than making it anew, and it is what is measured here
	work := func(t *task) (int64, error) {
		var buffer []byte
		v.b.verdict.checked.Add(v.b.plan.hotOps)
		return v.b.plan.hotOps, eachChunk(t, span{0, v.b.plan.hotOps}, 1024, func(_ int64, count int) error {
			for range count {
				b, err := v.pile.AppendBytes(buffer[:0], pile.PilePointer(handle))
				if err != nil || !bytes.Equal(b, want) {
					v.judge("hot get", value, handle, b, err)
				}
				buffer = b
			}
			return nil
		})
	}
	sides := []side{{name: "hot-get-1", goroutines: 1, work: work}}
	if v.b.goroutines > 1 {
		sides = append(sides, side{name: "hot-get", work: work})
	}
	rounds := v.b.rounds + 1
	v.b.progress.begin("hot get", int64(rounds)*v.b.plan.hotOps*int64(1+(len(sides)-1)*v.b.goroutines))
	measured, err := alternate(v.b, rounds, sides...)
	for k, s := range sides {
		if len(measured[k]) == 0 {
			continue
		}
		r := row{op: s.name, rate: measured[k].rate(), allocs: known(measured[k].allocsPerOp())}
		if k > 0 {
			r.against, r.ratio = "1 goroutine", ratioOf(measured[k], measured[0])
		}
		v.b.report.add(r)
	}
	return err
}
