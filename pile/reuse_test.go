package pile_test

import (
	"fmt"
	"testing"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reuseSizes are the ancestor's sizes at which freed room was not found again, and neighbours.
var reuseSizes = []int{16, 32, 48, 56, 72, 104, 120, 136, 144, 200, 264, 1000, 5000, 70_000}

// Room that waits for a grace period may be doubled for a while, but never more than a tenth of the pile, and not
// a little more each round. A new segment is not taken for it.
func TestRefillingTheSameSizesTakesNoNewSegment(t *testing.T) {
	for _, size := range reuseSizes {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			eachBacking(t, pile.Options{SegmentSize: miB}, func(t *testing.T, p *pile.Pile) {
				ptrs := fill(t, p, 7*miB/2/(size+8), size)
				before := p.Stats()
				for round := range 4 {
					// every second value, then one in three, then the even ones again, then a whole stretch
					var gone []int
					for i := range ptrs {
						if round == 3 && i > len(ptrs)/2 || round == 1 && i%3 == 0 || round%2 == 0 && i%2 == 0 {
							gone = append(gone, i)
						}
					}
					for _, i := range gone {
						require.NoError(t, p.Delete(ptrs[i]))
					}
					for _, i := range gone {
						ptrs[i] = put(t, p, pattern(size, uint64(i)))
					}
					after := p.Stats()
					require.Equal(t, before.Segments, after.Segments, "round %d", round)
					require.LessOrEqual(t, after.AllocatedBytes, before.AllocatedBytes*11/10, "round %d", round)
				}
				require.EqualValues(t, len(ptrs), p.Stats().Objects)
			})
		})
	}
}

func TestRefillingMixedSizesTakesHardlyAnyMemory(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		rng := newRand(t)
		type object struct {
			ptr  pile.PilePointer
			size int
		}
		var all []object
		for range 2500 {
			for _, size := range reuseSizes[:12] {
				all = append(all, object{put(t, p, pattern(size, 1)), size})
			}
		}
		before := p.Stats()
		for range 3 {
			rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			for _, o := range all[:len(all)/2] {
				require.NoError(t, p.Delete(o.ptr))
			}
			for i, o := range all[:len(all)/2] {
				all[i].ptr = put(t, p, pattern(o.size, 1))
			}
		}
		require.LessOrEqual(t, p.Stats().AllocatedBytes, before.AllocatedBytes*9/8+miB)
	})
}

// A ring that appends every overwrite grew to megabytes for one live value.
func TestOverwritingOneValueTakesNoMoreMemory(t *testing.T) {
	eachBacking(t, pile.Options{SegmentSize: miB}, func(t *testing.T, p *pile.Pile) {
		n := scaled(1_000_000)
		ptr := put(t, p, pattern(100, 0))
		before := p.Stats()
		value := pattern(100, 1)
		for i := range n {
			value[0] = byte(i)
			require.NoError(t, p.UpdateBytes(ptr, value))
		}
		after := p.Stats()
		require.LessOrEqual(t, after.AllocatedBytes, before.AllocatedBytes+miB)
		require.Equal(t, max(1, before.Segments), after.Segments)
		require.Equal(t, value, get(t, p, ptr))
	})
}

// A value too large for the slot of its handle: every target but the last is free again.
func TestOverwritingAMovedValueTakesNoMoreMemory(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptr := put(t, p, pattern(10, 0))
		before := p.Stats()
		for i := range scaled(50_000) {
			require.NoError(t, p.UpdateBytes(ptr, pattern(900+i%100, uint64(i))))
		}
		after := p.Stats()
		require.LessOrEqual(t, after.AllocatedBytes, before.AllocatedBytes+miB)
		require.EqualValues(t, 1, after.Links)
		require.NoError(t, p.Delete(ptr))
		_, err := p.Compact(t.Context(), nil)
		require.NoError(t, err)
		require.LessOrEqual(t, p.Stats().AllocatedBytes, int64(pageSize*2))
	})
}

func TestPuttingAndDeletingOneValueTakesNoMoreMemory(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for i := range scaled(50_000) {
			ptr, err := p.PutBytes(pattern(100, uint64(i)))
			require.NoError(t, err)
			require.NoError(t, p.Delete(ptr))
		}
		require.LessOrEqual(t, p.Stats().AllocatedBytes, int64(2*miB))
	})
}

// A View that never ends keeps its own slot and nothing else.
func TestEndlessViewKeepsOnlyItsSlotFromReuse(t *testing.T) {
	eachBacking(t, pile.Options{SegmentSize: miB}, func(t *testing.T, p *pile.Pile) {
		const size = 200
		ptrs := fill(t, p, 3*miB/(size+8), size)
		kept := ptrs[len(ptrs)/2]
		want := get(t, p, kept)
		require.NoError(t, p.View(kept, func(b []byte) error {
			before := p.Stats()
			for range 10 {
				n, err := p.DeleteMany(ptrs)
				assert.NoError(t, err)
				assert.Equal(t, len(ptrs), n)
				for i := range ptrs {
					if ptrs[i], err = p.PutBytes(pattern(size, 2)); !assert.NoError(t, err) {
						return err
					}
				}
				assert.LessOrEqual(t, p.Stats().AllocatedBytes, before.AllocatedBytes+2*pageSize)
			}
			assert.Equal(t, want, b)
			return nil
		}))
		deleteAll(t, p, ptrs)
		_, err := p.Compact(t.Context(), nil)
		require.NoError(t, err)
	})
}

// The same in a pile that is full, where every freed slot counts.
func TestEndlessViewInAFullPileCostsOneSlot(t *testing.T) {
	eachBacking(t, pile.Options{SegmentSize: miB, MaxMemory: 2 * miB}, func(t *testing.T, p *pile.Pile) {
		ptrs := untilFull(t, p, 1000)
		want := get(t, p, ptrs[5])
		require.NoError(t, p.View(ptrs[5], func(b []byte) error {
			n, err := p.DeleteMany(ptrs)
			assert.NoError(t, err)
			assert.Equal(t, len(ptrs), n)
			again := untilFull(t, p, 1000)
			assert.GreaterOrEqual(t, len(again), len(ptrs)-1)
			assert.Equal(t, want, b)
			n, err = p.DeleteMany(again)
			assert.NoError(t, err)
			assert.Equal(t, len(again), n)
			return nil
		}))
		require.GreaterOrEqual(t, len(untilFull(t, p, 1000)), len(ptrs), "the slot comes back when the view has ended")
	})
}
