package serializer

import (
	"encoding/binary"
	"math"
	"reflect"
)

// allocForm says how the memory of a slice is allocated.
type allocForm uint8

const (
	allocGeneral  allocForm = iota
	allocWords              // elements without pointers
	allocStrings            // strings
	allocPointers           // elements that are one pointer
)

// allocOf returns the form for elements of type t.
func allocOf(t reflect.Type) allocForm {
	switch {
	case pointerFree(t):
		return allocWords
	case t.Kind() == reflect.String:
		return allocStrings
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Map:
		return allocPointers
	}
	return allocGeneral
}

// slice reads a slice to q.
func (d *decoder) slice(pos int, r *ref, q pointer) int {
	tag, pos := d.uvarint(pos)
	switch {
	case pos < 0 || tag == tagNil:
		return pos
	case tag == tagPart:
		return d.part(pos, r, q)
	}
	count, off, length := tag-tagSlice, uint64(0), tag-tagSlice
	if tag == tagArray {
		if count, pos = d.uvarint(pos); pos >= 0 {
			off, pos = d.uvarint(pos)
		}
		if pos >= 0 {
			length, pos = d.uvarint(pos)
		}
		switch {
		case pos < 0:
			return pos
		case off > count || length > count-off || length == 0:
			return d.corrupt("slice of %d from %d of %d", length, off, count)
		}
	}
	if !d.room(pos, count, r.elem.min) || !d.affordable(count, r.elem) {
		return d.short()
	}
	n := int(count)
	data := d.makeSlice(r, n)
	store(q, sliceHeader{add(data, uintptr(off)*r.elem.size), int(length), n - int(off)})
	if r.shared && n > 0 {
		d.objects = append(d.objects, object{p: data, class: r.class, n: n, gone: d.dropped > 0})
	}
	return d.contents(pos, r.elem, data, n)
}

// affordable reports whether n elements may be allocated that need no bytes.
func (d *decoder) affordable(n uint64, elem *program) bool {
	if n > math.MaxInt/max(1, uint64(elem.size)) {
		return false
	}
	if elem.min > 0 || elem.size == 0 {
		return true
	}
	if d.budget == 0 {
		d.budget = freeBytes + 256*len(d.src)
	}
	size := n * uint64(elem.size)
	if size >= uint64(d.budget) {
		return false
	}
	d.budget -= int(size)
	return true
}

// part reads a slice of an array met before to q.
func (d *decoder) part(pos int, r *ref, q pointer) int {
	var f [3]uint64
	for i := range f {
		if f[i], pos = d.uvarint(pos); pos < 0 {
			return pos
		}
	}
	o := d.seen(f[0], r)
	if o == nil {
		return -1
	}
	off, n := f[1], f[2]
	if off > uint64(o.n) || n > uint64(o.n)-off || n == 0 {
		return d.corrupt("slice of %d from %d of %d", n, off, o.n)
	}
	store(q, sliceHeader{add(o.p, uintptr(off)*r.elem.size), int(n), o.n - int(off)})
	return pos
}

// makeSlice allocates n elements. The memory has the pointers of the element type in the same words (rule 3 in unsafe.go).
func (d *decoder) makeSlice(r *ref, n int) pointer {
	if n == 0 || r.elem.size == 0 {
		return addressOf(&struct{}{})
	}
	switch r.alloc {
	case allocWords:
		words := make([]uint64, (uintptr(n)*r.elem.size+7)/8)
		return addressOf(&words[0])
	case allocStrings:
		return addressOf(&make([]string, n)[0])
	case allocPointers:
		return addressOf(&make([]pointer, n)[0])
	}
	d.header = sliceHeader{}
	reflect.NewAt(r.typ, addressOf(&d.header)).Elem().Grow(n)
	p := d.header.data
	d.header = sliceHeader{}
	return p
}

// elems reads n consecutive values to p.
func (d *decoder) elems(pos int, elem *program, p pointer, n int) int {
	if len(elem.ops) == 1 && elem.ops[0].off == 0 {
		switch elem.ops[0].code {
		case opByte:
			if len(d.src)-pos < n {
				return d.short()
			}
			return pos + copy(sliceAt[byte](p, n), d.src[pos:])
		case opFloat64:
			if (len(d.src)-pos)/8 < n {
				return d.short()
			}
			for i := range sliceAt[uint64](p, n) {
				sliceAt[uint64](p, n)[i] = binary.LittleEndian.Uint64(d.src[pos+8*i:])
			}
			return pos + 8*n
		case opFloat32:
			if (len(d.src)-pos)/4 < n {
				return d.short()
			}
			for i := range sliceAt[uint32](p, n) {
				sliceAt[uint32](p, n)[i] = binary.LittleEndian.Uint32(d.src[pos+4*i:])
			}
			return pos + 4*n
		}
	}
	if len(elem.ops) == 0 {
		return pos
	}
	d.pending += n * elem.min
	for i := range n {
		d.pending -= elem.min
		if pos = d.run(pos, elem.ops, add(p, uintptr(i)*elem.size)); pos < 0 {
			break
		}
	}
	return pos
}
