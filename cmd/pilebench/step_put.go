package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/bigpile/bigpile/pile"
)

// putting is one way to put a span of values, and the same way over bare
// memory: it makes them alike, so that the difference is the pile.
type putting struct {
	name string
	pile func(t *task, p *pile.Pile, to results, s span) error
	bare func(t *task, a *bareArea, to results, s span) error
}

// results keeps one number a value: the handle, or the place in bare memory.
type results struct {
	*numbers
	base int64 // the value whose number comes first
}

func (r results) keep(i int64, n uint64) { r.set(i-r.base, n) }

func (v *values) oneByOne() putting {
	return putting{"put", v.putEach, v.bareEach}
}

func (v *values) byTheBatch() putting {
	return putting{"put-batch", v.putMany, v.bareMany}
}

// eachChunk calls fn for all values of s, a few at a time.
func eachChunk(t *task, s span, size int, fn func(first int64, count int) error) error {
	for at := s.first; at < s.end(); at += int64(size) {
		count := int(min(int64(size), s.end()-at))
		if err := fn(at, count); err != nil {
			return err
		}
		if err := t.step(count); err != nil {
			return err
		}
	}
	return nil
}

// form is how a value is handed over.
type form int

// Strings of up to 32 bytes the compiler makes on the stack, when the callee
// does not keep them. Longer ones are cut from one string a chunk, so that
// making them costs an allocation a chunk and not one a value.
const (
	asBytes form = iota
	asShortString
	asLongString
)

// shortString is the longest string made on the stack.
const shortString = 32

// putEach puts value by value.
func (v *values) putEach(t *task, p *pile.Pile, to results, s span) error {
	var c chunk
	return eachChunk(t, s, chunkCount(v.source), func(first int64, count int) error {
		v.source.fill(&c, first, count)
		text := v.textOf(&c)
		for i := range count {
			var handle pile.PilePointer
			var err error
			switch v.form {
			case asShortString:
				handle, err = p.PutString(string(c.value(i)))
			case asLongString:
				handle, err = p.PutString(text[c.ends[i]:c.ends[i+1]])
			default:
				handle, err = p.PutBytes(c.value(i))
			}
			if err != nil {
				return fmt.Errorf("value %d of %d bytes: %w", first+int64(i), len(c.value(i)), err)
			}
			to.keep(first+int64(i), uint64(handle))
		}
		return nil
	})
}

// textOf returns the chunk as one string, for long strings.
func (v *values) textOf(c *chunk) string {
	if v.form != asLongString {
		return ""
	}
	return string(c.data)
}

func (v *values) bareEach(t *task, a *bareArea, to results, s span) error {
	var c chunk
	return eachChunk(t, s, chunkCount(v.source), func(first int64, count int) error {
		v.source.fill(&c, first, count)
		text := v.textOf(&c)
		for i := range count {
			var at uint64
			switch v.form {
			case asShortString:
				at = appendBare(a, string(c.value(i)))
			case asLongString:
				at = appendBare(a, text[c.ends[i]:c.ends[i+1]])
			default:
				at = appendBare(a, c.value(i))
			}
			to.keep(first+int64(i), at)
		}
		return nil
	})
}

// batchSize is the values of one PutMany.
const batchSize = 256

func (v *values) putMany(t *task, p *pile.Pile, to results, s span) error {
	var c chunk
	batch, handles := make([][]byte, 0, batchSize), make([]pile.PilePointer, 0, batchSize)
	return eachChunk(t, s, batchSize, func(first int64, count int) (err error) {
		batch = v.batch(&c, batch, first, count)
		if handles, err = p.PutMany(batch, handles[:0]); err != nil {
			return fmt.Errorf("values from %d: %w", first, err)
		}
		if len(handles) != count {
			return fmt.Errorf("values from %d: %d handles for %d values", first, len(handles), count)
		}
		for i, handle := range handles {
			to.keep(first+int64(i), uint64(handle))
		}
		return nil
	})
}

func (v *values) bareMany(t *task, a *bareArea, to results, s span) error {
	var c chunk
	batch := make([][]byte, 0, batchSize)
	return eachChunk(t, s, batchSize, func(first int64, count int) error {
		batch = v.batch(&c, batch, first, count)
		for i, value := range batch {
			to.keep(first+int64(i), appendBare(a, value))
		}
		return nil
	})
}

// batch makes count values as a slice of slices.
func (v *values) batch(c *chunk, batch [][]byte, first int64, count int) [][]byte {
	v.source.fill(c, first, count)
	batch = batch[:0]
	for i := range count {
		batch = append(batch, c.value(i))
	}
	return batch
}

// makeAlone measures the making of the values without putting them anywhere.
func (v *values) makeAlone() error {
	count := min(v.b.plan.n, readOpsWanted)
	v.b.progress.begin("make values", count*4)
	rounds, err := alternate(v.b, 4, side{name: "make", work: func(t *task) (int64, error) {
		var c chunk
		s := span{0, count}.part(t.worker, t.workers)
		return s.count, eachChunk(t, s, chunkCount(v.source), func(first int64, n int) error {
			v.source.fill(&c, first, n)
			_ = v.textOf(&c)
			return nil
		})
	}})
	v.b.report.making = rounds[0].rate()
	return err
}

// fill puts the n values that the following steps work on.
func (v *values) fill() (err error) {
	v.resting, _ = residentMemory()
	if v.handles, err = newNumbers(v.b.plan.n); err != nil {
		return err
	}
	if v.pile, err = v.b.openPile(); err != nil {
		return err
	}
	if limit := v.pile.MaxValueSize(); v.b.size > limit {
		return fmt.Errorf("-size %d: a segment of this -segment-size takes %d at most", v.b.size, limit)
	}
	into := target{pile: v.pile, handles: v.handles, spans: v.b.plan.roundSpan}
	if v.b.history == historyRecycled {
		if err := v.compareRecycled(v.oneByOne()); err != nil {
			return err
		}
		v.b.progress.begin("fill", v.b.plan.n)
		_, err = alternate(v.b, v.b.plan.fillRounds, v.putSide(v.oneByOne(), &into))
	} else {
		v.b.progress.begin("put", 2*v.b.plan.n)
		err = v.compare(v.oneByOne(), &into, v.b.plan.fillRounds)
	}
	if err == nil {
		v.b.report.filled, v.b.report.fillTime = into.put, into.took
	}
	return err
}

// putBatches measures PutMany in a pile of its own.
func (v *values) putBatches() (err error) {
	if v.b.history == historyRecycled {
		return v.compareRecycled(v.byTheBatch())
	}
	p, err := v.b.openPile()
	if err != nil {
		return err
	}
	rounds := v.b.rounds + 1
	v.b.progress.begin("put-batch", 2*int64(rounds)*v.b.plan.roundPuts)
	into := target{pile: p, spans: func(round int) span {
		return span{int64(round) * v.b.plan.roundPuts, v.b.plan.roundPuts}
	}}
	return errors.Join(v.compare(v.byTheBatch(), &into, rounds), closePile(p))
}

// compareRecycled measures a way to put in a pile of its own that is emptied
// after each round, against bare memory that is written again.
func (v *values) compareRecycled(way putting) error {
	p, err := v.b.openPile()
	if err != nil {
		return err
	}
	rounds := v.b.rounds + 1
	v.b.progress.begin(way.name, 2*int64(rounds)*v.b.plan.roundPuts)
	into := target{pile: p, recycle: true, spans: func(int) span { return span{0, v.b.plan.roundPuts} }}
	return errors.Join(v.compare(way, &into, rounds), closePile(p))
}

// compare alternates the pile and bare memory, and reports the row.
func (v *values) compare(way putting, into *target, rounds int) error {
	bare := v.bareSide(way, into)
	measured, err := alternate(v.b, rounds, v.putSide(way, into), bare.side)
	err = errors.Join(err, bare.close())
	if len(measured[0]) > 0 {
		v.b.report.add(row{
			op: way.name, rate: measured[0].rate(), against: "bare copy",
			ratio: ratioOf(measured[0], measured[1]), allocs: known(measured[0].allocsPerOp()),
			bytes: bytesPerValue(into.pile),
		})
	}
	return err
}

// bytesPerValue is what the pile has mapped for a value; 0 when it is empty.
func bytesPerValue(p *pile.Pile) float64 {
	stats := p.Stats()
	if stats.Objects == 0 {
		return 0
	}
	return float64(stats.AllocatedBytes) / float64(stats.Objects)
}

// target is where a comparison puts its values.
type target struct {
	pile    *pile.Pile
	handles *numbers // kept for later; nil: fresh ones each round, checked and dropped
	spans   func(round int) span
	recycle bool // delete a round's values after it

	put  int64         // values put so far
	took time.Duration // and the time of it, all rounds
}
