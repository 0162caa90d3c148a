package pile_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/require"
)

// With one free slot in a full pile every Put has to take it again: 65,536 generations of one slot.
func TestHandleStaysStaleThroughManyReusesOfItsSlot(t *testing.T) {
	eachBacking(t, pile.Options{SegmentSize: miB, MaxMemory: 2 * miB}, func(t *testing.T, p *pile.Pile) {
		others := untilFull(t, p, 4000)
		ptr := others[len(others)/2]
		var old []pile.PilePointer
		seen := map[pile.PilePointer]bool{}
		for i := range scaled(1 << 16) {
			require.NoError(t, p.Delete(ptr))
			old = append(old, ptr)
			require.False(t, seen[ptr], "%v is given out a second time", ptr)
			seen[ptr] = true
			var err error
			ptr, err = p.PutBytes(pattern(4000, uint64(i)))
			require.NoError(t, err, "reuse %d", i)
		}
		_, err := p.PutBytes(make([]byte, 4000))
		require.ErrorIs(t, err, pile.ErrOutOfSpace, "the pile was full all the time")
		live := get(t, p, ptr)
		for i, ptr := range old {
			if i%100 == 0 {
				requireDead(t, p, ptr, pile.ErrStalePointer)
			}
			_, err := p.GetBytes(ptr)
			require.ErrorIs(t, err, pile.ErrStalePointer)
		}
		require.Equal(t, live, get(t, p, ptr))
		require.EqualValues(t, len(others), p.Stats().Objects)
	})
}

// A page that held small slots and holds large ones now has the old headers' places inside new values, and the
// other way round. The values are full of what looks like headers: every word of them is an old handle.
func TestHandleStaysStaleThroughClassChanges(t *testing.T) {
	for _, sizes := range [][]int{{32, 1000, 32}, {16, 70_000, 16}, {1000, 32, 5000}, {8, 2000, 200_000, 8, 120}} {
		t.Run(fmt.Sprint(sizes), func(t *testing.T) {
			eachBacking(t, pile.Options{SegmentSize: miB, MaxMemory: 4 * miB}, func(t *testing.T, p *pile.Pile) {
				var old []pile.PilePointer
				for round, size := range sizes {
					var live []pile.PilePointer
					want := forged(size, old)
					for range miB / (size + 16) {
						live = append(live, put(t, p, want))
					}
					stats := p.Stats()
					for i := 0; i < len(old); i += 1 + len(old)/scaled(5000) {
						requireDead(t, p, old[i], pile.ErrStalePointer, pile.ErrInvalidPointer)
					}
					require.Equal(t, stats.Objects, p.Stats().Objects, "round %d", round)
					for _, ptr := range live {
						require.Equal(t, want, get(t, p, ptr))
					}
					deleteAll(t, p, live)
					if round%2 == 0 {
						_, err := p.Compact(context.Background(), nil)
						require.NoError(t, err)
					} // else the pages change class only because they are wanted
					old = append(old, live...)
				}
			})
		})
	}
}

// forged is a value whose words repeat the bits of handles, so that a mistaken look into it finds generations
// and locations that were right once.
func forged(size int, handles []pile.PilePointer) []byte {
	b := pattern(size, 1)
	for i := 0; i+8 <= size && len(handles) > 0; i += 8 {
		h := uint64(handles[(i/8)%len(handles)])
		for j := range 8 {
			b[i+j] = byte(h >> (8 * j))
		}
	}
	return b
}

func TestHandleOfAnotherPileIsRefused(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for _, b := range backings() {
			other := open(t, pile.Options{SegmentSize: miB, Backing: b})
			mine, foreign := fill(t, p, 2000, 40), fill(t, other, 2000, 40)
			for _, ptr := range foreign {
				requireDead(t, p, ptr, pile.ErrStalePointer, pile.ErrInvalidPointer)
			}
			for _, ptr := range mine {
				requireDead(t, other, ptr, pile.ErrStalePointer, pile.ErrInvalidPointer)
			}
			require.EqualValues(t, 2000, p.Stats().Objects)
			require.EqualValues(t, 2000, other.Stats().Objects)
			deleteAll(t, p, mine)
		}
	})
}

// Random bits may hit a live slot with probability 2⁻²² at most. The bound below is passed by chance
// less than once in ten thousand runs.
func TestRandomBitsNeverFaultAndHardlyEverHit(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		rng := newRand(t)
		live := fill(t, p, 5000, 40)
		live = append(live, put(t, p, pattern(300_000, 1)), put(t, p, pattern(5000, 1)))
		require.NoError(t, p.UpdateBytes(live[0], pattern(3000, 1)))
		require.NoError(t, p.Delete(live[1]))
		alive := map[pile.PilePointer]bool{}
		for _, ptr := range live {
			alive[ptr] = true
		}
		before := p.Stats().Objects
		tries := scaled(50_000)
		hits := 0
		for range tries {
			any := live[rng.IntN(len(live))]
			for _, ptr := range []pile.PilePointer{
				pile.PilePointer(rng.Uint64()),
				any&^(1<<40-1) | pile.PilePointer(rng.Uint64N(1<<40)), // right generation, some location
				any ^ pile.PilePointer(rng.Uint64N(1<<17)),            // right generation, near a live one
				any&(1<<40-1) | pile.PilePointer(rng.Uint64N(1<<23))<<40,
			} {
				if !alive[ptr] && touch(p, ptr, rng) == nil {
					hits++
				}
			}
		}
		require.LessOrEqual(t, hits, 5, "of %d tries", 4*tries)
		require.GreaterOrEqual(t, p.Stats().Objects, before-int64(hits))
	})
}

// touch makes one random call with a handle that is most probably bad.
func touch(p *pile.Pile, ptr pile.PilePointer, rng *rand.Rand) error {
	switch rng.IntN(6) {
	case 0:
		_, err := p.SizeOf(ptr)
		return err
	case 1:
		return p.View(ptr, func([]byte) error { return nil })
	case 2:
		return p.Delete(ptr)
	case 3:
		return p.UpdateString(ptr, "intruder")
	case 4:
		_, err := p.DeleteMany([]pile.PilePointer{ptr})
		return err
	}
	_, err := p.GetBytes(ptr)
	return err
}

// A flipped bit may name a neighbour, which is then a good handle; anything else is an error.
func TestHandleWithFlippedBitsIsRefusedUnlessItIsAnothersHandle(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		want := map[pile.PilePointer][]byte{}
		for i := range 3000 {
			b := pattern(8+i%50, uint64(i))
			want[put(t, p, b)] = b
		}
		big := pattern(400_000, 1)
		want[put(t, p, big)] = big
		checked := 0
		for ptr := range want {
			if checked++; checked > 30 && len(want[ptr]) < 1000 {
				continue
			}
			for i := range 64 {
				for j := i; j < 64; j++ {
					bad := ptr ^ 1<<i ^ 1<<j // one bit when i == j, for 1<<i ^ 1<<i would be none
					if i == j {
						bad = ptr ^ 1<<i
					}
					b, err := p.GetBytes(bad)
					if w, ok := want[bad]; ok {
						require.Equal(t, w, b)
					} else {
						require.Error(t, err, "%v with bits %d and %d flipped", ptr, i, j)
						require.Error(t, p.Delete(bad))
					}
				}
			}
		}
		require.EqualValues(t, len(want), p.Stats().Objects)
	})
}

// Readers with handles that others delete and whose slots others take: the value they get is the one the handle
// was made for, or they get ErrStalePointer.
func TestStaleHandlesUnderChurnNeverGiveAForeignValue(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		churn(t, p, scaled(10_000), []int{32, 40, 33}, false)
		churn(t, p, scaled(5000), []int{32, 1000, 5000}, true)
	})
}
