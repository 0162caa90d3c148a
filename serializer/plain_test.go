package serializer

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

type padded struct {
	A bool
	B int64
	C int16
	_ int32
	D [2]struct {
		E bool
		F int32
	}
	G [3]bool
}

// dirty returns a padded whose padding is not zero.
func dirty() *padded {
	raw := bytes.Repeat([]byte{0xEE}, int(unsafe.Sizeof(padded{})))
	words := make([]uint64, len(raw)/8)
	p := (*padded)(unsafe.Pointer(&words[0]))
	copy(unsafe.Slice((*byte)(unsafe.Pointer(p)), len(raw)), raw)
	p.A, p.B, p.C, p.G = true, 5, 6, [3]bool{true, false, true}
	for i := range p.D {
		p.D[i].E, p.D[i].F = false, int32(i)
	}
	return p
}

func aligned(n int) []byte {
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
}

func TestPlainPaddingIsZeroed(t *testing.T) {
	tt := typed[padded](t, NewRegistry())
	n, ok := tt.PlainSize()
	require.True(t, ok)
	clean := padded{A: true, B: 5, C: 6, G: [3]bool{true, false, true}}
	clean.D[1].F = 1
	want, got := aligned(n), aligned(n)
	tt.PutPlain(want, &clean)
	tt.PutPlain(got, dirty())
	require.Equal(t, want, got)
	require.NotContains(t, string(got), "\xEE")
	appended, err := tt.Append(nil, dirty())
	require.NoError(t, err)
	require.Equal(t, want, appended)

	v, err := tt.ViewPlain(got)
	require.NoError(t, err)
	require.Equal(t, clean, *v)
	require.Equal(t, unsafe.Pointer(&got[0]), unsafe.Pointer(v), "a view is the bytes in place")
}

func TestPlainBadBytes(t *testing.T) {
	tt := typed[padded](t, NewRegistry())
	n, _ := tt.PlainSize()
	good := aligned(n)
	tt.PutPlain(good, &padded{})
	for _, off := range []uintptr{unsafe.Offsetof(padded{}.A), unsafe.Offsetof(padded{}.D), unsafe.Offsetof(padded{}.D) + 8,
		unsafe.Offsetof(padded{}.G) + 2} {
		bad := aligned(n)
		copy(bad, good)
		bad[off] = 2
		_, err := tt.ViewPlain(bad)
		require.ErrorIs(t, err, ErrCorrupt, "offset %d", off)
		require.ErrorIs(t, tt.Decode(tt.Code(), bad, &padded{}), ErrCorrupt)
	}
	_, err := tt.ViewPlain(good[:n-1])
	require.ErrorIs(t, err, ErrCorrupt)
	_, err = tt.ViewPlain(aligned(n + 8))
	require.ErrorIs(t, err, ErrCorrupt)
	_, err = tt.ViewPlain(aligned(n + 1)[1:])
	require.ErrorIs(t, err, ErrCorrupt, "not aligned")
	_, err = typed[person](t, NewRegistry()).ViewPlain(good)
	require.ErrorIs(t, err, ErrWrongType)
}

func TestPlainFingerprint(t *testing.T) {
	layoutOf := func(sample any) string {
		r := NewRegistry()
		require.NoError(t, r.Register("T", sample))
		_, _, err := r.Append(nil, sample)
		require.NoError(t, err)
		return string(r.Export()[0].Layout)
	}
	base := layoutOf(struct{ A, B int32 }{})
	require.Equal(t, base, layoutOf(struct{ A, B int32 }{}))
	for _, other := range []any{struct{ B, A int32 }{}, struct{ A, B uint32 }{}, struct{ A, B int64 }{}, struct{ A, B, C int32 }{},
		struct{ A [2]int32 }{}} {
		require.NotEqual(t, base, layoutOf(other), "%T", other)
	}
}

func TestNoAllocation(t *testing.T) {
	r := NewRegistry()
	buf := make([]byte, 0, 1<<10)
	n := testing.AllocsPerRun
	tp := typed[padded](t, r)
	size, _ := tp.PlainSize()
	mem := aligned(size)
	require.Zero(t, n(100, func() {
		v := padded{B: 1}
		tp.PutPlain(mem, &v)
		if w, err := tp.ViewPlain(mem); err != nil || w.B != 1 {
			t.Error(err)
		}
		buf, _ = tp.AppendValue(buf[:0], v)
		if w, err := tp.DecodeValue(tp.Code(), buf); err != nil || w.B != 1 {
			t.Error(err)
		}
	}))
	ts := typed[string](t, r)
	require.Zero(t, n(100, func() { buf, _ = ts.AppendValue(buf[:0], "hello") }))
	tg := typed[person](t, r)
	p := newPerson(8)
	require.Zero(t, n(100, func() { buf, _ = tg.AppendValue(buf[:0], p) }))
	require.LessOrEqual(t, n(100, func() {
		if _, err := tg.DecodeValue(tg.Code(), buf); err != nil {
			t.Error(err)
		}
	}), 2.0, "the strings together, the date")
	tm := typed[msgpPair](t, r)
	require.LessOrEqual(t, n(100, func() { buf, _ = tm.AppendValue(buf[:0], msgpPair{Name: "a"}) }), 0.5)
	tc := typed[tree](t, r)
	require.LessOrEqual(t, n(100, func() { buf, _ = tc.AppendValue(buf[:0], tree{}) }), 0.5)
}
