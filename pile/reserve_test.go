package pile_test

import (
	"testing"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/require"
)

func TestReservedRoomIsNoPartOfTheValue(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for _, room := range []int{0, 1, 3, 4, 100, 4000, 70_000} {
			ptr, err := p.PutReserve([]byte{1, 2, 3}, room)
			require.NoError(t, err, "room for %d; less than the value needs is no error", room)
			require.Equal(t, []byte{1, 2, 3}, get(t, p, ptr))
			size, err := p.SizeOf(ptr)
			require.NoError(t, err)
			require.Equal(t, 3, size)
			require.EqualValues(t, 3, p.Stats().Bytes)
			require.NoError(t, p.Delete(ptr))
		}
	})
}

func TestAbsurdCapacityIsRefusedOrHarmless(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		const maxInt = int(^uint(0) >> 1)
		for _, room := range []int{p.MaxValueSize() + 1, maxInt, maxInt - 7, maxInt - 16} {
			_, err := p.PutReserve("x", room)
			require.ErrorIs(t, err, pile.ErrTooLarge, "capacity %d", room)
		}
		for _, room := range []int{-1, -maxInt, -maxInt - 1} {
			if ptr, err := p.PutReserve("x", room); err == nil {
				require.Equal(t, "x", string(get(t, p, ptr)))
				require.NoError(t, p.Delete(ptr))
			}
		}
		require.Zero(t, p.Stats().Objects)
	})
}

// The ancestor's Reallocate_BackOriginal: what fits the reserved room goes back into it. Here it does so once
// nobody can be reading the room any more: after a grace period, which Compact waits for.
func TestUpdateWithinCapacityReturnsToTheReservedRoom(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptr, err := p.PutReserve(pattern(2000, 1), 2000)
		require.NoError(t, err)
		require.Zero(t, p.Stats().Links)
		require.NoError(t, p.UpdateBytes(ptr, pattern(8000, 2)))
		require.EqualValues(t, 1, p.Stats().Links)
		n := 0
		eventually(t, "an update of the reserved size ends in the reserved room", func() bool {
			if n++; n%100 == 0 {
				_, err := p.Compact(t.Context(), nil)
				require.NoError(t, err)
			}
			want := pattern(1000+n%1001, uint64(n))
			require.NoError(t, p.UpdateBytes(ptr, want))
			require.Equal(t, want, get(t, p, ptr))
			return p.Stats().Links == 0
		})
	})
}

func TestUpdatesWithinCapacityTakeNoMoreMemory(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		rng := newRand(t)
		ptrs := make([]pile.PilePointer, 500)
		want := make([][]byte, len(ptrs))
		for i := range ptrs {
			ptr, err := p.PutReserve(pattern(i, 0), 2000)
			require.NoError(t, err)
			ptrs[i] = ptr
		}
		round := func(r int) {
			for i, ptr := range ptrs {
				want[i] = pattern(rng.IntN(2001), uint64(r*1000+i))
				require.NoError(t, p.UpdateBytes(ptr, want[i]))
			}
		}
		for r := range 5 {
			round(r)
		}
		before := p.Stats()
		for r := range max(5, scaled(50)) {
			round(r)
		}
		after := p.Stats()
		require.LessOrEqual(t, after.AllocatedBytes, before.AllocatedBytes+miB)
		require.EqualValues(t, 500, after.Objects)
		for i, ptr := range ptrs {
			require.Equal(t, want[i], get(t, p, ptr))
		}
		deleteAll(t, p, ptrs)
		after = p.Stats()
		require.Zero(t, after.Objects)
		require.Zero(t, after.Links)
		require.Zero(t, after.Bytes)
	})
}
