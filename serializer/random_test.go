package serializer

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// recursiveTypes cannot be built by reflection; random types are made around them.
var recursiveTypes = []reflect.Type{
	reflect.TypeFor[*link](), reflect.TypeFor[tree](), reflect.TypeFor[*tree](), reflect.TypeFor[selfSlice](), reflect.TypeFor[selfMap](),
	reflect.TypeFor[any](), reflect.TypeFor[shape](), reflect.TypeFor[window](), reflect.TypeFor[outer](), reflect.TypeFor[pair[any, *link]](),
	reflect.TypeFor[person](), reflect.TypeFor[empty](), reflect.TypeFor[ident](), reflect.TypeFor[blob](),
}

var leafTypes = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[uint16](), reflect.TypeFor[int32](),
	reflect.TypeFor[uint64](), reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[complex128](), reflect.TypeFor[string](),
	reflect.TypeFor[time.Time](), reflect.TypeFor[[]byte](),
}

// randomType draws a type that nests up to depth.
func randomType(t *rapid.T, depth int) reflect.Type {
	n := rapid.IntRange(0, 9).Draw(t, "kind")
	if depth == 0 {
		n %= 4
	}
	switch n {
	case 0, 1:
		return rapid.SampledFrom(leafTypes).Draw(t, "leaf")
	case 2, 3:
		return rapid.SampledFrom(recursiveTypes).Draw(t, "named")
	case 4:
		return reflect.PointerTo(randomType(t, depth-1))
	case 5:
		return reflect.SliceOf(randomType(t, depth-1))
	case 6:
		return reflect.ArrayOf(rapid.IntRange(0, 3).Draw(t, "len"), randomType(t, depth-1))
	case 7:
		key := randomType(t, 1)
		if !key.Comparable() || key.Kind() == reflect.Interface || hasReference(key) {
			key = reflect.TypeFor[string]()
		}
		return reflect.MapOf(key, randomType(t, depth-1))
	}
	fields := make([]reflect.StructField, rapid.IntRange(0, 4).Draw(t, "fields"))
	for i := range fields {
		fields[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: randomType(t, depth-1)}
	}
	return reflect.StructOf(fields)
}

// hasReference reports whether equal keys of type t need not be ==, or a key found in one graph is not found in its copy.
func hasReference(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface:
		return true
	case reflect.Array:
		return hasReference(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasReference(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// filler fills values at random, taking references it made before again.
type filler struct {
	rng  *rand.Rand
	made map[reflect.Type][]reflect.Value
	left int // values to make before all becomes nil
}

func (f *filler) fill(v reflect.Value) {
	f.left--
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		f.reference(v)
	case reflect.Interface:
		f.iface(v)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(f.rng.Int64N(1<<33), f.rng.Int64N(1e9)).UTC()))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "_" {
				f.fill(readable(v.Field(i)))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i))
		}
	default:
		f.scalar(v)
	}
}

func (f *filler) scalar(v reflect.Value) {
	switch {
	case v.Kind() == reflect.Bool:
		v.SetBool(f.rng.IntN(2) == 0)
	case v.CanInt():
		v.SetInt(int64(f.rng.Uint64()) >> f.rng.IntN(64))
	case v.CanUint():
		v.SetUint(f.rng.Uint64() >> f.rng.IntN(64))
	case v.CanFloat():
		v.SetFloat(f.rng.NormFloat64())
	case v.CanComplex():
		v.SetComplex(complex(f.rng.NormFloat64(), 1))
	case v.Kind() == reflect.String:
		v.SetString(fmt.Sprint(make([]byte, f.rng.IntN(200)), f.rng.Uint32())[:f.rng.IntN(3)])
	}
}

func (f *filler) reference(v reflect.Value) {
	old := f.made[v.Type()]
	switch n := f.rng.IntN(10); {
	case f.left < 0 || n == 0:
		return
	case n < 4 && len(old) > 0:
		v.Set(old[f.rng.IntN(len(old))])
		if v.Kind() == reflect.Slice && v.Len() > 0 {
			i := f.rng.IntN(v.Len())
			v.Set(v.Slice(i, i+f.rng.IntN(v.Cap()-i+1)))
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.made[v.Type()] = append(old, v)
		f.fill(v.Elem())
	case reflect.Slice:
		n := f.rng.IntN(5)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		f.made[v.Type()] = append(old, v)
		for i := range n {
			f.fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		f.made[v.Type()] = append(old, v)
		for range f.rng.IntN(4) {
			key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key)
			f.fill(elem)
			v.SetMapIndex(key, elem)
		}
	}
}

func (f *filler) iface(v reflect.Value) {
	types := append([]reflect.Type{reflect.TypeFor[[]any](), reflect.TypeFor[map[string]any](), reflect.TypeFor[*any]()}, leafTypes...)
	types = append(types, recursiveTypes...)
	if v.NumMethod() > 0 {
		types = []reflect.Type{reflect.TypeFor[square](), reflect.TypeFor[*circle]()}
	}
	t := types[f.rng.IntN(len(types))]
	if f.left < 0 || t.Kind() == reflect.Interface {
		return
	}
	x := reflect.New(t).Elem()
	f.fill(x)
	v.Set(x)
}

// TestRandomGraphs stores values of random types with random sharing and cycles, and compares shape and identity.
func TestRandomGraphs(t *testing.T) {
	rapid.Check(t, checkRandomGraph)
}

func FuzzRandomGraphs(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkRandomGraph)) }

func checkRandomGraph(t *rapid.T) {
	typ := randomType(t, rapid.IntRange(0, 3).Draw(t, "depth"))
	seed := rapid.Uint64().Draw(t, "seed")
	r := NewRegistry()
	for i := range uint64(4) {
		v := reflect.New(typ)
		f := filler{rng: rand.New(rand.NewPCG(seed, i)), made: map[reflect.Type][]reflect.Value{}, left: 300}
		f.fill(v.Elem())
		if v.Elem().Kind() == reflect.Interface && v.Elem().IsNil() {
			continue
		}
		code, b, err := r.Append(nil, v.Elem().Interface())
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Decode(code, b)
		if err != nil {
			t.Fatalf("%s: %v", typ, err)
		}
		want := v.Elem().Interface()
		if isRaw(reflect.TypeOf(want)) {
			continue // nil and empty are one
		}
		if err := sameGraph(reflect.ValueOf(&want).Elem(), reflect.ValueOf(&got).Elem()); err != nil {
			t.Fatalf("%s, seed %d: %v", typ, seed, err)
		}
	}
}
