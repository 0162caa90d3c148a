package serializer

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// person is the value the project measures itself with.
type person struct {
	ID      uint64
	First   string
	Last    string
	Born    *time.Time
	Balance int64
	Scale   int8
	Floats  []float32
	Data    []byte
}

func newPerson(i int) person {
	p := person{ID: uint64(i), First: fmt.Sprintf("Gavial-%04d", i), Last: fmt.Sprintf("Buxarinovich-%05d", i),
		Balance: int64(i) * 7, Scale: 2}
	if i%7 != 0 {
		born := time.Date(1950+i%50, 3, 4, 0, 0, 0, 0, time.UTC)
		p.Born = &born
	}
	return p
}

// typed returns the Typed of T in r.
func typed[T any](t testing.TB, r *Registry) *Typed[T] {
	t.Helper()
	tt, err := For[T](r)
	require.NoError(t, err)
	return tt
}

// roundTrip stores v in every way there is, checks that all give the same value, and returns that.
func roundTrip[T any](t testing.TB, r *Registry, v T) T {
	t.Helper()
	tt := typed[T](t, r)
	b, err := tt.Append([]byte("before"), &v)
	require.NoError(t, err)
	require.Equal(t, "before", string(b[:6]))
	b = b[6:]
	var got T
	require.NoError(t, tt.Decode(tt.Code(), b, &got))

	b2, err := tt.AppendValue(nil, v)
	require.NoError(t, err)
	got2, err := tt.DecodeValue(tt.Code(), b2)
	require.NoError(t, err)
	requireSame(t, got, got2)

	code, b3, err := r.Append(nil, v)
	require.NoError(t, err)
	require.Equal(t, tt.Code(), code)
	got3, err := r.Decode(code, b3)
	require.NoError(t, err)
	require.Equal(t, reflect.TypeFor[T](), reflect.TypeOf(got3))
	requireSame(t, got, got3.(T))
	for i := range b { // what was read must not be part of what it was read from
		b[i] = 0xAA
	}
	return got
}

// throughBox stores v as any and returns what comes back.
func throughBox(t testing.TB, r *Registry, v any) any {
	t.Helper()
	code, b, err := r.Append(nil, v)
	require.NoError(t, err)
	got, err := r.Decode(code, b)
	require.NoError(t, err)
	return got
}

// requireSame compares two values of any shape, identity included (see sameGraph), NaN equal to itself.
func requireSame(t testing.TB, want, got any) {
	t.Helper()
	require.NoError(t, sameGraph(reflect.ValueOf(&want).Elem(), reflect.ValueOf(&got).Elem()))
}
