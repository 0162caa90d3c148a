package pile_test

import (
	"testing"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/require"
)

func TestDeletedHandleIsStale(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for _, n := range []int{0, 8, 300, 70_000} {
			ptr, neighbour := put(t, p, pattern(n, 1)), put(t, p, pattern(n, 2))
			require.NoError(t, p.Delete(ptr))
			require.ErrorIs(t, p.Delete(ptr), pile.ErrStalePointer, "a second Delete of %d bytes", n)
			requireDead(t, p, ptr, pile.ErrStalePointer)
			require.Equal(t, pattern(n, 2), get(t, p, neighbour))
			require.NoError(t, p.Delete(neighbour))
			require.Zero(t, p.Stats().Objects)
		}
	})
}

func TestDeletedLinkedHandleIsStale(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptr := put(t, p, pattern(10, 1))
		require.NoError(t, p.UpdateBytes(ptr, pattern(5000, 1)))
		require.NoError(t, p.Delete(ptr))
		requireDead(t, p, ptr, pile.ErrStalePointer)
		s := p.Stats()
		require.Zero(t, s.Objects+s.Bytes+s.Links)
	})
}

func TestZeroHandleIsInvalidForEveryCall(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		requireDead(t, p, 0, pile.ErrInvalidPointer)
		put(t, p, []byte("x"))
		requireDead(t, p, 0, pile.ErrInvalidPointer)
		require.EqualValues(t, 1, p.Stats().Objects)
	})
}

// The ancestor's checkerboards: every second or third of many values stays, the others go.
func TestCheckerboardKeepsExactlyTheOthers(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for _, every := range []int{2, 3, 5} {
			n := scaled(8000)
			ptrs := make([]pile.PilePointer, n)
			for i := range ptrs {
				ptrs[i] = put(t, p, pattern(i%180, uint64(i)))
			}
			kept := 0
			for i, ptr := range ptrs {
				if i%every != 0 {
					require.NoError(t, p.Delete(ptr))
				} else {
					kept++
				}
			}
			require.EqualValues(t, kept, p.Stats().Objects)
			for i, ptr := range ptrs {
				if i%every == 0 {
					require.Equal(t, pattern(i%180, uint64(i)), get(t, p, ptr))
				} else {
					_, err := p.GetBytes(ptr)
					require.ErrorIs(t, err, pile.ErrStalePointer)
				}
			}
			require.NoError(t, p.Purge())
		}
	})
}
