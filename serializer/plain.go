package serializer

import (
	"encoding/binary"
	"fmt"
	"reflect"
)

// span is a range of bytes within a value.
type span struct{ off, n uintptr }

// plainLoop repeats a plan over the elements of an array whose elements have padding or bools.
type plainLoop struct {
	off, n uintptr
	elem   *plainPlan
}

// plainPlan says what a pointer-free type needs besides the copy of its memory: most types need nothing.
type plainPlan struct {
	size  uintptr
	pads  []span // padding and blank fields: zeroed on the way in, so that equal values are equal bytes and nothing leaks
	bools []span // bytes that must be 0 or 1: any other bool is undefined behaviour in Go
	loops []plainLoop
}

// pointerFree reports whether values of t are plain memory. Types that stand for state of the running program are not, whatever
// their memory looks like.
func pointerFree(t reflect.Type) bool {
	switch k := t.Kind(); {
	case k == reflect.Uintptr:
		return false
	case k >= reflect.Bool && k <= reflect.Complex128:
		return true
	case k == reflect.Array:
		return pointerFree(t.Elem())
	case k == reflect.Struct:
		if isLock(t) || refusedByName(t) != "" {
			return false
		}
		for i := range t.NumField() {
			if !pointerFree(t.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return false
}

// newPlainPlan builds the plan of a pointer-free type.
func newPlainPlan(t reflect.Type) *plainPlan {
	p := &plainPlan{size: t.Size()}
	p.add(t, 0)
	return p
}

// add appends what a value of type t at off needs.
func (p *plainPlan) add(t reflect.Type, off uintptr) {
	switch t.Kind() {
	case reflect.Bool:
		p.bools = appendSpan(p.bools, span{off, 1})
	case reflect.Array:
		p.addArray(t, off)
	case reflect.Struct:
		end := uintptr(0)
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Name == "_" {
				continue // covered by the gap before the next field
			}
			p.pads = appendSpan(p.pads, span{off + end, f.Offset - end})
			p.add(f.Type, off+f.Offset)
			end = f.Offset + f.Type.Size()
		}
		p.pads = appendSpan(p.pads, span{off + end, t.Size() - end})
	}
}

// addArray appends an array: nothing for elements without needs, one span for bools, else a loop.
func (p *plainPlan) addArray(t reflect.Type, off uintptr) {
	if t.Len() == 0 || t.Size() == 0 {
		return
	}
	if t.Elem().Kind() == reflect.Bool {
		p.bools = appendSpan(p.bools, span{off, uintptr(t.Len())})
		return
	}
	elem := newPlainPlan(t.Elem())
	if len(elem.pads)+len(elem.bools)+len(elem.loops) > 0 {
		p.loops = append(p.loops, plainLoop{off: off, n: uintptr(t.Len()), elem: elem})
	}
}

// appendSpan appends s, merging it with a span it continues and dropping it when empty.
func appendSpan(spans []span, s span) []span {
	if s.n == 0 {
		return spans
	}
	if last := len(spans) - 1; last >= 0 && spans[last].off+spans[last].n == s.off {
		spans[last].n += s.n
		return spans
	}
	return append(spans, s)
}

// zeroPadding clears the padding of the value in b.
func (p *plainPlan) zeroPadding(b []byte) {
	for _, s := range p.pads {
		clear(b[s.off : s.off+s.n])
	}
	for i := range p.loops {
		l := &p.loops[i]
		for j := range l.n {
			l.elem.zeroPadding(b[l.off+j*l.elem.size:][:l.elem.size])
		}
	}
}

// valid reports whether every bool in b is 0 or 1.
func (p *plainPlan) valid(b []byte) bool {
	for _, s := range p.bools {
		for _, c := range b[s.off : s.off+s.n] {
			if c > 1 {
				return false
			}
		}
	}
	for i := range p.loops {
		l := &p.loops[i]
		for j := range l.n {
			if !l.elem.valid(b[l.off+j*l.elem.size:][:l.elem.size]) {
				return false
			}
		}
	}
	return true
}

// check returns ErrCorrupt unless b can be read as a value of the plan's type.
func (p *plainPlan) check(b []byte, name string) error {
	if uintptr(len(b)) != p.size {
		return fmt.Errorf("%w: %s takes %d bytes, not %d", ErrCorrupt, name, p.size, len(b))
	}
	if !p.valid(b) {
		return fmt.Errorf("%w: %s has a bool that is neither 0 nor 1", ErrCorrupt, name)
	}
	return nil
}

// layout returns the fingerprint of a pointer-free type's memory: byte order, size, and offset, kind and name of every field.
//
//	'L' or 'B' | size uvarint | fields, depth first: path uvarint+bytes, offset uvarint, kind byte, count uvarint (arrays)
func layout(t reflect.Type) []byte {
	order := byte('L')
	if bigEndian {
		order = 'B'
	}
	return appendLayout(binary.AppendUvarint([]byte{order}, uint64(t.Size())), t, "", 0)
}

func appendLayout(b []byte, t reflect.Type, path string, off uintptr) []byte {
	b = binary.AppendUvarint(b, uint64(len(path)))
	b = append(b, path...)
	b = binary.AppendUvarint(b, uint64(off))
	b = append(b, byte(t.Kind()))
	switch t.Kind() {
	case reflect.Array:
		b = binary.AppendUvarint(b, uint64(t.Len()))
		return appendLayout(b, t.Elem(), "[]", 0)
	case reflect.Struct:
		b = binary.AppendUvarint(b, uint64(t.NumField()))
		for i := range t.NumField() {
			f := t.Field(i)
			b = appendLayout(b, f.Type, f.Name, f.Offset)
		}
	}
	return b
}
