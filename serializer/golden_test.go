package serializer

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

// goldenValues returns values whose bytes pin the wire format. No map has more than one entry: their order is random.
func goldenValues() []struct {
	name  string
	value any
} {
	one := 1
	born := time.Date(1980, 3, 4, 0, 0, 0, 0, time.UTC)
	p := person{ID: 1 << 63, First: "Gavial-0001", Last: "Buxarinovich-00001", Born: &born, Balance: -5, Scale: 2, Floats: []float32{1.5}}
	ring := &link{value: -1}
	ring.next, ring.other = &link{value: 300, next: ring}, ring
	chain := &link{}
	for i := range 250 { // longer than what is written within one another
		chain = &link{value: i, next: chain}
	}
	base := []int{1, 2, 3, 4}
	e := newEverything()
	e.m2 = map[string]any{"l": []any{1, "2", nil}}
	e.m9 = map[any]any{inner{1, "k"}: 3}
	e.me = map[ident]struct{}{"a": {}}
	e.m1 = map[string]string{"k": "v"}
	return []struct {
		name  string
		value any
	}{
		{"person", p}, {"ring", ring}, {"chain", chain}, {"window within", window{a: base, b: base[1:3]}},
		{"window beyond", window{a: base[:1], b: base[2:], p: []*int{&one, &one}}}, {"everything", e},
		{"interfaces", []any{nil, true, -1, uint8(2), 1.5, "s", []byte("b"), &one, &one, ident("i"), []string{"x"}, map[string]string{"a": "b"},
			square{2}, born, time.Minute}},
		{"padded", padded{A: true, B: -2, C: 3}}, {"int", 5}, {"named string", ident("id")},
		{"times", []time.Time{{}, born, time.Unix(0, 5).UTC(), time.Unix(1, 0).In(time.FixedZone("Z", 3600))}},
	}
}

// TestGolden compares with the bytes, codes and schemas in testdata, and reads those bytes. A difference means that piles written
// by earlier versions cannot be read any more.
func TestGolden(t *testing.T) {
	if bigEndian || wordSize != 8 {
		t.Skip("plain memory differs on this platform")
	}
	r := NewRegistry()
	var values, types strings.Builder
	stored := map[string][]byte{}
	codes := map[string]Code{}
	for _, g := range goldenValues() {
		code, b, err := r.Append(nil, g.value)
		require.NoError(t, err)
		fmt.Fprintf(&values, "%s %d %x\n", strings.ReplaceAll(g.name, " ", "-"), code, b)
		stored[g.name], codes[g.name] = b, code
	}
	for _, rec := range r.Export() {
		fmt.Fprintf(&types, "%d %q %v %x %x\n", rec.Code, rec.Name, rec.Tier, rec.Layout, rec.Schema)
	}
	golden(t, "values.txt", values.String())
	golden(t, "types.txt", types.String())
	for _, g := range goldenValues() {
		got, err := r.Decode(codes[g.name], stored[g.name])
		require.NoError(t, err)
		requireSame(t, g.value, got)
	}
}

func golden(t *testing.T, name, got string) {
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if string(want) != got {
		w, g := strings.Split(string(want), "\n"), strings.Split(got, "\n")
		for i := range min(len(w), len(g)) {
			require.Equal(t, w[i], g[i], "%s:%d", path, i+1)
		}
		require.Len(t, g, len(w))
	}
}

// TestWire spells out the bytes of docs/SERIALIZATION.md.
func TestWire(t *testing.T) {
	r := NewRegistry()
	one := 1
	self := &link{value: 3}
	self.next = self
	three := []int{7, 8, 9}
	cases := []struct {
		name  string
		value any
		bytes string
	}{
		{"nil pointer", (*int)(nil), "00"}, {"pointer", &one, "01 02"}, {"self", self, "01 06 02 00"},
		{"nil slice", []int(nil), "00"}, {"empty slice", []int{}, "03"}, {"slice", []int{-1, 64}, "05 01 8001"},
		{"nil map", map[string]int(nil), "00"}, {"map", map[string]int{"a": 1}, "03 01 61 02"},
		{"interfaces", []any{nil, "s", 5}, "06 00 02 01 73 04 0a"},
		{"part", pair[[]int, []int]{three, three[1:]}, "06 0e 10 12 01 00 01 02"},
		{"array", pair[[]int, []int]{three[:1], three[1:2]}, "02 02 00 01 0e 10 01 00 01 01"},
		{"shared", pair[*int, *int]{&one, &one}, "01 02 02"},
		{"largest", &[]uint64{1<<64 - 1}[0], "01 ff ff ff ff ff ff ff ff ff"},
		{"day", pair[time.Time, *int]{a: time.Unix(86400, 0).UTC()}, "08 02 00"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			want, err := hex.DecodeString(strings.ReplaceAll(c.bytes, " ", ""))
			require.NoError(t, err)
			code, b, err := r.Append(nil, c.value)
			require.NoError(t, err)
			require.Equal(t, want, b)
			got, err := r.Decode(code, b)
			require.NoError(t, err)
			requireSame(t, c.value, got)
		})
	}
}

func TestVarint(t *testing.T) {
	for shift := range 65 {
		for _, d := range []uint64{0, 1, ^uint64(0)} {
			x := uint64(1)<<shift + d
			b := appendUvarint(nil, x)
			require.LessOrEqual(t, len(b), 9)
			got, end := uvarint(b, 0)
			require.Equal(t, x, got)
			require.Equal(t, len(b), end)
			for cut := range len(b) {
				_, end := uvarint(b[:cut], 0)
				require.Negative(t, end)
			}
			require.Equal(t, int64(x), unzigzag(zigzag(int64(x))))
		}
	}
}

// TestPersonIsSmall holds the target of 72 bytes a person with header and slot, and the next slot below.
func TestPersonIsSmall(t *testing.T) {
	p := newPerson(200_000_001)
	b, err := typed[person](t, NewRegistry()).Append(nil, &p)
	require.NoError(t, err)
	require.LessOrEqual(t, len(b), 56)
}
