package serializer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The types below are two versions of one type: registered under one name in registries that follow each other.

type addressV1 struct {
	Street string
	No     int16
}

type addressV2 struct {
	No     int64
	Zip    string
	Street string
}

type clientV1 struct {
	Name     string
	Old      map[string][]*addressV1
	Address  *addressV1
	Friends  []*clientV1
	Age      uint8
	Weight   float32
	Gone     any
	Time     time.Time
	Previous []addressV1
	self     *clientV1
}

type clientV2 struct {
	self     *clientV2
	Friends  []*clientV2
	Address  *addressV2
	Name     string
	New      []int
	Age      uint32
	Previous []addressV2
}

// reopened returns a registry with what old exported.
func reopened(t *testing.T, old *Registry) *Registry {
	r := NewRegistry()
	require.NoError(t, r.Import(old.Export()))
	return r
}

func registered(t *testing.T, samples map[string]any) *Registry {
	r := NewRegistry()
	for name, s := range samples {
		require.NoError(t, r.Register(name, s))
	}
	return r
}

func TestFieldsAreFoundByName(t *testing.T) {
	r1 := registered(t, map[string]any{"client": clientV1{}, "address": addressV1{}})
	shared := &addressV1{"Main", 5}
	v := &clientV1{Name: "n", Address: shared, Age: 200, Weight: 1.5, Time: time.Now(), Gone: []any{1, shared},
		Old: map[string][]*addressV1{"x": {shared, {"Side", 1}}}, Previous: []addressV1{{"P", -1}}}
	v.self = v
	v.Friends = []*clientV1{v, {Name: "f", Address: shared}}
	code, b, err := r1.Append(nil, v)
	require.NoError(t, err)

	r2 := reopened(t, r1)
	require.NoError(t, r2.Register("client", clientV2{}))
	require.NoError(t, r2.Register("address", addressV2{}))
	tt := typed[*clientV2](t, r2)
	require.NotEqual(t, code, tt.Code(), "a changed type gets a code of its own")
	var got *clientV2
	require.NoError(t, tt.Decode(code, b, &got))
	require.Equal(t, "n", got.Name)
	require.Equal(t, &addressV2{No: 5, Street: "Main"}, got.Address)
	require.EqualValues(t, 200, got.Age)
	require.Nil(t, got.New)
	require.Equal(t, []addressV2{{No: -1, Street: "P"}}, got.Previous)
	require.Same(t, got, got.self)
	require.Same(t, got, got.Friends[0])
	require.Same(t, got.Address, got.Friends[1].Address, "first met in a field that is gone")

	boxed, err := r2.Decode(code, b)
	require.NoError(t, err)
	require.Equal(t, "n", boxed.(*clientV2).Name)

	// And back: the new version's values, read by the old.
	code2, b2, err := r2.Append(nil, got)
	require.NoError(t, err)
	r3 := reopened(t, r2)
	require.NoError(t, r3.Register("client", clientV1{}))
	require.NoError(t, r3.Register("address", addressV1{}))
	tt1 := typed[*clientV1](t, r3)
	require.Equal(t, code, tt1.Code(), "the first version again, and its code")
	var back *clientV1
	require.NoError(t, tt1.Decode(code2, b2, &back))
	require.Equal(t, "n", back.Name)
	require.Same(t, back, back.self)
	require.EqualValues(t, 5, back.Address.No)
}

// inV1 stores a T1 in one registry and reads it as a T2 in the next.
func inV1[T1, T2 any](t *testing.T, v T1) (T2, error) {
	t.Helper()
	r1 := registered(t, map[string]any{"T": v})
	code, b, err := r1.Append(nil, v)
	require.NoError(t, err)
	r2 := reopened(t, r1)
	var got T2
	require.NoError(t, r2.Register("T", got))
	err = typed[T2](t, r2).Decode(code, b, &got)
	if boxed, err2 := r2.Decode(code, b); err == nil {
		require.NoError(t, err2)
		requireSame(t, got, boxed)
	} else {
		require.Error(t, err2)
		var zero T2
		requireSame(t, zero, got)
	}
	return got, err
}

func TestNumbersChangeWidth(t *testing.T) {
	type narrow struct {
		P    *int
		I8   int8
		I16  int16
		I    int64
		U8   uint8
		U32  uint32
		F    float32
		List []int8
	}
	type wide struct {
		F    float64
		I8   int64
		I16  int8
		I    int32
		U8   uint
		U32  uint8
		List []int
	}
	got, err := inV1[narrow, wide](t, narrow{nil, -128, -128, -1 << 31, 255, 255, 0.5, []int8{-1, 2}})
	require.NoError(t, err)
	require.Equal(t, wide{0.5, -128, -128, -1 << 31, 255, 255, []int{-1, 2}}, got)
	_, err = inV1[narrow, wide](t, narrow{I: 1 << 31})
	require.ErrorIs(t, err, ErrOverflow)
	_, err = inV1[narrow, wide](t, narrow{I16: -129})
	require.ErrorIs(t, err, ErrOverflow)
	_, err = inV1[wide, struct{ F float32 }](t, wide{})
	require.ErrorIs(t, err, ErrWrongType, "would lose digits")
}

// TestRemovedInterfaceOfUnknownType has a field that is gone hold a type that is gone too.
func TestRemovedInterfaceOfUnknownType(t *testing.T) {
	type gone struct {
		X    any
		L    *link
		Next *gone
	}
	g := &gone{L: &link{value: 3}}
	g.X = []any{g, map[string]gone{"a": {X: gone{}}}, 5, "s"}
	g.Next = g
	type v1 struct {
		Old  any
		Keep *string
	}
	type v2 struct{ Keep *string }
	s := "kept"
	got, err := inV1[v1, v2](t, v1{g, &s})
	require.NoError(t, err)
	require.Equal(t, "kept", *got.Keep)
}

func TestIncompatibleChanges(t *testing.T) {
	type from struct {
		P *int
		X int
	}
	v := from{P: new(int), X: 300}
	_, err := inV1[from, struct {
		P *int
		X string
	}](t, v)
	require.ErrorIs(t, err, ErrWrongType)
	require.ErrorContains(t, err, ".X is stored as int64")
	require.ErrorContains(t, err, "not string")
	_, err = inV1[from, struct {
		P *string
	}](t, v)
	require.ErrorIs(t, err, ErrWrongType)
	_, err = inV1[from, struct {
		P []int
	}](t, v)
	require.ErrorIs(t, err, ErrWrongType)
	_, err = inV1[from, struct {
		P *int
		X uint
	}](t, v)
	require.ErrorIs(t, err, ErrWrongType)
	_, err = inV1[from, struct {
		P *int
		X int8
	}](t, v)
	require.ErrorIs(t, err, ErrOverflow)
	_, err = inV1[from, struct {
		P *int
		X int16
	}](t, v)
	require.NoError(t, err)
	_, err = inV1[struct {
		P *int
		A [2]int
	}, struct {
		P *int
		A [3]int
	}](t, struct {
		P *int
		A [2]int
	}{})
	require.ErrorIs(t, err, ErrWrongType)
}

func TestTierChanges(t *testing.T) {
	_, err := inV1[struct{ A, B int32 }, struct{ B, A int32 }](t, struct{ A, B int32 }{1, 2})
	require.ErrorIs(t, err, ErrWrongType, "plain memory has no second way to be read")
	require.ErrorContains(t, err, "as it is now")
	got, err := inV1[struct {
		A int32
		P *int
	}, struct{ A int64 }](t, struct {
		A int32
		P *int
	}{7, new(int)})
	require.NoError(t, err, "a graph can be read into plain memory")
	require.EqualValues(t, 7, got.A)
	person, err := inV1[person, msgpPerson](t, newPerson(3))
	require.NoError(t, err, "or into a type that has got msgp's methods since")
	require.Equal(t, "Gavial-0003", person.First)
	_, err = inV1[msgpPair, struct{ Name *string }](t, msgpPair{})
	require.ErrorIs(t, err, ErrWrongType)
}

func TestRemovedFieldsOfEveryKind(t *testing.T) {
	type keep struct {
		Before *string
		After  int
	}
	type both struct {
		Before *string
		E      everything
		L      *link
		T      *tree
		S      selfSlice
		After  int
	}
	s := "s"
	l := &link{value: 1}
	l.next, l.other = l, &link{next: l}
	for range 300 {
		l = &link{next: l}
	}
	tr := &tree{children: []*tree{nil, {}}, byName: map[string]*tree{"a": {}}}
	for range 300 {
		tr = &tree{children: []*tree{tr}, payload: tr}
	}
	sl := make(selfSlice, 3)
	sl[1] = sl[:2]
	got, err := inV1[both, keep](t, both{Before: &s, E: newEverything(), L: l, T: tr, S: sl, After: 42})
	require.NoError(t, err)
	require.Equal(t, keep{&s, 42}, got)
	_, err = inV1[both, keep](t, both{})
	require.NoError(t, err)
}

func TestExportImport(t *testing.T) {
	r1 := NewRegistry()
	values := []any{newPerson(1), &link{value: 1}, padded{A: true}, ident("x"), msgpPair{Name: "m"}, 5, []any{1, "2"}}
	codes, stored := []Code{}, [][]byte{}
	for _, v := range values {
		c, b, err := r1.Append(nil, v)
		require.NoError(t, err)
		codes, stored = append(codes, c), append(stored, b)
	}
	records := r1.Export()
	require.Equal(t, r1.Types(), len(records))

	r2 := NewRegistry()
	require.NoError(t, r2.Import(records))
	require.NoError(t, r2.Import(records), "the same again")
	require.Equal(t, records, r2.Export())
	_, err := r2.Decode(codes[0], stored[0])
	require.ErrorIs(t, err, ErrUnknownType)
	require.ErrorContains(t, err, "person")
	for i := range values { // in another order, to other codes if they were given anew
		v := values[len(values)-1-i]
		c, _, err := r2.Append(nil, v)
		require.NoError(t, err)
		require.Equal(t, codes[len(values)-1-i], c)
	}
	for i := range values {
		got, err := r2.Decode(codes[i], stored[i])
		require.NoError(t, err)
		requireSame(t, values[i], got)
	}
	require.Equal(t, records, r2.Export(), "nothing new was needed")

	// A type that is only registered is found by its name when its values are met.
	r3 := reopened(t, r1)
	require.NoError(t, r3.Register(r1.TypeName(codes[0]), person{}))
	got, err := r3.Decode(codes[0], stored[0])
	require.NoError(t, err)
	require.Equal(t, values[0], got)

	r4 := NewRegistry()
	typed[tree](t, r4)
	require.ErrorIs(t, r4.Import(records), ErrInUse)
	require.Equal(t, 1, r4.Types(), "as before")
}

func TestImportOfBadRecords(t *testing.T) {
	r1 := NewRegistry()
	typed[person](t, r1)
	good := r1.Export()
	cases := map[string]func(*TypeRecord){
		"no name":      func(t *TypeRecord) { t.Name = "" },
		"tier":         func(t *TypeRecord) { t.Tier = 99 },
		"reserved":     func(t *TypeRecord) { t.Code = 60 },
		"fixed":        func(t *TypeRecord) { t.Code = 5 },
		"schema short": func(t *TypeRecord) { t.Schema = t.Schema[:len(t.Schema)-1] },
		"schema long":  func(t *TypeRecord) { t.Schema = append(t.Schema, 0) },
		"in itself":    func(t *TypeRecord) { t.Schema = []byte{1, byte(kindArray), 0, 0, 5} },
		"kind":         func(t *TypeRecord) { t.Schema = []byte{1, 200, 0} },
		"nodes":        func(t *TypeRecord) { t.Schema = []byte{0xff, 0xff, 3} },
		"index":        func(t *TypeRecord) { t.Schema = []byte{1, byte(kindSlice), 0, 7} },
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			rec := good[0]
			rec.Schema = append([]byte(nil), rec.Schema...)
			spoil(&rec)
			r := NewRegistry()
			require.ErrorIs(t, r.Import([]TypeRecord{rec}), ErrCorrupt)
			require.Zero(t, r.Types())
		})
	}
	require.ErrorIs(t, NewRegistry().Import(append(good, good...)), ErrCorrupt, "out of order")
}

// TestIntIsEightBytes reads an int from a platform where it is larger.
func TestIntIsEightBytes(t *testing.T) {
	r := NewRegistry()
	b, err := typed[[]int64](t, r).AppendValue(nil, []int64{1 << 40})
	require.NoError(t, err)
	got, err := typed[[]int](t, r).DecodeValue(typed[[]int](t, r).Code(), b)
	if wordSize == 4 {
		require.ErrorIs(t, err, ErrOverflow)
		return
	}
	require.NoError(t, err)
	require.EqualValues(t, int64(1<<40), got[0])
}
