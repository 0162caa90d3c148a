package serializer

import (
	"fmt"
	"math"
	"reflect"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type link struct {
	value int
	next  *link
	other *link
}

type tree struct {
	children []*tree
	byName   map[string]*tree
	parent   *tree
	payload  any
}

type selfSlice []selfSlice
type selfMap map[string]selfMap
type selfPointer *selfPointer

func TestCycles(t *testing.T) {
	r := NewRegistry()
	t.Run("self", func(t *testing.T) {
		n := &link{value: 1}
		n.next = n
		got := roundTrip(t, r, n)
		require.Same(t, got, got.next)
		require.Equal(t, 1, got.value)
	})
	t.Run("mutual", func(t *testing.T) {
		a, b := &link{value: 1}, &link{value: 2}
		a.next, b.next, a.other, b.other = b, a, a, b
		got := roundTrip(t, r, a)
		require.Same(t, got, got.next.next)
		require.Same(t, got, got.other)
		require.Same(t, got.next, got.next.other)
	})
	t.Run("slices, maps, interfaces", func(t *testing.T) {
		root := &tree{byName: map[string]*tree{}}
		child := &tree{parent: root, payload: root}
		root.children = []*tree{child, child, nil}
		root.byName["me"], root.byName["child"] = root, child
		root.payload = root.children
		got := roundTrip(t, r, root)
		require.Same(t, got, got.children[0].parent)
		require.Same(t, got.children[0], got.children[1])
		require.Nil(t, got.children[2])
		require.Same(t, got, got.byName["me"])
		require.Same(t, got.children[0], got.byName["child"])
		require.Same(t, got, got.children[0].payload)
		require.Same(t, &got.children[0], &got.payload.([]*tree)[0])
	})
	t.Run("slice in itself", func(t *testing.T) {
		s := make(selfSlice, 2)
		s[0] = s
		got := roundTrip(t, r, s)
		require.Same(t, &got[0][0], &got[0][0][0])
		require.Nil(t, got[1])
	})
	t.Run("map in itself", func(t *testing.T) {
		m := selfMap{}
		m["m"] = m
		got := roundTrip(t, r, m)
		got["m"]["new"] = nil
		require.Contains(t, got["m"]["m"], "new")
	})
	t.Run("any in itself", func(t *testing.T) {
		s := make([]any, 1)
		s[0] = s
		got := roundTrip(t, r, s)
		require.Same(t, &got[0], &got[0].([]any)[0])
	})
	t.Run("pointer to itself", func(t *testing.T) {
		var p selfPointer
		p = &p
		got := roundTrip(t, r, p)
		require.Equal(t, *got, **got)
	})
	t.Run("pointer as map key", func(t *testing.T) {
		n := &link{value: 4}
		n.next = n
		got := throughBox(t, r, map[any]*link{n: n}).(map[any]*link)
		require.Len(t, got, 1)
		for k, v := range got {
			require.Same(t, v, k)
			require.Same(t, v, v.next)
			require.Equal(t, 4, v.value)
		}
	})
}

// window has several looks at what may be one array.
type window struct {
	a, b, c []int
	p       []*int
}

func TestSlicesOfOneArray(t *testing.T) {
	r := NewRegistry()
	base := []int{0, 1, 2, 3, 4, 5, 6, 7}
	cases := map[string]window{
		"same":             {a: base, b: base},
		"within":           {a: base, b: base[2:5], c: base[4:]},
		"longer later":     {a: base[:2], b: base[:5], c: base},
		"beyond both ends": {a: base[3:5], b: base[4:6], c: base[1:4]},
		"gap":              {a: base[:1], b: base[6:7]},
		"empty":            {a: base, b: base[3:3], c: base[:0]},
	}
	for name, w := range cases {
		t.Run(name, func(t *testing.T) {
			got := roundTrip(t, r, w)
			requireSame(t, w, got)
		})
	}
	t.Run("writes and appends show", func(t *testing.T) {
		got := roundTrip(t, r, window{a: base[:2], b: base[:5]})
		got.a[1] = 100
		require.Equal(t, 100, got.b[1])
		_ = append(got.a, 200)
		require.Equal(t, 200, got.b[2], "the capacity reaches as far as the array that was stored")
	})
	t.Run("cut with a third index", func(t *testing.T) {
		got := roundTrip(t, r, window{a: base[:2:2], b: base})
		got.a[1] = 100
		require.Equal(t, 1, got.b[1], "documented: such a slice is a copy")
	})
}

func TestSharing(t *testing.T) {
	r := NewRegistry()
	m := map[string]int{"a": 1}
	maps := roundTrip(t, r, []map[string]int{m, m, {"a": 1}})
	maps[0]["b"] = 2
	require.Equal(t, 2, maps[1]["b"])
	require.NotContains(t, maps[2], "b")

	// An interface and a field may hold the same pointer, whichever comes first.
	n := &link{value: 1}
	first := roundTrip(t, r, struct {
		p *link
		a any
	}{n, n})
	require.Same(t, first.p, first.a)
	second := roundTrip(t, r, struct {
		a any
		p *link
	}{n, n})
	require.Same(t, second.p, second.a)

	// More references than the table searches in order.
	many := make([]*int, 100)
	for i := range many {
		many[i] = new(int)
		*many[i] = i
	}
	got := roundTrip(t, r, append(many, many...))
	for i := range many {
		require.Equal(t, i, *got[i])
		require.Same(t, got[i], got[i+100])
		require.NotSame(t, got[i], got[(i+1)%100])
	}
}

func TestNilAndEmptyInside(t *testing.T) {
	type both struct {
		s1, s2 []int
		b1, b2 []byte
		m1, m2 map[string]int
		a1, a2 any
		p      []*int
	}
	got := roundTrip(t, NewRegistry(), both{s2: []int{}, b2: []byte{}, m2: map[string]int{}, a1: (*int)(nil), a2: []int(nil)})
	require.True(t, got.s1 == nil && got.b1 == nil && got.m1 == nil && got.p == nil)
	require.True(t, got.s2 != nil && got.b2 != nil && got.m2 != nil)
	require.Equal(t, (*int)(nil), got.a1)
	require.True(t, got.a2 != nil)
	require.True(t, got.a2.([]int) == nil)
}

func TestSharingIsTrackedOnlyWhereItCanBe(t *testing.T) {
	r := NewRegistry()
	tracks := func(sample any) bool {
		sch, err := r.schemaOf(reflect.TypeOf(sample))
		require.NoError(t, err)
		return slices.ContainsFunc(sch.nodes, func(n node) bool { return n.tracked(false) })
	}
	require.False(t, tracks(person{}))
	require.False(t, tracks(struct {
		a []int
		b []string
		p *int
	}{}))
	require.True(t, tracks(struct{ a, b []int }{}))
	require.True(t, tracks([]*int{}))
	require.True(t, tracks(&link{}))
	require.True(t, tracks(struct {
		p *int
		a any
	}{}))
}

// TestDeepNesting would overflow a stack of this size if anything recursed once per reference.
func TestDeepNesting(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(1 << 20))
	const n = 1_000_000
	r := NewRegistry()
	t.Run("list", func(t *testing.T) {
		head := &link{}
		tail := head
		for i := range n {
			tail.next = &link{value: i + 1, other: head}
			tail = tail.next
		}
		tail.next = head
		got := throughBox(t, r, head).(*link)
		count := 0
		for p := got; p.next != got; p = p.next {
			require.Equal(t, count, p.value)
			count++
		}
		require.Equal(t, n, count)
	})
	t.Run("interfaces", func(t *testing.T) {
		var v any
		for range n / 10 {
			v = pair[any, int]{a: v, b: 1}
		}
		got := throughBox(t, r, v)
		count := 0
		for got != nil {
			got = got.(pair[any, int]).a
			count++
		}
		require.Equal(t, n/10, count)
	})
	t.Run("slices", func(t *testing.T) {
		var s selfSlice
		for range n / 10 {
			s = selfSlice{s}
		}
		count := 0
		for got := throughBox(t, r, s).(selfSlice); len(got) > 0; got = got[0] {
			count++
		}
		require.Equal(t, n/10, count)
	})
	t.Run("maps", func(t *testing.T) {
		var m map[string]any
		for range n / 10 {
			m = map[string]any{"m": m}
		}
		count := 0
		for got := throughBox(t, r, m).(map[string]any); got != nil; got, _ = got["m"].(map[string]any) {
			count++
		}
		require.Equal(t, n/10, count)
	})
	t.Run("map keys", func(t *testing.T) {
		var k any
		for range 200 {
			k = pair[any, int]{a: k}
		}
		_, _, err := r.Append(nil, map[any]int{k: 1})
		require.ErrorIs(t, err, ErrUnsupported)
	})
}

func TestListIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("timing")
	}
	r := NewRegistry()
	per := func(n int) float64 {
		head := &link{}
		for range n {
			head = &link{next: head}
		}
		best := math.Inf(1)
		for range 3 {
			start := time.Now()
			_, _, err := r.Append(nil, head)
			require.NoError(t, err)
			best = min(best, float64(time.Since(start))/float64(n))
		}
		return best
	}
	small, large := per(10_000), per(400_000)
	require.Less(t, large, 20*small, fmt.Sprintf("%.0f and %.0f ns a node", small, large))
}
