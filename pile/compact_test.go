package pile_test

import (
	"context"
	"testing"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/require"
)

func TestPurgeEmptiesThePile(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptrs := fill(t, p, 5000, 50)
		require.NoError(t, p.UpdateBytes(ptrs[7], pattern(3000, 1)))
		ptrs = append(ptrs, put(t, p, pattern(200_000, 1)))
		require.NoError(t, p.Purge())
		s := p.Stats()
		require.Zero(t, s.Objects)
		require.Zero(t, s.Bytes)
		require.Zero(t, s.Links)
		for range p.All() {
			t.Fatal("All yields something after Purge")
		}
		for _, ptr := range ptrs {
			requireDead(t, p, ptr, pile.ErrStalePointer)
		}
		require.NoError(t, p.Purge(), "twice is fine")
	})
}

func TestPurgeNeverGivesAnOldHandleOutAgain(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		old := map[pile.PilePointer]bool{}
		for round := range 5 {
			ptrs := fill(t, p, 2000, 20+round%2*300)
			ptrs = append(ptrs, put(t, p, pattern(200_000, 1)))
			for _, ptr := range ptrs {
				require.False(t, old[ptr], "%v is given out again", ptr)
				old[ptr] = true
			}
			require.NoError(t, p.Purge())
		}
		fill(t, p, 2000, 20)
		before := p.Stats()
		for ptr := range old {
			requireDead(t, p, ptr, pile.ErrStalePointer)
		}
		require.Equal(t, before.Objects, p.Stats().Objects)
	})
}

func TestPurgedPileIsAsRoomyAsANewOne(t *testing.T) {
	eachBacking(t, pile.Options{MaxMemory: 4 * miB, SegmentSize: miB}, func(t *testing.T, p *pile.Pile) {
		first := len(untilFull(t, p, 1000))
		for _, size := range []int{100, 20_000, 1000, 300_000, 1000} {
			require.NoError(t, p.Purge())
			n := len(untilFull(t, p, size))
			require.Positive(t, n)
			if size == 1000 {
				require.GreaterOrEqual(t, n, first*98/100)
			}
		}
	})
}

func TestCompactGivesEmptyMemoryBack(t *testing.T) {
	eachBacking(t, pile.Options{SegmentSize: miB}, func(t *testing.T, p *pile.Pile) {
		empty := p.Stats()
		var ptrs []pile.PilePointer
		for _, size := range []int{32, 200, 1000, 5000, 70_000} {
			ptrs = append(ptrs, fill(t, p, 3*miB/size, size)...)
		}
		full := p.Stats()
		require.Greater(t, full.Segments, int64(12))
		deleteAll(t, p, ptrs)
		freed := int64(0)
		eventually(t, "the memory of an emptied pile is given back", func() bool {
			n, err := p.Compact(context.Background(), nil)
			require.NoError(t, err)
			freed += n
			s := p.Stats()
			return s.AllocatedBytes <= empty.AllocatedBytes+miB && s.Segments <= max(1, empty.Segments) && s.MappedBytes <= max(miB, empty.MappedBytes)
		})
		require.GreaterOrEqual(t, freed, (full.AllocatedBytes-empty.AllocatedBytes)*9/10, "Compact tells how much it gave back")
		for i := 0; i < len(ptrs); i += 50 {
			requireDead(t, p, ptrs[i], pile.ErrStalePointer, pile.ErrInvalidPointer)
		}
	})
}

func TestCompactKeepsWhatIsAlive(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		alive := map[pile.PilePointer]uint64{}
		var gone []pile.PilePointer
		for i := range 20_000 {
			ptr := put(t, p, pattern(100, uint64(i)))
			if i%1000 == 0 {
				alive[ptr] = uint64(i)
			} else {
				gone = append(gone, ptr)
			}
		}
		deleteAll(t, p, gone)
		for range 3 {
			_, err := p.Compact(context.Background(), nil)
			require.NoError(t, err)
		}
		for ptr, n := range alive {
			require.Equal(t, pattern(100, n), get(t, p, ptr))
		}
		require.EqualValues(t, len(alive), p.Stats().Objects)
	})
}

// The ancestor's PileDeleteInMiddleSegment: an empty segment goes wherever it is.
func TestCompactGivesBackASegmentInTheMiddle(t *testing.T) {
	eachBacking(t, pile.Options{SegmentSize: miB}, func(t *testing.T, p *pile.Pile) {
		ptrs := fill(t, p, 60_000, 200)
		full := p.Stats()
		deleteAll(t, p, ptrs[20_000:40_000]) // 4 MiB: at least two whole segments, wherever they begin
		eventually(t, "the empty segments go back", func() bool {
			_, err := p.Compact(context.Background(), nil)
			require.NoError(t, err)
			return p.Stats().Segments <= full.Segments-2
		})
		for _, ptr := range append(ptrs[:20_000:20_000], ptrs[40_000:]...) {
			_, err := p.SizeOf(ptr)
			require.NoError(t, err)
		}
		again := fill(t, p, 20_000, 200)
		require.LessOrEqual(t, p.Stats().Segments, full.Segments+1, "the hole is used again")
		deleteAll(t, p, again)
	})
}

// The ancestor gave a 256 MiB segment back with its last object and cleared a new one for the next.
func TestPutAndDeleteInTurnNeedOneSegment(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for range scaled(5000) {
			require.NoError(t, p.Delete(put(t, p, pattern(100, 1))))
		}
		require.LessOrEqual(t, p.Stats().Segments, int64(1))
	})
}

func TestCancelledContextStopsCompactAndCheck(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptrs := fill(t, p, 1000, 100)
		deleteAll(t, p, ptrs[1:])
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := p.Compact(ctx, nil)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, p.Check(ctx), context.Canceled)
		require.NotEmpty(t, get(t, p, ptrs[0]))
		_, err = p.Compact(context.Background(), nil)
		require.NoError(t, err)
	})
}
