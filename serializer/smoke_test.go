package serializer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type person struct {
	ID      uint64
	First   string
	Last    string
	Born    *time.Time
	Balance struct {
		Value int64
		Scale int8
	}
	Floats []float32
	Data   []byte
}

type listNode struct {
	v    int
	next *listNode
	any  any
}

func TestSmoke(t *testing.T) {
	r := NewRegistry()
	tp, err := For[person](r)
	require.NoError(t, err)
	require.Equal(t, Graph, tp.Tier())
	require.True(t, tp.pure)
	born := time.Date(1980, 3, 4, 0, 0, 0, 0, time.UTC)
	p := person{ID: 200_000_000, First: "Gavial-200000000", Last: "Buxarinovich-200000000", Born: &born}
	p.Balance.Value = 123456789
	p.Balance.Scale = 2
	b, err := tp.Append(nil, &p)
	require.NoError(t, err)
	t.Log(len(b))
	var q person
	require.NoError(t, tp.Decode(tp.Code(), b, &q))
	require.Equal(t, p, q)

	n := &listNode{v: 1}
	head := n
	for i := range 1000000 {
		n.next = &listNode{v: i}
		n = n.next
	}
	n.next = head
	n.any = head
	code, b, err := r.Append(nil, head)
	require.NoError(t, err)
	v, err := r.Decode(code, b)
	require.NoError(t, err)
	got := v.(*listNode)
	m := got
	cnt := 0
	for m.next != got {
		m = m.next
		cnt++
	}
	require.Equal(t, 1000000, cnt)
	require.True(t, m.any == any(got))
}
