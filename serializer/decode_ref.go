package serializer

import (
	"fmt"
	"reflect"
	"time"
)

// room reports whether n values of at least each bytes can follow at pos, besides what was put off.
func (d *decoder) room(pos int, n uint64, each int) bool {
	left := len(d.src) - pos - d.pending
	return each == 0 || left >= 0 && n <= uint64(left/each)
}

// pointer reads a pointer to q.
func (d *decoder) pointer(pos int, r *ref, q pointer) int {
	tag, pos := d.uvarint(pos)
	switch {
	case pos < 0 || tag == tagNil:
		return pos
	case tag >= tagSeen:
		o := d.seen(tag-tagSeen, r)
		if o == nil {
			return -1
		}
		store(q, o.p)
		return pos
	case !d.room(pos, 1, r.elem.min):
		return d.short()
	}
	if r.elem.typ == timeType {
		p := addressOf(new(time.Time)) // much the most frequent, and cheaper than through reflect
		store(q, p)
		if r.inline {
			return d.time(pos, p)
		}
		return d.newPointer(pos, r, p)
	}
	p := newObject(r.elem.typ)
	store(q, p)
	return d.newPointer(pos, r, p)
}

// newPointer reads what the new pointer p refers to.
func (d *decoder) newPointer(pos int, r *ref, p pointer) int {
	if r.shared {
		d.objects = append(d.objects, object{p: p, class: r.class, gone: d.dropped > 0})
	}
	return d.contents(pos, r.elem, p, 1)
}

// seen returns the object with the number, or nil after an error.
func (d *decoder) seen(id uint64, r *ref) *object {
	if !r.shared || id >= uint64(len(d.objects)) {
		d.corrupt("reference to object %d of %d", id, len(d.objects))
		return nil
	}
	o := &d.objects[id]
	if o.class == r.class {
		d.reused = d.reused || o.gone && d.dropped == 0
		return o
	}
	if o.class == 0 {
		d.fail(fmt.Errorf("%w: %s was met first in a field that is gone", ErrWrongType, r.typ))
	} else {
		d.corrupt("reference to an object of another type than %s", r.typ)
	}
	return nil
}

// contents reads the n values at p that a reference refers to, or puts them off.
func (d *decoder) contents(pos int, elem *program, p pointer, n int) int {
	switch {
	case elem.bounded:
		return d.elems(pos, elem, p, n)
	case d.depth >= maxDepth || d.keys > 0:
		return d.putOff(pos, deferred{elem: elem, p: p, n: n})
	}
	d.depth++
	pos = d.elems(pos, elem, p, n)
	d.depth--
	return pos
}

// iface reads an interface to q.
func (d *decoder) iface(pos int, r *ref, q pointer) int {
	tag, pos := d.uvarint(pos)
	switch {
	case pos < 0 || tag == tagNil:
		return pos
	case tag > 1<<16:
		return d.corrupt("type code %d", tag-tagCode)
	case tag == uint64(CodeString)+tagCode && r.typ.NumMethod() == 0:
		s, pos := d.str(pos)
		store(q, any(s))
		return pos
	}
	v, b, err := d.reg.resolve(Code(tag - tagCode))
	switch {
	case err != nil && d.dropped > 0 && d.reg.version(Code(tag-tagCode)) != nil:
		d.hole = err
		return d.skipVersion(pos, d.reg.version(Code(tag-tagCode)))
	case err != nil:
		return d.fail(err)
	}
	prog := v.programs[inInterface].Load()
	if prog == nil {
		if prog, err = d.reg.programFor(v, b, inInterface); err != nil {
			return d.fail(err)
		}
	}
	word, err := r.wordFor(b)
	if err != nil {
		return d.fail(err)
	}
	if d.keys > 0 && !b.typ.Comparable() {
		return d.corrupt("%s in a map key", b.name)
	}
	if !d.room(pos, 1, prog.min) {
		return d.short()
	}
	if b.direct {
		setInterface(q, word, nil)
		return d.run(pos, prog.ops, valueInside(q, true))
	}
	box := newObject(b.typ)
	setInterface(q, word, box)
	return d.boxed(pos, prog, box)
}

// boxed reads the value in an interface to its box.
func (d *decoder) boxed(pos int, prog *program, box pointer) int {
	if !prog.boxes {
		return d.run(pos, prog.ops, box)
	}
	if d.keys == 0 {
		return d.contents(pos, prog, box, 1)
	}
	if d.keys > maxKeyDepth {
		return d.corrupt("a map key nests deeper than %d", maxKeyDepth)
	}
	d.keys++
	pos = d.run(pos, prog.ops, box)
	d.keys--
	return pos
}

// wordFor returns the first word of an interface of r's type that holds a value of b's.
func (r *ref) wordFor(b *binding) (pointer, error) {
	if r.typ.NumMethod() == 0 {
		return b.word, nil
	}
	if word, ok := r.words.Load(b.typ); ok {
		return word.(pointer), nil
	}
	if !b.typ.Implements(r.typ) {
		return nil, fmt.Errorf("%w: %s is stored where %s is wanted, which it does not implement", ErrWrongType, b.name, r.typ)
	}
	word, _ := typeWord(r.typ, b.typ)
	r.words.Store(b.typ, word)
	return word, nil
}

// mapping reads a map to q.
func (d *decoder) mapping(pos int, r *ref, q pointer) int {
	tag, pos := d.uvarint(pos)
	switch {
	case pos < 0 || tag == tagNil:
		return pos
	case tag == tagSeenMap:
		id, pos := d.uvarint(pos)
		if pos < 0 {
			return pos
		}
		o := d.seen(id, r)
		if o == nil {
			return -1
		}
		store(q, o.p)
		return pos
	}
	count, each := tag-tagMap, r.key.min+r.elem.min
	if !d.room(pos, count, each) || each == 0 && count > 1 {
		return d.short()
	}
	n := int(count)
	m := r.makeMap(n)
	store(q, m)
	if r.shared {
		d.objects = append(d.objects, object{p: m, class: r.class, gone: d.dropped > 0})
	}
	switch {
	case r.key.bounded && r.elem.bounded:
		return d.mapEntries(pos, r, m, n)
	case d.depth >= maxDepth || d.keys > 0:
		return d.putOff(pos, deferred{maps: r, p: m, n: n})
	}
	d.depth++
	pos = d.mapEntries(pos, r, m, n)
	d.depth--
	return pos
}

// makeMap allocates a map for n entries.
func (r *ref) makeMap(n int) pointer {
	if r.maps == mapStringString {
		m := make(map[string]string, n)
		return load[pointer](addressOf(&m))
	}
	return reflect.MakeMapWithSize(r.typ, n).UnsafePointer()
}
