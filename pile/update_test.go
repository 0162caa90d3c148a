package pile_test

import (
	"slices"
	"testing"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/require"
)

// updateSizes hold values too small to hold a link (a weakness of the ancestor), classes and large runs.
var updateSizes = []int{0, 1, 7, 8, 9, 100, 389, 2000, 3000, 8000, 70_000, 200_000}

func TestUpdateFromAnySizeToAnySizeKeepsTheHandle(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for _, from := range updateSizes {
			for _, to := range updateSizes {
				ptr := put(t, p, pattern(from, 1))
				want := pattern(to, 2)
				require.NoError(t, p.UpdateBytes(ptr, want), "%d to %d", from, to)
				require.Equal(t, want, get(t, p, ptr), "%d to %d", from, to)
				size, err := p.SizeOf(ptr)
				require.NoError(t, err)
				require.Equal(t, to, size)
				s := p.Stats()
				require.EqualValues(t, 1, s.Objects)
				require.EqualValues(t, to, s.Bytes)

				back := pattern(from, 3)
				require.NoError(t, p.UpdateString(ptr, string(back)))
				require.Equal(t, back, get(t, p, ptr), "%d to %d and back", from, to)
				require.NoError(t, p.Update(ptr, want))
				require.Equal(t, want, get(t, p, ptr))
				require.NoError(t, p.Delete(ptr))
				s = p.Stats()
				require.Zero(t, s.Objects)
				require.Zero(t, s.Bytes)
				require.Zero(t, s.Links, "Delete frees the target too")
			}
		}
	})
}

func kindOf(t *testing.T, p *pile.Pile, ptr pile.PilePointer) pile.Kind {
	t.Helper()
	for found, e := range p.All() {
		if found == ptr {
			return e.Kind
		}
	}
	t.Fatalf("All does not yield %v", ptr)
	return 0
}

func TestUpdateChangesTheKind(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptr := put(t, p, []byte("a"))
		require.Equal(t, pile.KindBytes, kindOf(t, p, ptr))
		require.NoError(t, p.UpdateString(ptr, "b"))
		require.Equal(t, pile.KindString, kindOf(t, p, ptr))
		require.NoError(t, p.UpdateBytes(ptr, []byte("c")))
		require.Equal(t, pile.KindBytes, kindOf(t, p, ptr))
		require.NoError(t, p.Update(ptr, "d"))
		require.Equal(t, pile.KindString, kindOf(t, p, ptr))
		require.NoError(t, p.Update(ptr, []byte("e")))
		require.Equal(t, pile.KindBytes, kindOf(t, p, ptr))

		s, err := p.PutString("s")
		require.NoError(t, err)
		require.Equal(t, pile.KindString, kindOf(t, p, s))
		r, err := p.PutReserve("s", 10)
		require.NoError(t, err)
		require.Equal(t, pile.KindString, kindOf(t, p, r))
	})
}

func TestLinksCountValuesThatMovedOut(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptrs := fill(t, p, 50, 12)
		require.Zero(t, p.Stats().Links)
		for i, ptr := range ptrs {
			require.NoError(t, p.UpdateBytes(ptr, pattern(5000, uint64(i))))
			require.EqualValues(t, i+1, p.Stats().Links)
		}
		for i, ptr := range ptrs {
			require.NoError(t, p.UpdateBytes(ptr, pattern(9000, uint64(i))))
			require.EqualValues(t, 50, p.Stats().Links, "a second move replaces the target")
		}
		require.EqualValues(t, 50, p.Stats().Objects, "a target is no object")
		for i, ptr := range ptrs {
			require.Equal(t, pattern(9000, uint64(i)), get(t, p, ptr))
			require.NoError(t, p.Delete(ptr))
			require.EqualValues(t, 49-i, p.Stats().Links)
		}
	})
}

// The ancestor wrote the link before it had the room, so a failed update lost the old value.
func TestFailedUpdateLeavesTheOldValue(t *testing.T) {
	eachBacking(t, pile.Options{MaxMemory: 4 * miB, SegmentSize: miB}, func(t *testing.T, p *pile.Pile) {
		want := pattern(100, 1)
		direct, linked := put(t, p, want), put(t, p, pattern(10, 1))
		require.NoError(t, p.UpdateBytes(linked, want))
		untilFull(t, p, 500*kiB)
		untilFull(t, p, 10*kiB)
		before := p.Stats()
		for _, ptr := range []pile.PilePointer{direct, linked} {
			require.ErrorIs(t, p.UpdateBytes(ptr, make([]byte, 600*kiB)), pile.ErrOutOfSpace)
			require.ErrorIs(t, p.UpdateBytes(ptr, make([]byte, p.MaxValueSize()+1)), pile.ErrTooLarge)
			require.ErrorIs(t, p.Update(ptr, nil), pile.ErrNil)
			require.Error(t, p.Update(ptr, make(chan int)), "no serializer takes a channel")
			require.Equal(t, want, get(t, p, ptr))
		}
		after := p.Stats()
		require.Equal(t, before.Objects, after.Objects)
		require.Equal(t, before.Bytes, after.Bytes)
		require.Equal(t, before.Links, after.Links)
		require.NoError(t, p.Check(t.Context()))
	})
}

// untilFull puts values of one size until the pile is out of space, and returns their handles.
func untilFull(t testing.TB, p *pile.Pile, size int) []pile.PilePointer {
	t.Helper()
	var ptrs []pile.PilePointer
	b := pattern(size, 7)
	for {
		ptr, err := p.PutBytes(b)
		if err != nil {
			require.ErrorIs(t, err, pile.ErrOutOfSpace)
			return ptrs
		}
		ptrs = append(ptrs, ptr)
	}
}

func TestPutOfNilOrUnknownKindStoresNothing(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptr, err := p.PutReserve(nil, 10)
		require.ErrorIs(t, err, pile.ErrNil)
		require.False(t, ptr.Valid())
		ptr, err = p.PutReserve(make(chan int), 10)
		require.Error(t, err)
		require.False(t, ptr.Valid())
		require.Zero(t, p.Stats().Objects)
		require.Empty(t, slices.Collect(handles(p)))
	})
}
