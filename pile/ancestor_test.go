package pile_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/require"
)

// The work loads in this file repeat the ancestor's own tests of its pile, with our rules: every value is compared
// byte by byte, every deleted handle has to be stale, and the counters end at zero.

// vary is the ancestor's VarSizes family.
type vary struct {
	name       string
	count      int
	min, max   int
	goroutines int
	mode       pile.AllocMode
}

func eachVary(t *testing.T, fn func(t *testing.T, p *pile.Pile, v vary)) {
	for _, v := range []vary{
		{name: "tiny", count: 20_000, min: 0, max: 40}, {name: "medium", count: 4000, min: 0, max: 8000},
		{name: "wide", count: 500, min: 0, max: 150_000}, {name: "large", count: 200, min: 65_000, max: 150_000},
	} {
		for _, v.goroutines = range []int{1, 4} {
			for _, v.mode = range []pile.AllocMode{pile.ReuseSpace, pile.FavorSpeed} {
				t.Run(fmt.Sprintf("%s,goroutines=%d,mode=%d", v.name, v.goroutines, v.mode), func(t *testing.T) {
					eachBacking(t, pile.Options{SegmentSize: 4 * miB, AllocMode: v.mode}, func(t *testing.T, p *pile.Pile) { fn(t, p, v) })
				})
			}
		}
	}
}

func TestCheckerboardOfVariousSizes(t *testing.T) {
	eachVary(t, func(t *testing.T, p *pile.Pile, v vary) {
		together(t, v.goroutines, func(g int, rng *rand.Rand) error {
			var kept walkers
			before := pile.PilePointer(0)
			for i := range scaled(v.count) / v.goroutines {
				ptr, err := kept.put(p, g, i, v.min+rng.IntN(v.max-v.min+1))
				if err != nil {
					return err
				}
				if i%2 == 1 {
					kept = kept[:len(kept)-1]
					if before != 0 { // deleted one step later
						if err := p.Delete(before); err != nil {
							return err
						}
					}
					before = ptr
				}
			}
			return kept.checkAndDelete(p, rng)
		})
	})
}

func TestIncreasingAndRandomSizesWithRandomDeletes(t *testing.T) {
	eachVary(t, func(t *testing.T, p *pile.Pile, v vary) {
		together(t, v.goroutines, func(g int, rng *rand.Rand) error {
			var kept walkers
			n := max(3, scaled(v.count)/v.goroutines)
			for i := range n {
				size := v.min + (v.max-v.min)*i/n
				if i%2 == 0 {
					size = v.min + rng.IntN(v.max-v.min+1)
				}
				if _, err := kept.put(p, g, i, size); err != nil {
					return err
				}
				if i > n/3 && rng.IntN(2) == 0 {
					if err := kept.deleteOne(p, rng); err != nil {
						return err
					}
				}
			}
			return kept.checkAndDelete(p, rng)
		})
	})
}

// walker is a value whose bytes can be made again from its numbers.
type walker struct {
	ptr  pile.PilePointer
	seed uint64
	size int
}

type walkers []walker

func (w *walkers) put(p *pile.Pile, g, i, size int) (pile.PilePointer, error) {
	v := walker{seed: uint64(g)<<32 | uint64(i), size: size}
	var err error
	if v.ptr, err = p.PutBytes(pattern(size, v.seed)); err == nil {
		*w = append(*w, v)
	}
	return v.ptr, err
}

func (w walker) check(p *pile.Pile) error {
	b, err := p.GetBytes(w.ptr)
	if err == nil && string(b) != string(pattern(w.size, w.seed)) {
		err = fmt.Errorf("%v: wrong value, %d bytes, want %d of seed %d", w.ptr, len(b), w.size, w.seed)
	}
	return err
}

func (w *walkers) deleteOne(p *pile.Pile, rng *rand.Rand) error {
	k := len(*w)
	if k == 0 {
		return nil
	}
	i := rng.IntN(k)
	v := (*w)[i]
	(*w)[i] = (*w)[k-1]
	*w = (*w)[:k-1]
	if err := v.check(p); err != nil {
		return err
	}
	if err := p.Delete(v.ptr); err != nil {
		return err
	}
	if _, err := p.SizeOf(v.ptr); !errors.Is(err, pile.ErrStalePointer) {
		return fmt.Errorf("%v after its Delete: %w", v.ptr, err)
	}
	return nil
}

func (w *walkers) checkAndDelete(p *pile.Pile, rng *rand.Rand) error {
	for len(*w) > 0 {
		if err := w.deleteOne(p, rng); err != nil {
			return err
		}
	}
	return nil
}

// ManyMixed_PutReadDeleteRead: until several segments are full, puts outnumber deletes, small and large mixed.
func TestMixedSizesUntilManySegmentsByManyGoroutines(t *testing.T) {
	for _, goroutines := range []int{1, 3, 11, 39} {
		t.Run(fmt.Sprint("goroutines=", goroutines), func(t *testing.T) {
			eachBacking(t, pile.Options{SegmentSize: miB}, func(t *testing.T, p *pile.Pile) {
				together(t, goroutines, func(g int, rng *rand.Rand) error {
					var kept walkers
					for i := 0; p.Stats().Segments < 12; i++ {
						size := rng.IntN(1200)
						if rng.IntN(50) == 0 {
							size = rng.IntN(128 * kiB)
						}
						if _, err := kept.put(p, g, i, size); err != nil {
							return err
						}
						if rng.IntN(100) < 27 {
							if err := kept.deleteOne(p, rng); err != nil {
								return err
							}
						}
					}
					return kept.checkAndDelete(p, rng)
				})
				s := p.Stats()
				require.Zero(t, s.Objects+s.Bytes+s.Links)
			})
		})
	}
}

// TestThreadSafety of the mutable tests: get, update across links, and one batch at a time replaced.
func TestReadersUpdatersAndReplacersShareOneTable(t *testing.T) {
	for _, count := range []int{1, 12, 256} {
		t.Run(fmt.Sprint("objects=", count), func(t *testing.T) {
			eachVariant(t, func(t *testing.T, p *pile.Pile) {
				table := make([]atomic.Uint64, count)
				for i := range table {
					table[i].Store(uint64(put(t, p, stamp(uint64(i), 0, 100))))
				}
				n := scaled(1500)
				together(t, 6, func(g int, rng *rand.Rand) error {
					for range n {
						i := rng.IntN(count)
						ptr := pile.PilePointer(table[i].Load())
						var err error
						switch {
						case g == 0:
							var fresh pile.PilePointer
							if fresh, err = p.PutBytes(stamp(uint64(i), 0, rng.IntN(300))); err != nil {
								return err
							}
							err = p.Delete(pile.PilePointer(table[i].Swap(uint64(fresh))))
						case rng.IntN(2) == 0:
							err = p.UpdateBytes(ptr, stamp(uint64(i), 1, rng.IntN(3791)))
						default:
							var b []byte
							if b, err = p.GetBytes(ptr); err == nil {
								_, err = readStamp(b, uint64(i))
							}
						}
						if err != nil && (g == 0 || !errors.Is(err, pile.ErrStalePointer)) {
							return err
						}
					}
					return nil
				})
				for i := range table {
					require.NoError(t, p.Delete(pile.PilePointer(table[i].Load())))
				}
				s := p.Stats()
				require.Zero(t, s.Objects+s.Bytes+s.Links)
			})
		})
	}
}

// StringCorrectess of the mutable tests: strings of falling lengths with room, read back, updated, partly deleted.
func TestStringsOfEveryLengthByManyGoroutines(t *testing.T) {
	eachBacking(t, pile.Options{SegmentSize: 4 * miB}, func(t *testing.T, p *pile.Pile) {
		longest := scaled(3000)
		for _, every := range []int{2, 3, 5, 16} {
			together(t, 4, func(g int, rng *rand.Rand) error {
				for i := g; i < longest; i += 4 {
					want := string(pattern(longest-i, uint64(i)))
					ptr, err := p.PutReserve(want[:len(want)/2], len(want))
					if err != nil {
						return err
					}
					if err := p.Update(ptr, want); err != nil {
						return err
					}
					if s, err := p.GetString(ptr); err != nil || s != want {
						return fmt.Errorf("length %d: got %d bytes, %w", len(want), len(s), err)
					}
					if i%every == 0 {
						if err := p.Delete(ptr); err != nil {
							return err
						}
					}
				}
				return nil
			})
			require.NoError(t, p.Purge())
		}
	})
}
