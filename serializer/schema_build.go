package serializer

import (
	"encoding"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"time"
)

// builder makes the schema of a Go type.
type builder struct {
	reg   *Registry // its mu is held
	sch   *schema
	index map[reflect.Type]int
}

// schemaOf returns the schema of t, or ErrUnsupported with the path to what cannot be stored.
func (r *Registry) schemaOf(t reflect.Type) (*schema, error) {
	b := &builder{reg: r, sch: &schema{}, index: map[reflect.Type]int{}}
	if _, err := b.add(t, shortName(t)); err != nil {
		return nil, err
	}
	b.sch.share()
	if err := b.sch.derive(); err != nil {
		return nil, fmt.Errorf("%w: %s: more than %d bytes", ErrUnsupported, shortName(t), maxMin)
	}
	return b.sch, nil
}

// shortName is how a path begins.
func shortName(t reflect.Type) string {
	if t.Name() != "" {
		return t.Name()
	}
	return t.String()
}

// add returns the index of t's node, adding it and what it refers to when t is new. path leads to it.
func (b *builder) add(t reflect.Type, path string) (int, error) {
	if i, ok := b.index[t]; ok {
		return i, nil
	}
	k, why := b.reg.kindOf(t)
	if why != "" {
		return 0, fmt.Errorf("%w: %s: %s", ErrUnsupported, path, why)
	}
	i := len(b.sch.nodes)
	b.index[t] = i
	n := node{kind: k, typ: t}
	if k == kindStruct || k == kindBinary || k == kindCustom || k == kindInterface {
		n.name = b.reg.nameOf(t)
	}
	b.sch.nodes = append(b.sch.nodes, n)
	err := b.complete(&n, t, path)
	b.sch.nodes[i] = n
	return i, err
}

// complete fills in what n refers to.
func (b *builder) complete(n *node, t reflect.Type, path string) (err error) {
	switch n.kind {
	case kindSlice, kindArray:
		if n.kind == kindArray {
			n.n = t.Len()
		}
		n.elem, err = b.add(t.Elem(), path+"[]")
	case kindPointer:
		n.elem, err = b.add(t.Elem(), path)
	case kindMap:
		if n.key, err = b.add(t.Key(), path+"[key]"); err == nil {
			n.elem, err = b.add(t.Elem(), path+"[]")
		}
	case kindStruct:
		for _, f := range storedFields(t) {
			i, err := b.add(f.Type, path+"."+f.Name)
			if err != nil {
				return err
			}
			n.fields = append(n.fields, field{name: f.Name, node: i})
		}
	}
	return err
}

// storedFields returns the fields of t that are stored: all but blank ones and locks.
func storedFields(t reflect.Type) []reflect.StructField {
	var fields []reflect.StructField
	if isLock(t) {
		return nil
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Name != "_" && !isLock(f.Type) {
			fields = append(fields, f)
		}
	}
	return fields
}

// scalarKinds are the kinds of scalars. Read-only.
var scalarKinds = map[reflect.Kind]kind{
	reflect.Bool: kindBool, reflect.Int: kindInt64, reflect.Int8: kindInt8, reflect.Int16: kindInt16, reflect.Int32: kindInt32,
	reflect.Int64: kindInt64, reflect.Uint: kindUint64, reflect.Uint8: kindUint8, reflect.Uint16: kindUint16,
	reflect.Uint32: kindUint32, reflect.Uint64: kindUint64, reflect.Float32: kindFloat32, reflect.Float64: kindFloat64,
	reflect.Complex64: kindComplex64, reflect.Complex128: kindComplex128, reflect.String: kindString,
	reflect.Slice: kindSlice, reflect.Array: kindArray, reflect.Map: kindMap, reflect.Pointer: kindPointer,
	reflect.Interface: kindInterface, reflect.Struct: kindStruct,
}

// kindOf returns how values of t are written, or why they cannot be. r.mu is held.
func (r *Registry) kindOf(t reflect.Type) (k kind, why string) {
	if reg, ok := r.registered[t]; ok && reg.codec != nil {
		return kindCustom, ""
	}
	switch t {
	case reflect.TypeFor[time.Time]():
		return kindTime, ""
	case reflect.TypeFor[big.Int]():
		return kindBigInt, ""
	case reflect.TypeFor[*time.Location]():
		return kindLocation, ""
	}
	if why := refusedByName(t); why != "" {
		return 0, why
	}
	if isBinary(t) {
		return kindBinary, ""
	}
	k, ok := scalarKinds[t.Kind()]
	if !ok {
		return 0, t.Kind().String()
	}
	return k, ""
}

// isBinary reports whether values of t are written by their own MarshalBinary: when they have pointers and t declares both methods
// itself. Strings, byte slices and pointer-free types are copied instead.
func isBinary(t reflect.Type) bool {
	if t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer || isRaw(t) || pointerFree(t) {
		return false
	}
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[encoding.BinaryMarshaler]()) && p.Implements(reflect.TypeFor[encoding.BinaryUnmarshaler]()) &&
		ownMethod(t, marshalBinary) && ownMethod(t, unmarshalBinary)
}

// isLock reports whether t is a lock: it is not stored, and comes back unlocked.
func isLock(t reflect.Type) bool {
	return t.PkgPath() == "sync" && (t.Name() == "Mutex" || t.Name() == "RWMutex")
}

// refusedByName returns what to call a type that is refused although its fields might be stored: it stands for something outside
// the value, and a copy would be broken or harmful.
func refusedByName(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	full := t.PkgPath() + "." + name
	switch full {
	case "os.File", "os.Process", "os.Root", "reflect.Value", "unique.Handle", "weak.Pointer":
		return full
	}
	switch t.PkgPath() {
	case "sync", "context", "runtime":
		if t.Kind() == reflect.Struct && !isLock(t) {
			return full
		}
	}
	return ""
}
