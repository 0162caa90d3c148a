package main

import (
	"errors"
	"time"

	"github.com/bigpile/bigpile/pile"
)

// putSide is the pile's side of a comparison of puts. The numbers that it keeps
// are committed before the clock runs, the bare copy's too: they are the
// caller's memory, not the pile's.
func (v *values) putSide(way putting, into *target) side {
	var kept results
	var begun time.Time
	return side{
		name: way.name,
		prepare: func(round int) (err error) {
			s := into.spans(round)
			kept = results{into.handles, 0}
			if into.handles == nil {
				if kept.numbers, err = newNumbers(s.count); err != nil {
					return err
				}
				kept.base = s.first
			}
			kept.commit(span{s.first - kept.base, s.count})
			return nil
		},
		begin: func(int) error { begun = time.Now(); return nil },
		work: func(t *task) (int64, error) {
			s := into.spans(t.round).part(t.worker, t.workers)
			return s.count, way.pile(t, into.pile, kept, s)
		},
		finish: func(round int, complete bool) error {
			into.took += time.Since(begun)
			into.put += into.spans(round).count
			switch {
			case into.handles != nil:
				return nil // read back later, all together
			case !complete:
				return kept.close()
			}
			return errors.Join(v.checkRound(into, kept, into.spans(round)), kept.close())
		},
	}
}

// checkRound reads the values of a round back, and deletes them when their
// memory is to be recycled.
func (v *values) checkRound(into *target, kept results, s span) error {
	return inParallel(v.b, func(t *task) error {
		part := s.part(t.worker, t.workers)
		if _, err := v.readSpan(&task{bench: v.b, counter: new(counter)}, into.pile, kept, part); err != nil {
			return err
		}
		if !into.recycle {
			return nil
		}
		return v.deleteSpan(into.pile, kept, part)
	})
}

// deleteSpan deletes values by the batch.
func (v *values) deleteSpan(p *pile.Pile, kept results, s span) error {
	batch := make([]pile.PilePointer, 0, batchSize)
	for i := s.first; i < s.end(); i++ {
		batch = append(batch, pile.PilePointer(kept.get(i-kept.base)))
		if len(batch) == batchSize || i == s.end()-1 {
			if _, err := p.DeleteMany(batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return nil
}

// bareSide is the other side: bare memory, mapped fresh within the timed part
// of each round, as a pile maps its segments, or kept when the pile's is.
type bareSide struct {
	side
	memory *bareMemory
	kept   results
}

func (b *bareSide) close() error { return b.memory.close() }

func (v *values) bareSide(way putting, into *target) *bareSide {
	b := &bareSide{}
	var sizes []int64
	b.side = side{
		name: "bare copy",
		prepare: func(round int) (err error) {
			s := into.spans(round)
			sizes = v.areaSizes(s)
			if b.kept.numbers, err = newNumbers(s.count); err != nil {
				return err
			}
			b.kept.base = s.first
			b.kept.commit(span{0, s.count})
			return nil
		},
		begin: func(int) (err error) {
			if b.memory != nil {
				b.memory.rewind()
				return nil
			}
			b.memory, err = newBareMemory(sizes, v.b.backingOf(), v.hugeNow(into.pile))
			return err
		},
		work: func(t *task) (int64, error) {
			s := into.spans(t.round).part(t.worker, t.workers)
			return s.count, way.bare(t, &b.memory.areas[t.worker], b.kept, s)
		},
		finish: func(int, bool) (err error) {
			if !into.recycle {
				err = b.memory.close()
				b.memory = nil
			}
			return errors.Join(err, b.kept.close())
		},
	}
	return b
}

// hugeNow says how the bare memory of this round is to be paged: as the segments that the pile takes
// now. With auto those have huge pages from the second on, if they have 64 MiB or more.
func (v *values) hugeNow(p *pile.Pile) string {
	const hugeSegmentMin = 64 << 20
	if v.b.huge == "auto" && v.b.segmentSize >= hugeSegmentMin && p.Stats().Segments > 1 {
		return "always"
	}
	return v.b.huge
}

// areaSizes returns the bytes that each goroutine's values of s take.
func (v *values) areaSizes(s span) []int64 {
	sizes := make([]int64, v.b.goroutines)
	for w := range sizes {
		part := s.part(w, len(sizes))
		if fixed, ok := v.source.(*fixedSource); ok {
			sizes[w] = part.count * stride(fixed.bytes)
			continue
		}
		for i := part.first; i < part.end(); i++ {
			sizes[w] += stride(v.source.size(i))
		}
	}
	return sizes
}
