package serializer

import (
	"context"
	"net"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"unique"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/require"
)

type customer struct {
	//lint:ignore U1000 only its type matters
	name string
	//lint:ignore U1000 only its type matters
	done chan struct{}
}

type order struct {
	//lint:ignore U1000 only its type matters
	id       int
	Customer *customer
}

func TestRefusedWithPath(t *testing.T) {
	cases := []struct {
		sample any
		path   string
	}{
		{order{}, "order.Customer.done: chan"},
		{[]order{}, "order[].Customer.done: chan"},
		{map[string]customer{}, "customer[].done: chan"},
		{map[[1]chan int]int{}, "[key][]: chan"},
		{func() {}, "func(): func"},
		{make(chan int), "chan int: chan"},
		{struct{ f func() }{}, ".f: func"},
		{struct{ p unsafe.Pointer }{}, ".p: unsafe.Pointer"},
		{struct{ p uintptr }{}, ".p: uintptr"},
		{struct{ f *os.File }{}, ".f: os.File"},
		{struct{ c net.TCPConn }{}, ": uintptr"},
		{struct{ o *sync.Once }{}, ".o: sync.Once"},
		{struct{ w *sync.WaitGroup }{}, ".w: sync.WaitGroup"},
		{struct{ v reflect.Value }{}, ".v: reflect.Value"},
		{struct{ p atomic.Pointer[int] }{}, ".v: unsafe.Pointer"},
		{struct{ h unique.Handle[string] }{}, ".h: unique.Handle"},
		{struct{ h weak.Pointer[string] }{}, ".h: weak.Pointer"},
	}
	for _, c := range cases {
		t.Run(c.path, func(t *testing.T) {
			r := NewRegistry()
			_, _, err := r.Append(nil, c.sample)
			require.ErrorIs(t, err, ErrUnsupported)
			require.ErrorContains(t, err, c.path)
			require.Zero(t, r.Types(), "a refused type gets no code")
		})
	}
}

func TestRefusedInInterface(t *testing.T) {
	r := NewRegistry()
	for _, v := range []any{make(chan int), &order{Customer: &customer{}}, os.Stdout, context.Background, t.Context()} {
		dst := []byte("before")
		_, out, err := r.Append(dst, []any{1, v})
		require.ErrorIs(t, err, ErrUnsupported, "%T", v)
		require.Equal(t, "before", string(out))
	}
	// The registry and its pools are as good as before.
	require.Equal(t, []any{1, "a"}, throughBox(t, r, []any{1, "a"}))
}

func TestNil(t *testing.T) {
	r := NewRegistry()
	_, _, err := r.Append(nil, nil)
	require.ErrorIs(t, err, ErrUnsupported)
	for _, v := range []any{(*int)(nil), (*person)(nil), (*msgpPair)(nil), map[string]int(nil), []int(nil), (**link)(nil)} {
		require.Equal(t, v, throughBox(t, r, v))
	}
	_, err = For[any](r)
	require.ErrorIs(t, err, ErrUnsupported)
	_, err = For[error](r)
	require.ErrorIs(t, err, ErrUnsupported)
}
