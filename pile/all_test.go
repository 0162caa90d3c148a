package pile_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/require"
)

func handles(p *pile.Pile) iter.Seq[pile.PilePointer] {
	return func(yield func(pile.PilePointer) bool) {
		for ptr := range p.All() {
			if !yield(ptr) {
				return
			}
		}
	}
}

// 723 is below and 1,500 above the buffer of the ancestor's enumeration, whose end it could miss; the third
// spans segments. Values of several kinds and sizes, links and deleted ones in between.
func TestAllYieldsEveryLiveHandleOnce(t *testing.T) {
	for _, n := range []int{0, 1, 723, 1024, 1500, scaled(60_000)} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			eachBacking(t, pile.Options{SegmentSize: 4 * miB}, func(t *testing.T, p *pile.Pile) {
				want := map[pile.PilePointer]pile.Entry{}
				for i := range n {
					b := pattern(4+i%512, uint64(i))
					if i%2000 == 1999 {
						b = pattern(100_000, uint64(i))
					}
					ptr, kind := pile.PilePointer(0), pile.KindBytes
					if i%3 == 0 {
						kind = pile.KindString
						var err error
						ptr, err = p.PutString(string(b))
						require.NoError(t, err)
					} else {
						ptr = put(t, p, b)
					}
					want[ptr] = pile.Entry{Size: len(b), Kind: kind}
					switch {
					case i%7 == 0:
						require.NoError(t, p.Delete(ptr))
						delete(want, ptr)
					case i%11 == 0:
						require.NoError(t, p.UpdateBytes(ptr, pattern(i%3000, 1)))
						want[ptr] = pile.Entry{Size: i % 3000, Kind: pile.KindBytes}
					}
				}
				seen := map[pile.PilePointer]bool{}
				for ptr, e := range p.All() {
					require.False(t, seen[ptr], "%v twice", ptr)
					seen[ptr] = true
					w, ok := want[ptr]
					require.True(t, ok, "%v was never put, is deleted, or is a target", ptr)
					require.Equal(t, w.Size, e.Size)
					require.Equal(t, w.Kind, e.Kind)
				}
				require.Len(t, seen, len(want))
			})
		})
	}
}

func TestAllMayBeLeftAndBegunAgain(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptrs := fill(t, p, 3000, 50)
		for stop := range 10 {
			n := 0
			for range p.All() {
				if n++; n > stop*300 {
					break
				}
			}
			require.Equal(t, stop*300+1, n)
		}
		sequence := p.All()
		require.ElementsMatch(t, ptrs, slices.Collect(func(yield func(pile.PilePointer) bool) {
			for ptr := range sequence {
				if !yield(ptr) {
					return
				}
			}
		}))
		n := 0
		for range sequence {
			n++
		}
		require.Equal(t, len(ptrs), n, "a sequence may be walked twice")
	})
}

func TestAllSeesWhatItsBodyDeletes(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptrs := fill(t, p, 5000, 40)
		n := 0
		for ptr := range p.All() {
			require.NoError(t, p.Delete(ptr), "what All has just yielded is alive when nobody else deletes")
			n++
		}
		require.Equal(t, len(ptrs), n)
		require.Zero(t, p.Stats().Objects)
	})
}

func TestAllEndsThoughItsBodyPuts(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		fill(t, p, 1000, 40)
		within(t, "All with a body that puts a value for each one it sees", func() {
			n := 0
			for range p.All() {
				if n++; n > 200_000 {
					t.Error("All goes on with what was put since it began, without end")
					return
				}
				if n < 50_000 {
					if _, err := p.PutBytes(pattern(40, 1)); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	})
}

// Weakly consistent: what is there from beginning to end is seen exactly once, whatever happens to the rest.
func TestAllUnderMutationYieldsWhatStaysExactlyOnce(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		steady := map[pile.PilePointer]int{}
		for i := range 2000 {
			steady[put(t, p, pattern(30+i%200, uint64(i)))] = 30 + i%200
		}
		var stop atomic.Bool
		together(t, 4, func(g int, rng *rand.Rand) error {
			if g == 0 {
				defer stop.Store(true)
				for range max(3, scaled(15)) {
					seen := map[pile.PilePointer]int{}
					for ptr, e := range p.All() {
						if size, ok := steady[ptr]; ok {
							if seen[ptr]++; seen[ptr] > 1 || e.Size != size {
								return fmt.Errorf("%v seen %d times, with %d bytes, want once with %d", ptr, seen[ptr], e.Size, size)
							}
						}
					}
					if len(seen) != len(steady) {
						return fmt.Errorf("%d of %d steady values seen", len(seen), len(steady))
					}
				}
				return nil
			}
			var own []pile.PilePointer
			for !stop.Load() {
				ptr, err := p.PutBytes(pattern(rng.IntN(300), 1))
				if err != nil {
					return err
				}
				if own = append(own, ptr); len(own) > 1000 {
					if err := p.UpdateBytes(own[500], pattern(rng.IntN(3000), 2)); err != nil {
						return err
					}
					if _, err := p.DeleteMany(own[:900]); err != nil {
						return err
					}
					own = append(own[:0], own[900:]...)
				}
			}
			_, err := p.DeleteMany(own)
			return err
		})
	})
}
