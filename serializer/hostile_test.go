package serializer

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hostileTypes are read from bytes that were not written for them.
func hostileTypes(t testing.TB, r *Registry) []func(src []byte) error {
	return []func(src []byte) error{
		hostile[person](t, r), hostile[*link](t, r), hostile[*tree](t, r), hostile[everything](t, r), hostile[[]any](t, r),
		hostile[map[string]any](t, r), hostile[map[any]any](t, r), hostile[selfSlice](t, r), hostile[selfMap](t, r),
		hostile[[]map[string]string](t, r), hostile[[]empty](t, r), hostile[[]guardedElem](t, r), hostile[map[empty]int](t, r),
		hostile[[]time.Time](t, r), hostile[[]shape](t, r), hostile[window](t, r), hostile[padded](t, r), hostile[[]*[100]string](t, r),
		hostile[map[string]*tree](t, r), hostile[map[[2]any]any](t, r), hostile[msgpPerson](t, r),
	}
}

//lint:ignore U1000 only its type matters
type guardedElem struct{ g guarded2 }

//lint:ignore U1000 only its type matters
type guarded2 struct{ _ [40]int }

func hostile[T any](t testing.TB, r *Registry) func(src []byte) error {
	tt := typed[T](t, r)
	return func(src []byte) error {
		var v T
		err := tt.Decode(tt.Code(), src, &v)
		if err == nil {
			// What was read is a value like any other.
			b, err := tt.Append(nil, &v)
			if err != nil && !errors.Is(err, ErrUnsupported) {
				t.Errorf("read from %x, cannot be written: %v", src, err)
			}
			if err == nil {
				if err := tt.Decode(tt.Code(), b, &v); err != nil {
					t.Errorf("read from %x, written as %x, cannot be read: %v", src, b, err)
				}
			}
			return nil
		}
		if !knownError(err) {
			t.Errorf("reading %x: %v", src, err)
		}
		return err
	}
}

func knownError(err error) bool {
	for _, known := range []error{ErrCorrupt, ErrOverflow, ErrWrongType, ErrUnknownType, ErrUnsupported} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// samples returns bytes of all hostile types, to be damaged.
func samples(t testing.TB, r *Registry) [][]byte {
	l := &link{value: 5}
	l.next, l.other = l, &link{next: l}
	root := &tree{byName: map[string]*tree{"a": {}}, payload: []any{1, "x", nil, 2.5}}
	root.children = []*tree{root, {parent: root, payload: map[string]any{"k": []string{"v"}}}}
	base := []int{1, 2, 3, 4}
	var all [][]byte
	for _, v := range []any{newPerson(1), l, root, newEverything(), []any{1, "a", newPerson(2)}, map[string]any{"a": map[string]any{}},
		map[any]any{1: 2, "a": [2]int{}}, selfSlice{{}, nil, {{}}}, selfMap{"a": {"b": nil}}, []map[string]string{{"a": "b"}, nil},
		window{a: base[:1], b: base[2:3], c: base}, []shape{square{1}}, []time.Time{{}, time.Unix(1, 1), time.Unix(0, 0).UTC()},
		map[string]*tree{"r": root}, map[[2]any]any{{1, "a"}: nil}} {
		_, b, err := r.Append(nil, v)
		require.NoError(t, err)
		all = append(all, b)
	}
	return all
}

func TestTruncatedAndFlipped(t *testing.T) {
	r := NewRegistry()
	targets := hostileTypes(t, r)
	whole := samples(t, r)
	for _, b := range whole[:4] {
		for cut := range len(b) {
			for _, decode := range targets {
				_ = decode(b[:cut])
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		b := append([]byte(nil), whole[rng.IntN(len(whole))]...)
		for range 1 + rng.IntN(4) {
			b[rng.IntN(len(b))] = byte(rng.Uint32())
		}
		_ = targets[rng.IntN(len(targets))](b)
	}
}

// TestTruncationIsCorrupt cuts values at every byte: no prefix of a value is a value of its type.
func TestTruncationIsCorrupt(t *testing.T) {
	r := NewRegistry()
	p, e := newPerson(1), newEverything()
	decodePerson, decodeAll := hostile[person](t, r), hostile[everything](t, r)
	pb, err := typed[person](t, r).Append(nil, &p)
	require.NoError(t, err)
	eb, err := typed[everything](t, r).Append(nil, &e)
	require.NoError(t, err)
	for cut := range len(pb) {
		require.ErrorIs(t, decodePerson(pb[:cut]), ErrCorrupt)
	}
	for cut := range len(eb) {
		require.ErrorIs(t, decodeAll(eb[:cut]), ErrCorrupt)
	}
	require.ErrorIs(t, decodePerson(append(pb, 0)), ErrCorrupt, "left over")
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestAllocationIsBounded reads bytes made to ask for as much memory as they can.
func TestAllocationIsBounded(t *testing.T) {
	r := NewRegistry()
	targets := hostileTypes(t, r)
	const n = 20_000
	patterns := map[string]func(i int) byte{
		"zeros": func(int) byte { return 0 }, "ones": func(int) byte { return 1 }, "twos": func(int) byte { return 2 },
		"threes": func(int) byte { return 3 }, "ones and twos": func(i int) byte { return byte(1 + i%2) },
		"long":      func(i int) byte { return [...]byte{0x80, 0x80, 1}[i%3] },
		"map of a":  func(i int) byte { return [...]byte{3, 1, byte(i), 21}[i%4] },
		"any slice": func(i int) byte { return [...]byte{20, 4}[i%2] },
		"any map":   func(i int) byte { return [...]byte{21, 3, 0}[i%3] },
		"ff":        func(int) byte { return 0xff },
	}
	heads := [][]byte{nil, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0x7f}, {0xa0, 0x9c, 1}, {3}, {1}, {2}}
	for name, at := range patterns {
		for _, head := range heads {
			b := append([]byte(nil), head...)
			for i := range n {
				b = append(b, at(i))
			}
			for i, decode := range targets {
				_ = decode(b[:100]) // programs are compiled, pools are filled
				got := allocated(func() { _ = decodeOnly[i](t, r, b) })
				require.LessOrEqual(t, got, uint64(256*len(b)+freeBytes+64<<10), "%s after %x, type %d", name, head, i)
			}
		}
	}
}

// decodeOnly reads a value of each hostile type without writing it again.
var decodeOnly = []func(t testing.TB, r *Registry, src []byte) error{
	only[person], only[*link], only[*tree], only[everything], only[[]any], only[map[string]any], only[map[any]any], only[selfSlice],
	only[selfMap], only[[]map[string]string], only[[]empty], only[[]guardedElem], only[map[empty]int], only[[]time.Time], only[[]shape],
	only[window], only[padded], only[[]*[100]string], only[map[string]*tree], only[map[[2]any]any], only[msgpPerson],
}

func only[T any](t testing.TB, r *Registry, src []byte) error {
	tt := typed[T](t, r)
	var v T
	return tt.Decode(tt.Code(), src, &v)
}

func FuzzDecode(f *testing.F) {
	r := NewRegistry()
	for i, b := range samples(f, r) {
		f.Add(uint8(i), b)
	}
	f.Fuzz(func(t *testing.T, which uint8, src []byte) {
		targets := hostileTypes(t, r)
		_ = targets[int(which)%len(targets)](src)
	})
}

// FuzzImport reads a damaged catalog, and values by what it says.
func FuzzImport(f *testing.F) {
	r := NewRegistry()
	p := newPerson(1)
	b, err := typed[person](f, r).Append(nil, &p)
	require.NoError(f, err)
	typed[*tree](f, r)
	typed[everything](f, r)
	for _, rec := range r.Export() {
		f.Add(rec.Schema, b)
	}
	f.Fuzz(func(t *testing.T, schema, src []byte) {
		for _, sample := range []any{person{}, &tree{}, everything{}, empty2{}} {
			r := NewRegistry()
			if r.Register("T", sample) != nil {
				continue
			}
			if r.Import([]TypeRecord{{Code: 70, Name: "T", Tier: Graph, Schema: schema}}) != nil {
				return
			}
			if _, err := r.Decode(70, src); err != nil && !knownError(err) {
				t.Error(err)
			}
		}
	})
}

//lint:ignore U1000 only its type matters
type empty2 struct{ p *int }
