package serializer

import "reflect"

// References begin with a number, the tag:
//
//	pointer    0 nil | 1 new: the element | 2+id met before
//	slice      0 nil | 1 part of one met before: id, offset, length | 2 part of a new array: elements, offset, length, the elements
//	           3+n new: n elements
//	map        0 nil | 1 met before: id | 2+n new: n times key, element
//	interface  0 nil | 1+code: the value
//
// Only references that can be shared (node.shared) get an id: 0, 1, … in the order in which their tags are written. What a new
// reference refers to follows its tag, unless the reference is the maxDepth-th within one another: then it follows behind the
// object that is being written, in the order of the tags. The value in an interface counts as referred to when it holds an
// interface itself: only then can values nest without a reference between them. (That holds for no direct type, see
// unsafe_iface.go, so that what is put off has a box.)

const (
	tagNil     = 0
	tagPointer = 1
	tagSeen    = 2 // pointer: plus id
	tagPart    = 1 // slice
	tagArray   = 2
	tagSlice   = 3 // plus length
	tagSeenMap = 1
	tagMap     = 2 // plus length
	tagCode    = 1 // interface: plus code
)

// pointer appends the pointer p, which is not nil.
func (e *encoder) pointer(b []byte, r *ref, p pointer) []byte {
	if r.shared {
		if seen := e.refs.find(uintptr(p), r.class); seen != nil {
			return appendUvarint(b, uint64(seen.id)+tagSeen)
		}
		e.refs.insert(refEntry{key: uintptr(p), class: r.class, id: e.nextID()})
	}
	return e.contents(append(b, tagPointer), r.elem, p, 1)
}

// nextID numbers a reference.
func (e *encoder) nextID() uint32 {
	id := e.ids
	e.ids++
	return id
}

// iface appends the interface at q.
func (e *encoder) iface(b []byte, r *ref, q pointer) []byte {
	t := dynamicType(r.typ, q)
	if t == nil {
		return append(b, tagNil)
	}
	if t == stringType && r.typ.NumMethod() == 0 {
		s := load[any](q).(string)
		b = append(b, byte(CodeString)+tagCode)
		return append(appendUvarint(b, uint64(len(s))), s...)
	}
	bind := e.bindingOf(t)
	if bind == nil {
		return b
	}
	b = appendUvarint(b, uint64(bind.current.code)+tagCode)
	prog, p := bind.encode[inInterface], valueInside(q, bind.direct)
	if prog.foreign {
		// Methods get a pointer to the value, and a value in an interface must never change.
		v := reflect.New(t)
		v.Elem().Set(reflect.ValueOf(anyOf(bind.word, bind.direct, p)))
		p = v.UnsafePointer()
	}
	if !prog.boxes {
		return e.run(b, prog.ops, p)
	}
	if e.keys > 0 {
		if e.keys > maxKeyDepth {
			e.fail("%w: a map key nests deeper than %d", ErrUnsupported, maxKeyDepth)
			return b
		}
		e.keys++
		b = e.run(b, prog.ops, p)
		e.keys--
		return b
	}
	return e.contents(b, prog, p, 1)
}

// stringType is the type of strings. Read-only.
var stringType = reflect.TypeFor[string]()

// dynamicType returns the type of what the interface at q holds, or nil.
func dynamicType(iface reflect.Type, q pointer) reflect.Type {
	if iface.NumMethod() == 0 {
		return reflect.TypeOf(load[any](q))
	}
	v := reflect.NewAt(iface, q).Elem()
	if v.IsNil() {
		return nil
	}
	return v.Elem().Type()
}

// bindingOf returns how a value of type t in an interface is written, or nil after an error.
func (e *encoder) bindingOf(t reflect.Type) *binding {
	if t == e.lastType {
		return e.lastBinding
	}
	bind, err := e.reg.bind(t)
	switch {
	case err != nil:
		e.fail("in an interface: %w", err)
		return nil
	case bind.encode[inInterface] == nil:
		e.fail("%w: in an interface: %s has fields that only its own methods can store", ErrUnsupported, bind.name)
		return nil
	}
	e.lastType, e.lastBinding = t, bind
	return bind
}
