package pile_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/require"
)

// leastCapacity is how many values of one size a pile of this much memory has to take: 85 % of what the slots of
// architecture section 4.2 would hold if nothing but slots were there, 70 % where a few whole pages make a value.
func leastCapacity(memory int64, size int) int {
	if size > 8*kiB {
		run := int64(size+16+pageSize-1) / pageSize * pageSize
		return int(memory / run * 70 / 100)
	}
	slot := size + 8
	if slot <= 128 {
		slot = max(16, (slot+7)&^7)
	} else {
		step := 16
		for step*16 < slot {
			step *= 2
		}
		slot = (slot + step - 1) / step * step
	}
	return int(memory) / slot * 85 / 100
}

// watchLimit runs fn while a goroutine looks at Stats again and again: the limit holds at every moment.
func watchLimit(t *testing.T, p *pile.Pile, limit int64, fn func()) {
	t.Helper()
	var stop atomic.Bool
	var worst int64
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for !stop.Load() {
			s := p.Stats()
			worst = max(worst, s.MappedBytes, s.AllocatedBytes)
		}
	})
	func() {
		defer watcher.Wait()
		defer stop.Store(true)
		fn()
	}()
	require.LessOrEqual(t, worst, limit, "mapped or allocated at some moment")
	require.Positive(t, worst)
}

func TestFullPileRefusesOnlyWhenFull(t *testing.T) {
	for _, memory := range []int64{2 * miB, 16 * miB} {
		for _, size := range []int{8, 32, 200, 1000, 5000, 70_000} {
			if testing.Short() && size < 200 || memory > 2*miB && size == 8 {
				continue
			}
			t.Run(fmt.Sprintf("memory=%d,size=%d", memory, size), func(t *testing.T) {
				eachBacking(t, pile.Options{MaxMemory: memory}, func(t *testing.T, p *pile.Pile) {
					watchLimit(t, p, memory, func() { fillByMany(t, p, memory, size) })
				})
			})
		}
	}
}

func TestFullPileOfTinySegmentsRefusesOnlyWhenFull(t *testing.T) {
	for _, o := range []pile.Options{{Checksums: true}, {AllocMode: pile.FavorSpeed}, {Debug: true}} {
		o.SegmentSize, o.MaxMemory = miB, 8*miB
		t.Run(fmt.Sprintf("checksums=%v,mode=%v,debug=%v", o.Checksums, o.AllocMode, o.Debug), func(t *testing.T) {
			eachBacking(t, o, func(t *testing.T, p *pile.Pile) {
				watchLimit(t, p, 8*miB, func() { fillByMany(t, p, 8*miB, 200) })
			})
		})
	}
}

// fillByMany fills the pile from 8 goroutines, each until it is refused; then nothing more may fit, then exactly
// what was deleted.
func fillByMany(t *testing.T, p *pile.Pile, memory int64, size int) {
	t.Helper()
	ptrs := putByMany(t, p, size, -1)
	require.GreaterOrEqual(t, len(ptrs), leastCapacity(memory, size), "values of %d bytes in %d", size, memory)
	require.EqualValues(t, len(ptrs), p.Stats().Objects)
	extra := untilFull(t, p, size)
	require.Empty(t, extra, "these still fit after others were refused")

	rng := newRand(t)
	for range 3 {
		rng.Shuffle(len(ptrs), func(i, j int) { ptrs[i], ptrs[j] = ptrs[j], ptrs[i] })
		k := 1 + len(ptrs)/10
		deleteAll(t, p, ptrs[:k])
		again := putByMany(t, p, size, k)
		require.Len(t, again, k, "as many puts as values were deleted must succeed")
		copy(ptrs, again)
	}
	for i, ptr := range ptrs {
		if i%(1+len(ptrs)/5000) == 0 {
			b := get(t, p, ptr)
			require.Len(t, b, size)
			require.Equal(t, pattern(size, 11), b)
		}
	}
	require.NoError(t, p.Check(t.Context()))
}

// graceWait is how long a Put that finds no room waits for a grace period. On an overloaded machine a reader may
// be off its processor for longer; a refusal after the whole wait is therefore tried again, one before it is wrong.
const graceWait = 100 * time.Millisecond

// putByMany puts the same value from 8 goroutines: limit times in all, or until each was refused when limit < 0.
func putByMany(t *testing.T, p *pile.Pile, size, limit int) []pile.PilePointer {
	t.Helper()
	parts := make([][]pile.PilePointer, 8)
	var taken atomic.Int64
	value := pattern(size, 11)
	together(t, len(parts), func(g int, _ *rand.Rand) error {
		for limit < 0 || taken.Add(1) <= int64(limit) {
			start := time.Now()
			ptr, err := p.PutBytes(value)
			for limit >= 0 && errors.Is(err, pile.ErrOutOfSpace) && time.Since(start) >= graceWait {
				start = time.Now()
				ptr, err = p.PutBytes(value)
			}
			if err != nil {
				if limit < 0 && errors.Is(err, pile.ErrOutOfSpace) {
					return nil
				}
				return fmt.Errorf("with %d deleted and %d taken again: %w", limit, taken.Load()-1, err)
			}
			parts[g] = append(parts[g], ptr)
		}
		return nil
	})
	var all []pile.PilePointer
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// Sizes just above a class cost the most, and the budget is bytes mapped, not bytes asked for.
func TestMemoryLimitHoldsThroughMixedWork(t *testing.T) {
	const limit = 8 * miB
	for _, seg := range []int{0, miB} {
		t.Run(fmt.Sprint("segment=", seg), func(t *testing.T) {
			eachBacking(t, pile.Options{MaxMemory: limit, SegmentSize: seg}, func(t *testing.T, p *pile.Pile) {
				n := scaled(8000)
				watchLimit(t, p, limit, func() {
					together(t, 4, func(g int, rng *rand.Rand) error { return limitedWork(p, g, n, rng) })
				})
				require.NoError(t, p.Check(t.Context()))
			})
		})
	}
}

// limitedWork puts, updates and deletes in a pile that is often full. Whatever is refused must have changed nothing.
func limitedWork(p *pile.Pile, g, n int, rng *rand.Rand) error {
	type object struct {
		ptr            pile.PilePointer
		owner, version uint64
	}
	var own []object
	for i := range n {
		size := []int{30, 67, 131, 1025, 2050, 4200, 70_000}[rng.IntN(7)]
		switch op := rng.IntN(8); {
		case op < 4:
			o := object{owner: uint64(g*n + i)}
			var err error
			if o.ptr, err = p.PutBytes(stamp(o.owner, 0, size)); err == nil {
				own = append(own, o)
			} else if !errors.Is(err, pile.ErrOutOfSpace) || o.ptr.Valid() {
				return fmt.Errorf("put: %v, %w", o.ptr, err)
			}
		case len(own) == 0:
		case op < 6:
			o := &own[rng.IntN(len(own))]
			err := p.UpdateBytes(o.ptr, stamp(o.owner, o.version+1, size))
			if err == nil {
				o.version++
			} else if !errors.Is(err, pile.ErrOutOfSpace) {
				return err
			}
			b, err := p.GetBytes(o.ptr)
			if err != nil {
				return err
			}
			if v, err := readStamp(b, o.owner); err != nil || v != o.version {
				return fmt.Errorf("version %d, want %d: %w", v, o.version, err)
			}
		default:
			for range 1 + rng.IntN(3) {
				if k := len(own); k > 0 {
					i := rng.IntN(k)
					if err := p.Delete(own[i].ptr); err != nil {
						return err
					}
					own[i] = own[k-1]
					own = own[:k-1]
				}
			}
		}
	}
	for _, o := range own {
		b, err := p.GetBytes(o.ptr)
		if err != nil {
			return err
		}
		if v, err := readStamp(b, o.owner); err != nil || v != o.version {
			return fmt.Errorf("at the end: version %d, want %d: %w", v, o.version, err)
		}
	}
	return nil
}

// All the threads of the ancestor that found no room added a segment each.
func TestManyWritersAddNoMoreSegmentsThanOne(t *testing.T) {
	for _, c := range []struct{ segment, values, size int }{
		{0, 10, 100}, {16 * miB, 200, 1000}, {4 * miB, 500, 1000}, {miB, 100, 100}, {2 * miB, 20, 20_000},
	} {
		t.Run(fmt.Sprintf("segment=%d,values=%d,size=%d", c.segment, c.values, c.size), func(t *testing.T) {
			if c.segment == 0 && raceEnabled {
				t.Skip("256 MiB with shadow memory")
			}
			for _, b := range backings() {
				o := pile.Options{SegmentSize: c.segment, Backing: b}
				p, alone := open(t, o), open(t, o)
				const writers = 16
				value := pattern(c.size, 1)
				start := make(chan struct{})
				var ready sync.WaitGroup
				ready.Add(writers)
				go func() { ready.Wait(); close(start) }()
				together(t, writers, func(int, *rand.Rand) error {
					ready.Done()
					<-start
					for range c.values {
						if _, err := p.PutBytes(value); err != nil {
							return err
						}
					}
					return nil
				})
				many := p.Stats().Segments
				for range writers * c.values {
					put(t, alone, value)
				}
				slack := int64(0)
				if alone.Stats().Segments > 1 {
					slack = 1 // pages begun by several writers
				}
				require.LessOrEqual(t, many, alone.Stats().Segments+slack, backingName(b))
			}
		})
	}
}
