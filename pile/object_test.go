package pile_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bigpile/bigpile/pile"
)

type node struct {
	Number int64
	Next   pile.PilePointer
}

type graph struct {
	Name string
	Self *graph
	Kids []*graph
}

func TestAnyValueComesBackAsItWas(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for _, v := range []any{[]byte("raw"), "text", 42, int8(-1), 3.5, true, node{1, 2}, &node{3, 4}, []string{"a", ""}, map[string]int{"x": 1}} {
			ptr, err := p.Put(v)
			require.NoError(t, err)
			got, err := p.Get(ptr)
			require.NoError(t, err)
			require.Equal(t, v, got)
		}
		g := &graph{Name: "root"}
		g.Self, g.Kids = g, []*graph{{Name: "kid"}, g}
		ptr, err := p.Put(g)
		require.NoError(t, err)
		v, err := p.Get(ptr)
		require.NoError(t, err)
		back := v.(*graph)
		require.Same(t, back, back.Self)
		require.Same(t, back, back.Kids[1])
	})
}

func TestPutRefusesWhatCannotBeStored(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		_, err := p.Put(nil)
		require.ErrorIs(t, err, pile.ErrNil)
		_, err = p.Put(struct{ Done chan int }{})
		require.ErrorIs(t, err, pile.ErrWrongType)
		require.ErrorContains(t, err, "Done")
		_, err = pile.Of[func()](p)
		require.ErrorIs(t, err, pile.ErrWrongType)
		require.Zero(t, p.Stats().Objects)
	})
}

func TestTypedListAppendedToByManyLosesNothing(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		nodes, err := pile.Of[node](p)
		require.NoError(t, err)
		head, err := nodes.Put(node{})
		require.NoError(t, err)
		const each = 50
		together(t, 8, func(g int, _ *rand.Rand) error {
			for i := range each {
				err := nodes.Modify(head, func(h node) (node, error) {
					ptr, err := nodes.Put(node{Number: int64(g*each + i + 1), Next: h.Next})
					h.Number, h.Next = h.Number+1, ptr
					return h, err
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		h, err := nodes.Get(head)
		require.NoError(t, err)
		require.EqualValues(t, 8*each, h.Number)
		seen := map[int64]bool{}
		for ptr := h.Next; ptr != 0; {
			require.NoError(t, nodes.View(ptr, func(n *node) error {
				seen[n.Number] = true
				ptr = n.Next
				return nil
			}))
		}
		require.Len(t, seen, 8*each)
	})
}

func TestTypedPlainDoesNotAllocate(t *testing.T) {
	p := open(t, pile.Options{})
	nodes, err := pile.Of[node](p)
	require.NoError(t, err)
	ptr, err := nodes.Put(node{1, 2})
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		if _, err := nodes.Get(ptr); err != nil {
			t.Error(err)
		}
	}))
	require.Less(t, testing.AllocsPerRun(1000, func() {
		if _, err := nodes.Put(node{3, 4}); err != nil {
			t.Error(err)
		}
	}), 1.0)
}

func TestTypedTellsTypesApart(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		nodes, err := pile.Of[node](p)
		require.NoError(t, err)
		graphs, err := pile.Of[graph](p)
		require.NoError(t, err)
		ptr, err := graphs.Put(graph{Name: "g"})
		require.NoError(t, err)
		_, err = nodes.Get(ptr)
		require.ErrorIs(t, err, pile.ErrWrongType)
		require.ErrorIs(t, nodes.View(ptr, func(*node) error { return nil }), pile.ErrWrongType)
		require.ErrorIs(t, graphs.View(ptr, func(*graph) error { return nil }), pile.ErrWrongType)
		_, err = p.GetBytes(ptr)
		require.ErrorIs(t, err, pile.ErrWrongType)
		require.NoError(t, nodes.Update(ptr, node{5, 6}))
		n, err := nodes.Get(ptr)
		require.NoError(t, err)
		require.Equal(t, node{5, 6}, n)
		bad := errors.New("no")
		require.ErrorIs(t, nodes.Modify(ptr, func(node) (node, error) { return node{}, bad }), bad)
	})
}

// A value that was moved is not found on the short path; its read still counts once.
func TestTypedGetCountsOnce(t *testing.T) {
	p := open(t, pile.Options{})
	nodes, err := pile.Of[node](p)
	require.NoError(t, err)
	ptr, err := nodes.Put(node{1, 2})
	require.NoError(t, err)
	require.NoError(t, nodes.Update(ptr, node{3, 4}))
	before := p.Stats().Gets
	_, err = nodes.Get(ptr)
	require.NoError(t, err)
	require.EqualValues(t, 1, p.Stats().Gets-before)
}
