package pile_test

import (
	"math/rand/v2"
	"testing"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/require"
)

func TestStatsOfAnEmptyPileAreZero(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		s := p.Stats()
		require.Zero(t, s.Objects+s.Bytes+s.Links+s.Puts+s.Gets+s.Deletes+s.Updates)
	})
}

func TestStatsAreExactAfterRandomWork(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		rng := newRand(t)
		sizes := map[pile.PilePointer]int{}
		moved := map[pile.PilePointer]bool{}
		var keys []pile.PilePointer
		var puts, deletes, updates, bytes int64
		for range scaled(20_000) {
			n := rng.IntN(400)
			switch op := rng.IntN(10); {
			case op < 4 || len(keys) == 0:
				ptr := put(t, p, pattern(n, 1))
				keys, sizes[ptr] = append(keys, ptr), n
				puts++
				bytes += int64(n)
			case op < 5:
				values := [][]byte{pattern(n, 1), pattern(n, 2), pattern(n, 3)}
				ptrs, err := p.PutMany(values, nil)
				require.NoError(t, err)
				for _, ptr := range ptrs {
					keys, sizes[ptr] = append(keys, ptr), n
				}
				puts += 3
				bytes += int64(3 * n)
			case op < 7:
				ptr := keys[rng.IntN(len(keys))]
				require.NoError(t, p.UpdateBytes(ptr, pattern(n+2000, 2)))
				bytes += int64(n + 2000 - sizes[ptr])
				sizes[ptr], moved[ptr] = n+2000, true
				updates++
			case op < 8:
				p.GetBytes(0)
				p.Delete(0)
				p.UpdateBytes(0, nil) // what fails does not count
			default:
				i := rng.IntN(len(keys))
				ptr := keys[i]
				keys[i] = keys[len(keys)-1]
				keys = keys[:len(keys)-1]
				if rng.IntN(2) == 0 {
					require.NoError(t, p.Delete(ptr))
				} else {
					deleteAll(t, p, []pile.PilePointer{ptr})
				}
				deletes++
				bytes -= int64(sizes[ptr])
				delete(sizes, ptr)
				delete(moved, ptr)
			}
		}
		s := p.Stats()
		require.EqualValues(t, len(keys), s.Objects)
		require.Equal(t, bytes, s.Bytes)
		require.EqualValues(t, len(moved), s.Links)
		require.Equal(t, puts, s.Puts)
		require.Equal(t, deletes, s.Deletes)
		require.Equal(t, updates, s.Updates)
		require.GreaterOrEqual(t, s.AllocatedBytes, s.Bytes)
		require.GreaterOrEqual(t, s.MappedBytes, s.AllocatedBytes)
		require.Positive(t, s.OverheadBytes)
		for _, ptr := range keys {
			get(t, p, ptr)
		}
		require.EqualValues(t, len(keys), p.Stats().Gets-s.Gets)
	})
}

func TestStatsAreExactAfterConcurrentWork(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		const each = 3
		n := scaled(3000)
		together(t, 8, func(g int, rng *rand.Rand) error {
			for range n {
				var ptrs [each]pile.PilePointer
				for i := range ptrs {
					ptr, err := p.PutBytes(pattern(10+g, 1))
					if err != nil {
						return err
					}
					ptrs[i] = ptr
				}
				if err := p.UpdateBytes(ptrs[0], pattern(1000, 1)); err != nil {
					return err
				}
				if _, err := p.DeleteMany(ptrs[:2]); err != nil {
					return err
				}
				if rng.IntN(2) == 0 {
					p.Stats()
				}
				if err := p.Delete(ptrs[2]); err != nil {
					return err
				}
			}
			_, err := p.PutBytes(make([]byte, 10))
			return err
		})
		s := p.Stats()
		require.EqualValues(t, 8, s.Objects)
		require.EqualValues(t, 80, s.Bytes)
		require.Zero(t, s.Links)
		require.EqualValues(t, 8*each*n+8, s.Puts)
		require.EqualValues(t, 8*each*n, s.Deletes)
		require.EqualValues(t, 8*n, s.Updates)
	})
}
