package pile_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// callers are the calls that run code of the user. Each calls act once, inside its callback, with a live handle;
// the other handles of ptrs are alive too.
var callers = map[string]func(p *pile.Pile, ptrs []pile.PilePointer, act func(pile.PilePointer)){
	"View": func(p *pile.Pile, ptrs []pile.PilePointer, act func(pile.PilePointer)) {
		p.View(ptrs[0], func([]byte) error { act(ptrs[0]); return nil })
	},
	"View of a linked value": func(p *pile.Pile, ptrs []pile.PilePointer, act func(pile.PilePointer)) {
		p.UpdateBytes(ptrs[0], pattern(5000, 1))
		p.View(ptrs[0], func([]byte) error { act(ptrs[0]); return nil })
	},
	"GetMany": func(p *pile.Pile, ptrs []pile.PilePointer, act func(pile.PilePointer)) {
		acted := false
		p.GetMany(ptrs, func(i int, _ []byte, err error) bool {
			if !acted && err == nil && i == len(ptrs)/2 {
				acted = true
				act(ptrs[i])
			}
			return true
		})
	},
	"GetMany for a bad handle": func(p *pile.Pile, ptrs []pile.PilePointer, act func(pile.PilePointer)) {
		p.GetMany([]pile.PilePointer{ptrs[0], 0, ptrs[1]}, func(i int, _ []byte, _ error) bool {
			if i == 1 {
				act(ptrs[2])
			}
			return true
		})
	},
	"All": func(p *pile.Pile, _ []pile.PilePointer, act func(pile.PilePointer)) {
		acted := false
		for ptr := range p.All() {
			if !acted {
				acted = true
				act(ptr)
			}
		}
	},
}

var errOwn = errors.New("the callback's own panic")

// actions are what a callback may do. None may hang, and none may leave a lock held.
var actions = map[string]func(t *testing.T, p *pile.Pile, ptr pile.PilePointer){
	"panic":  func(*testing.T, *pile.Pile, pile.PilePointer) { panic(errOwn) },
	"Goexit": func(*testing.T, *pile.Pile, pile.PilePointer) { runtime.Goexit() },
	"Put": func(t *testing.T, p *pile.Pile, _ pile.PilePointer) {
		for range 3000 {
			_, err := p.PutBytes(pattern(100, 1))
			assert.NoError(t, err)
		}
	},
	"PutMany": func(t *testing.T, p *pile.Pile, _ pile.PilePointer) {
		_, err := p.PutMany(make([][]byte, 1000), nil)
		assert.NoError(t, err)
	},
	"Delete": func(t *testing.T, p *pile.Pile, ptr pile.PilePointer) {
		assert.NoError(t, p.Delete(ptr))
		assert.ErrorIs(t, p.Delete(ptr), pile.ErrStalePointer)
	},
	"Update": func(t *testing.T, p *pile.Pile, ptr pile.PilePointer) {
		for i := range 100 {
			assert.NoError(t, p.UpdateBytes(ptr, pattern(i*20, 1)))
		}
	},
	"read": func(t *testing.T, p *pile.Pile, ptr pile.PilePointer) {
		_, err := p.GetBytes(ptr)
		assert.NoError(t, err)
		assert.NoError(t, p.View(ptr, func([]byte) error {
			return p.View(ptr, func([]byte) error { return nil })
		}))
		assert.NoError(t, p.GetMany([]pile.PilePointer{ptr, ptr}, func(int, []byte, error) bool { return true }))
	},
	"All": func(t *testing.T, p *pile.Pile, ptr pile.PilePointer) {
		n := 0
		for range p.All() {
			n++
		}
		assert.Positive(t, n)
	},
	"Stats, Check, Compact": func(t *testing.T, p *pile.Pile, _ pile.PilePointer) {
		assert.Positive(t, p.Stats().Objects)
		assert.NoError(t, p.Check(context.Background()))
		_, err := p.Compact(context.Background(), nil)
		assert.NoError(t, err)
	},
	"Purge": func(t *testing.T, p *pile.Pile, ptr pile.PilePointer) {
		assert.NoError(t, p.Purge())
		_, err := p.SizeOf(ptr)
		assert.ErrorIs(t, err, pile.ErrStalePointer)
	},
	"Close": func(t *testing.T, p *pile.Pile, ptr pile.PilePointer) {
		assert.NoError(t, p.Close())
		_, err := p.GetBytes(ptr)
		assert.ErrorIs(t, err, pile.ErrClosed)
		assert.NoError(t, p.Close())
	},
	"Close, then panic": func(t *testing.T, p *pile.Pile, ptr pile.PilePointer) {
		assert.NoError(t, p.Close())
		panic(errOwn)
	},
	"Close, then Goexit": func(t *testing.T, p *pile.Pile, ptr pile.PilePointer) {
		assert.NoError(t, p.Close())
		runtime.Goexit()
	},
}

func TestCallbacksMayDoAnything(t *testing.T) {
	for caller, call := range callers {
		for action, act := range actions {
			t.Run(caller+" with "+action, func(t *testing.T) {
				eachBacking(t, pile.Options{SegmentSize: 4 * miB}, func(t *testing.T, p *pile.Pile) {
					ptrs := fill(t, p, 300, 30)
					acted, recovered := false, any(nil)
					within(t, action+" inside "+caller, func() {
						defer func() { recovered = recover() }()
						call(p, ptrs, func(ptr pile.PilePointer) {
							acted = true
							act(t, p, ptr)
						})
					})
					require.True(t, acted)
					if recovered != nil {
						require.True(t, recovered == any(errOwn), "the user's panic passes as it is: %v", recovered)
					}
					within(t, "work after "+action+" inside "+caller, func() { afterwards(t, p) })
				})
			})
		}
	}
}

// afterwards shows that no lock is held and no slot pinned: the pile works as before, or is closed.
func afterwards(t *testing.T, p *pile.Pile) {
	if p.Stats().MappedBytes == 0 || isDone(p) {
		return
	}
	for range 5000 {
		ptr, err := p.PutBytes(pattern(30, 1))
		if errors.Is(err, pile.ErrClosed) {
			return
		}
		assert.NoError(t, err)
		assert.NoError(t, p.UpdateBytes(ptr, pattern(31, 1)))
		assert.NoError(t, p.Delete(ptr))
	}
	assert.NoError(t, p.Purge())
	_, err := p.Compact(context.Background(), nil)
	assert.NoError(t, err)
	assert.LessOrEqual(t, p.Stats().AllocatedBytes, int64(miB), "a view that panicked still pins its page")
}

// While callbacks hang in all the calls, others go on.
func TestBlockedCallbacksBlockNobody(t *testing.T) {
	for caller, call := range callers {
		t.Run(caller, func(t *testing.T) {
			eachBacking(t, pile.Options{SegmentSize: 4 * miB}, func(t *testing.T, p *pile.Pile) {
				ptrs := fill(t, p, 300, 30)
				release, entered, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
				go func() {
					defer close(left)
					call(p, ptrs, func(pile.PilePointer) {
						close(entered)
						<-release
					})
				}()
				<-entered
				for action, act := range actions {
					switch action {
					case "panic", "Goexit", "Purge", "Close", "Close, then panic", "Close, then Goexit":
						continue
					}
					within(t, action+" beside a blocked "+caller, func() { act(t, p, put(t, p, pattern(50, 1))) })
				}
				within(t, "Purge beside a blocked "+caller, func() { assert.NoError(t, p.Purge()) })
				within(t, "Close beside a blocked "+caller, func() { assert.NoError(t, p.Close()) })
				close(release)
				<-left
				awaitDone(t, p)
			})
		})
	}
}

func TestManyCallbacksThatPanicLeaveNothingBehind(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptrs := fill(t, p, 100, 30)
		var panics atomic.Int64
		n := scaled(2000)
		together(t, 4, func(g int, rng *rand.Rand) error {
			for range n {
				func() {
					defer func() {
						if recover() != nil {
							panics.Add(1)
						}
					}()
					p.View(ptrs[rng.IntN(len(ptrs))], func([]byte) error { panic(errOwn) })
				}()
			}
			return nil
		})
		require.EqualValues(t, 4*n, panics.Load())
		deleteAll(t, p, ptrs)
		within(t, "work after many panics", func() { afterwards(t, p) })
	})
}
