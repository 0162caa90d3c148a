package pile_test

import (
	"errors"
	"testing"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBatchesOfAllLengthsRoundTrip(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for _, n := range []int{0, 1, 2, 63, 64, 65, 255, 256, 257, 5000} {
			values := make([][]byte, n)
			for i := range values {
				values[i] = pattern(i%300, uint64(i))
				if i%1000 == 999 {
					values[i] = pattern(70_000, uint64(i))
				}
			}
			if n > 2 {
				values[1] = nil
			}
			ptrs, err := p.PutMany(values, nil)
			require.NoError(t, err)
			require.Len(t, ptrs, n)
			require.EqualValues(t, n, p.Stats().Objects)
			seen := make([]int, n)
			require.NoError(t, p.GetMany(ptrs, func(i int, b []byte, err error) bool {
				seen[i]++
				assert.NoError(t, err)
				assert.True(t, string(values[i]) == string(b), "element %d of %d", i, n)
				return true
			}))
			for i, times := range seen {
				require.Equal(t, 1, times, "calls for element %d of %d", i, n)
				require.True(t, string(values[i]) == string(get(t, p, ptrs[i])))
			}
			deleteAll(t, p, ptrs)
			require.Zero(t, p.Stats().Objects)
		}
	})
}

func TestPutManyAppendsToDst(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		first := put(t, p, []byte("first"))
		dst := make([]pile.PilePointer, 1, 8)
		dst[0] = first
		got, err := p.PutMany([][]byte{[]byte("a"), []byte("b")}, dst)
		require.NoError(t, err)
		require.Len(t, got, 3)
		require.Equal(t, first, got[0])
		require.Same(t, &dst[0], &got[0], "room in dst is used")
		require.Equal(t, "b", string(get(t, p, got[2])))
	})
}

func TestPutManyWithATooLargeValueReturnsTheStoredPrefix(t *testing.T) {
	eachBacking(t, pile.Options{SegmentSize: miB}, func(t *testing.T, p *pile.Pile) {
		big := make([]byte, p.MaxValueSize()+1)
		for _, at := range []int{0, 1, 100, 499} {
			values := make([][]byte, 500)
			for i := range values {
				values[i] = pattern(20, uint64(i))
			}
			values[at] = big
			kept := put(t, p, []byte("kept"))
			got, err := p.PutMany(values, []pile.PilePointer{kept})
			require.ErrorIs(t, err, pile.ErrTooLarge)
			require.NotEmpty(t, got)
			require.Equal(t, kept, got[0])
			require.LessOrEqual(t, len(got)-1, at, "nothing from the bad value on is stored")
			require.EqualValues(t, len(got), p.Stats().Objects, "the handles returned are all there is")
			for i, ptr := range got[1:] {
				require.Equal(t, values[i], get(t, p, ptr))
			}
			deleteAll(t, p, got)
		}
	})
}

func TestPutManyOutOfSpaceReturnsTheStoredPrefix(t *testing.T) {
	eachBacking(t, pile.Options{MaxMemory: 4 * miB, SegmentSize: miB}, func(t *testing.T, p *pile.Pile) {
		values := make([][]byte, 8000)
		for i := range values {
			values[i] = pattern(1000, uint64(i))
		}
		got, err := p.PutMany(values, nil)
		require.ErrorIs(t, err, pile.ErrOutOfSpace)
		require.Greater(t, len(got), 2500, "most of 4 MiB is filled first")
		require.Less(t, len(got), len(values))
		require.EqualValues(t, len(got), p.Stats().Objects)
		for i, ptr := range got {
			require.Equal(t, values[i], get(t, p, ptr))
		}
	})
}

func TestGetManyReportsEachBadHandleAndGoesOn(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptrs := fill(t, p, 100, 30)
		want := make([][]byte, len(ptrs))
		for i, ptr := range ptrs {
			want[i] = get(t, p, ptr)
		}
		require.NoError(t, p.Delete(ptrs[10]))
		ptrs[20] = 0
		ptrs[30] = ptrs[31] // the same twice is fine
		want[30] = want[31]
		seen := 0
		err := p.GetMany(ptrs, func(i int, b []byte, err error) bool {
			seen++
			switch i {
			case 10:
				assert.ErrorIs(t, err, pile.ErrStalePointer)
			case 20:
				assert.ErrorIs(t, err, pile.ErrInvalidPointer)
			default:
				assert.NoError(t, err)
				assert.Equal(t, want[i], b)
				return true
			}
			assert.Empty(t, b)
			return true
		})
		require.Equal(t, len(ptrs), seen)
		if err != nil { // telling each to fn is enough; telling again at the end is allowed
			require.True(t, errors.Is(err, pile.ErrStalePointer) || errors.Is(err, pile.ErrInvalidPointer), "%v", err)
		}
	})
}

func TestGetManyStopsWhenToldTo(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptrs := fill(t, p, 500, 30)
		for _, stop := range []int{1, 2, 64, 65, 300, 500} {
			calls := 0
			require.NoError(t, p.GetMany(ptrs, func(int, []byte, error) bool {
				calls++
				return calls < stop
			}))
			require.Equal(t, stop, calls)
		}
	})
}

// The rest of a batch may be deleted and reused by the callback: each later element is right or an error.
func TestGetManySeesNoForeignValueWhenItsCallbackDeletes(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptrs := make([]pile.PilePointer, 256)
		for i := range ptrs {
			ptrs[i] = put(t, p, pattern(40, uint64(i)))
		}
		first := true
		require.NoError(t, p.GetMany(ptrs, func(i int, b []byte, err error) bool {
			mine := append([]byte{}, b...)
			if first {
				first = false
				deleteAll(t, p, ptrs)
				fill(t, p, 3000, 40)
			}
			if err != nil {
				assert.ErrorIs(t, err, pile.ErrStalePointer)
				return true
			}
			assert.Equal(t, pattern(40, uint64(i)), mine)
			assert.Equal(t, mine, b, "element %d changed during its callback", i)
			return true
		}))
	})
}

func TestDeleteManyGoesOnPastBadHandlesAndJoinsTheirErrors(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptrs := fill(t, p, 300, 30)
		require.NoError(t, p.UpdateBytes(ptrs[5], pattern(4000, 1))) // a link among them
		require.NoError(t, p.Delete(ptrs[100]))
		batch := append([]pile.PilePointer{}, ptrs...)
		batch[200] = 0
		batch = append(batch, ptrs[0]) // twice in one batch: the second is stale
		n, err := p.DeleteMany(batch)
		require.Equal(t, 298, n)
		require.ErrorIs(t, err, pile.ErrStalePointer)
		require.ErrorIs(t, err, pile.ErrInvalidPointer)
		s := p.Stats()
		require.EqualValues(t, 1, s.Objects, "the one whose handle was replaced by zero")
		require.Zero(t, s.Links)
		require.NoError(t, p.Delete(ptrs[200]))

		n, err = p.DeleteMany(nil)
		require.NoError(t, err)
		require.Zero(t, n)
	})
}
