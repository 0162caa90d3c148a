package serializer

import (
	"reflect"
	"unsafe"
)

// An interface is two words: what it holds (a type, or a method table for interfaces with methods) and the value. The value is
// the data word itself for types that are one pointer (direct types), else the data word points to it. This layout has been that
// of every Go release with this collector; TestInterfaceWords checks it on the running one. The first word is only ever copied
// from an interface that Go made.
type ifaceWords struct {
	typ  pointer
	data pointer
}

// typeWord returns the first word of an interface of type iface (any for nil) that holds a t, and whether t is direct.
func typeWord(iface, t reflect.Type) (word pointer, direct bool) {
	v := reflect.Zero(t).Interface()
	w := *(*ifaceWords)(unsafe.Pointer(&v))
	if iface == nil || iface.NumMethod() == 0 {
		return w.typ, w.data == nil
	}
	slot := reflect.New(iface)
	slot.Elem().Set(reflect.Zero(t))
	return (*ifaceWords)(slot.UnsafePointer()).typ, w.data == nil
}

// valueInside returns where the value held by the interface at q lies. It must not be written to.
func valueInside(q pointer, direct bool) pointer {
	w := (*ifaceWords)(q)
	if direct {
		return unsafe.Pointer(&w.data)
	}
	return w.data
}

// setInterface makes the interface at q hold, under the given first word, the value whose data word is given.
func setInterface(q, word, data pointer) { *(*ifaceWords)(q) = ifaceWords{word, data} }

// anyOf returns an interface around the value at p, which becomes its box: nobody may write to it any more.
func anyOf(word pointer, direct bool, p pointer) (v any) {
	if direct {
		p = *(*pointer)(p)
	}
	setInterface(unsafe.Pointer(&v), word, p)
	return v
}
