package serializer

import (
	"encoding"
	"fmt"
	"reflect"
)

// linker compiles programs for one schema and Go types that take its values. Writing uses the type's own schema; reading uses the
// schema that the value was written with, which may be an older version: fields find each other by name.
type linker struct {
	reg  *Registry // its mu is held while compiling
	sch  *schema
	all  bool // every reference is shared: what an interface holds
	memo map[linkKey]*program
	refs map[int]reflect.Type // Go types that stored references were linked to
	// known has a program for each of refs: a field that the type no longer has is read with it, rather than skipped, because
	// another field may refer to what was met there first.
	known map[int]*program
}

type linkKey struct {
	node int
	typ  reflect.Type
}

// link returns the program between the schema and t.
func (r *Registry) link(s *schema, t reflect.Type, all bool) (*program, error) {
	l := &linker{reg: r, sch: s, all: all, memo: map[linkKey]*program{}, refs: map[int]reflect.Type{}, known: map[int]*program{}}
	p, err := l.program(0, t, shortName(t))
	if err != nil {
		return nil, err
	}
	for i, t := range l.refs {
		if l.known[i], err = l.program(i, t, shortName(t)); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// program returns the program between node i and t. It may still be empty when types are recursive.
func (l *linker) program(i int, t reflect.Type, path string) (*program, error) {
	key := linkKey{i, t}
	if p, ok := l.memo[key]; ok {
		return p, nil
	}
	n := &l.sch.nodes[i]
	p := &program{typ: t, size: t.Size(), min: n.min, bounded: n.bounded, boxes: n.boxes, foreign: l.foreign()}
	l.memo[key] = p
	return p, l.emit(p, i, t, 0, path)
}

// foreign reports whether the schema has a type with marshal code of its own.
func (l *linker) foreign() bool {
	for i := range l.sch.nodes {
		if k := l.sch.nodes[i].kind; k == kindBinary || k == kindCustom {
			return true
		}
	}
	return false
}

// emit appends to p the steps for node i and a t at off. path leads to the value.
func (l *linker) emit(p *program, i int, t reflect.Type, off uintptr, path string) error {
	n := &l.sch.nodes[i]
	l.reg.noteCompiled(t)
	k, why := l.reg.kindOf(t)
	switch {
	case why != "":
		return fmt.Errorf("%w: %s: %s", ErrUnsupported, path, why)
	case n.kind <= kindComplex128 && k <= kindComplex128:
		return l.emitNumber(p, n.kind, k, t, off, path)
	case n.kind != k:
		return l.mismatch(n, t, path)
	}
	switch k {
	case kindStruct:
		return l.emitStruct(p, n, t, off, path)
	case kindArray:
		return l.emitArray(p, n, t, off, path)
	case kindSlice, kindMap, kindPointer:
		return l.emitReference(p, i, t, off, path)
	}
	r := &ref{typ: t}
	if k == kindBinary {
		r.appender = reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.BinaryAppender]()) && ownMethod(t, appendBinary)
	}
	if k == kindCustom {
		r.codec = l.reg.registered[t].codec
	}
	p.ops = append(p.ops, op{code: leafOps[k], off: off, ref: r})
	return nil
}

// leafOps are the steps for kinds that nothing is below. Read-only.
var leafOps = map[kind]opcode{kindString: opString, kindTime: opTime, kindBigInt: opBigInt, kindLocation: opLocation,
	kindBinary: opBinary, kindCustom: opCustom, kindInterface: opInterface}

// mismatch says that what is stored cannot become a t.
func (l *linker) mismatch(n *node, t reflect.Type, path string) error {
	return fmt.Errorf("%w: %s is stored as %v %s, not %s", ErrWrongType, path, n.kind, n.name, t)
}

// numberOps are the steps for numbers stored as they are in memory; int and uint depend on the platform. Read-only.
var numberOps = map[reflect.Kind]opcode{reflect.Bool: opBool, reflect.Int8: opByte, reflect.Int16: opInt16, reflect.Int32: opInt32,
	reflect.Int64: opInt64, reflect.Uint8: opByte, reflect.Uint16: opUint16, reflect.Uint32: opUint32, reflect.Uint64: opUint64,
	reflect.Float32: opFloat32, reflect.Float64: opFloat64}

// numberClass groups the kinds that become each other.
func numberClass(k kind) int {
	switch {
	case k >= kindInt8 && k <= kindInt64:
		return 1
	case k >= kindUint8 && k <= kindUint64:
		return 2
	}
	return -int(k)
}

// emitNumber appends the step for a number. Integers may change width, keeping their sign; a float32 may become a float64.
func (l *linker) emitNumber(p *program, from, to kind, t reflect.Type, off uintptr, path string) error {
	narrow := from == kindInt8 || from == kindUint8 || to == kindInt8 || to == kindUint8
	switch {
	case from == kindFloat32 && to == kindFloat64, numberClass(from) == numberClass(to) && from != to && narrow:
		p.ops = append(p.ops, op{code: opConvert, off: off, ref: &ref{from: from, to: t.Kind(), typ: t}})
		return nil
	case numberClass(from) != numberClass(to):
		return l.mismatch(&node{kind: from}, t, path)
	}
	switch k := t.Kind(); k {
	case reflect.Complex64:
		p.ops = append(p.ops, op{code: opFloat32, off: off}, op{code: opFloat32, off: off + 4})
	case reflect.Complex128:
		p.ops = append(p.ops, op{code: opFloat64, off: off}, op{code: opFloat64, off: off + 8})
	case reflect.Int, reflect.Uint:
		p.ops = append(p.ops, op{code: wordOp(k), off: off})
	default:
		p.ops = append(p.ops, op{code: numberOps[k], off: off})
	}
	return nil
}

// wordOp is the step for an int or uint on this platform.
func wordOp(k reflect.Kind) opcode {
	switch {
	case k == reflect.Int && wordSize == 4:
		return opInt32
	case k == reflect.Int:
		return opInt64
	case wordSize == 4:
		return opUint32
	}
	return opUint64
}

// emitStruct appends the steps for the stored fields, in stored order.
func (l *linker) emitStruct(p *program, n *node, t reflect.Type, off uintptr, path string) error {
	fields := map[string]reflect.StructField{}
	for _, f := range storedFields(t) {
		fields[f.Name] = f
	}
	for _, f := range n.fields {
		g, ok := fields[f.name]
		if !ok {
			p.ops = append(p.ops, op{code: opSkip, off: off, ref: &ref{link: l, node: f.node}})
			continue
		}
		if err := l.emit(p, f.node, g.Type, off+g.Offset, path+"."+f.name); err != nil {
			return err
		}
	}
	return nil
}

// emitArray appends the step for an array; its length cannot change.
func (l *linker) emitArray(p *program, n *node, t reflect.Type, off uintptr, path string) error {
	if n.n != t.Len() {
		return fmt.Errorf("%w: %s is stored with %d elements, not %s", ErrWrongType, path, n.n, t)
	}
	if n.n == 0 {
		return nil
	}
	elem, err := l.program(n.elem, t.Elem(), path+"[]")
	if err != nil || len(elem.ops) == 0 {
		return err
	}
	code := opArray
	if elem.ops[0].code == opByte && elem.size == 1 {
		code = opBytes
	}
	p.ops = append(p.ops, op{code: code, off: off, ref: &ref{typ: t, elem: elem, n: n.n}})
	return nil
}

// emitReference appends the step for a slice, map or pointer.
func (l *linker) emitReference(p *program, i int, t reflect.Type, off uintptr, path string) (err error) {
	n := &l.sch.nodes[i]
	r := &ref{typ: t, shared: n.tracked(l.all)}
	switch n.kind {
	case kindMap:
		if r.key, err = l.program(n.key, t.Key(), path+"[key]"); err != nil {
			return err
		}
		r.class = l.reg.class(reflect.MapOf(t.Key(), t.Elem()))
		r.maps = mapFormOf(t)
		r.pool.New = func() any { return newMapScratch(t) }
	case kindSlice:
		r.class = l.reg.class(reflect.SliceOf(t.Elem()))
	case kindPointer:
		r.class = l.reg.class(reflect.PointerTo(t.Elem()))
	}
	if r.elem, err = l.program(n.elem, t.Elem(), path+"[]"); err != nil {
		return err
	}
	r.alloc = allocOf(t.Elem())
	r.inline = !r.shared && l.sch.nodes[n.elem].bounded
	l.refs[i] = t
	code := map[kind]opcode{kindMap: opMap, kindSlice: opSlice, kindPointer: opPointer}[n.kind]
	p.ops = append(p.ops, op{code: code, off: off, ref: r})
	return nil
}

// class numbers the types of references that can be one and the same. r.mu is held.
func (r *Registry) class(t reflect.Type) uint32 {
	c, ok := r.classes[t]
	if !ok {
		c = uint32(len(r.classes) + 1)
		r.classes[t] = c
	}
	return c
}
