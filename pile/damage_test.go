package pile

import (
	"context"
	"testing"

	"github.com/bigpile/bigpile/serializer"
	"github.com/stretchr/testify/require"
)

type (
	flatValue struct {
		A int64
		B bool
		C [5]uint16
	}
	deepValue struct {
		Name string
		Next *deepValue
		Many map[string]int
	}
)

// payloadOf returns the stored bytes of a value, to damage them.
func payloadOf(t *testing.T, p *Pile, ptr PilePointer) []byte {
	t.Helper()
	e, err := p.enter(1)
	require.NoError(t, err)
	defer e.leave()
	f, err := p.find(ptr)
	require.NoError(t, err)
	return f.payload()
}

// damaged has values of all tiers, in their slot, behind a link and in a run.
func damaged(t *testing.T, p *Pile) map[string]PilePointer {
	t.Helper()
	deep := &deepValue{Name: "a", Many: map[string]int{"x": 1}}
	deep.Next = deep
	ptrs := map[string]PilePointer{}
	for name, v := range map[string]any{
		"bytes": []byte("some bytes"), "string": "a string", "plain": flatValue{A: 1, B: true}, "graph": deep,
		"strings": []string{"a", "b", ""}, "run": make([]byte, 100_000), "long graph": make([]int, 100_000),
	} {
		ptr, err := p.Put(v)
		require.NoError(t, err)
		ptrs[name] = ptr
		if ptr, err = p.Put("was short"); err == nil {
			err = p.Update(ptr, v)
		}
		require.NoError(t, err)
		ptrs["linked "+name] = ptr
	}
	return ptrs
}

func TestFlippedBitsAreCorruptWithChecksums(t *testing.T) {
	for _, b := range []Backing{Anonymous, Heap} {
		p, err := New(Options{SegmentSize: 4 << 20, Backing: b, Checksums: true})
		require.NoError(t, err)
		flat, err := Of[flatValue](p)
		require.NoError(t, err)
		for name, ptr := range damaged(t, p) {
			mem := payloadOf(t, p, ptr)
			for _, at := range []int{0, len(mem) / 2, len(mem) - 1} {
				for bit := range 8 {
					mem[at] ^= 1 << bit
					_, err = p.Get(ptr)
					require.ErrorIs(t, err, ErrCorrupt, "%s, byte %d, bit %d", name, at, bit)
					_, err = flat.Get(ptr)
					require.ErrorIs(t, err, ErrCorrupt, name)
					err = flat.View(ptr, func(*flatValue) error { t.Error(name, "was shown"); return nil })
					require.ErrorIs(t, err, ErrCorrupt, name)
					if bit == 7 {
						require.ErrorIs(t, p.Check(context.Background()), ErrCorrupt, name)
					}
					mem[at] ^= 1 << bit
				}
			}
			_, err = p.Get(ptr)
			require.NoError(t, err, "%s, mended", name)
		}
		require.NoError(t, p.Check(context.Background()))
		require.NoError(t, p.Close())
	}
}

// Without checksums damage may read as another value, but it neither panics nor hangs.
func TestFlippedBitsWithoutChecksumsAreAnErrorOrAValue(t *testing.T) {
	p, err := New(Options{SegmentSize: 4 << 20})
	require.NoError(t, err)
	flat, err := Of[flatValue](p)
	require.NoError(t, err)
	for name, ptr := range damaged(t, p) {
		mem := payloadOf(t, p, ptr)
		for at := range min(len(mem), 64) {
			for bit := range 8 {
				mem[at] ^= 1 << bit
				if _, err := p.Get(ptr); err != nil {
					require.ErrorIs(t, err, ErrCorrupt, name)
				}
				mem[at] ^= 1 << bit
			}
		}
		if name == "plain" || name == "linked plain" {
			mem[8] = 2 // a bool that is neither
			_, err = flat.Get(ptr)
			require.ErrorIs(t, err, ErrCorrupt)
			require.ErrorIs(t, flat.View(ptr, func(*flatValue) error { return nil }), ErrCorrupt)
			_, err = p.Get(ptr)
			require.ErrorIs(t, err, ErrCorrupt)
			mem[8] = 1
		}
	}
	require.NoError(t, p.Close())
}

// What a file brings back some day: values in the pile, and a registry that was stored beside them.
func TestNameThatChangedItsMeaningIsWrongType(t *testing.T) {
	type (
		before struct{ Amount int64 }
		after  struct{ Amount string }
		graphs struct{ Names []string }
		others struct{ Names []int }
	)
	old := serializer.NewRegistry()
	require.NoError(t, old.Register("plain", before{}))
	require.NoError(t, old.Register("graph", graphs{}))
	p, err := New(Options{SegmentSize: 4 << 20, Types: old})
	require.NoError(t, err)
	plain, err := p.Put(before{7})
	require.NoError(t, err)
	deep, err := p.Put(graphs{[]string{"a"}})
	require.NoError(t, err)

	now := serializer.NewRegistry()
	require.NoError(t, now.Import(old.Export()))
	require.NoError(t, now.Register("plain", after{}))
	require.NoError(t, now.Register("graph", others{}))
	require.ErrorIs(t, now.Register("plain", graphs{}), serializer.ErrName)
	p.opt.Types = now

	for _, ptr := range []PilePointer{plain, deep} {
		_, err = p.Get(ptr)
		require.ErrorIs(t, err, ErrWrongType)
	}
	a, err := Of[after](p)
	require.NoError(t, err)
	o, err := Of[others](p)
	require.NoError(t, err)
	_, err = a.Get(plain)
	require.ErrorIs(t, err, ErrWrongType)
	_, err = o.Get(deep)
	require.ErrorIs(t, err, ErrWrongType)
	require.ErrorContains(t, err, "string", "both sides are named")
	require.ErrorContains(t, err, "int", "both sides are named")
	require.ErrorIs(t, a.Modify(plain, func(v after) (after, error) { return v, nil }), ErrWrongType)
	require.NoError(t, a.Update(plain, after{"new"}), "a new value takes the place of one that cannot be read")
	v, err := p.Get(plain)
	require.NoError(t, err)
	require.Equal(t, after{"new"}, v)
	require.NoError(t, p.Close())
}
