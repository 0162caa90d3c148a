package serializer

import (
	"reflect"
	"unsafe"
)

// This file and unsafe_iface.go are the only ones that import unsafe. Everything else handles memory through the functions here.
//
// The rules that make their uses legal:
//
//  1. A pointer is only moved within the object it points into: offsets come from reflect (Field.Offset, Size × index) for the
//     object's own type, and indexes are checked by the caller.
//  2. Loads and stores name the type that lies there. A pointer word is stored as an unsafe.Pointer, never as an integer, so that
//     the write barrier runs and the collector sees it.
//  3. Memory for a type is allocated as that type, or as another whose pointers lie in the same words (all pointers look alike to
//     the collector; memory without pointers is allocated as words).
//  4. No pointer is kept as an integer and turned back. The identity table compares addresses only; objects reached from a value
//     on the heap do not move.

// pointer is an address of a value whose type the surrounding program knows.
type pointer = unsafe.Pointer

// sliceHeader is a slice whose element type the surrounding program knows; the memory is that of any slice.
type sliceHeader struct {
	data pointer
	len  int
	cap  int
}

const wordSize = unsafe.Sizeof(uintptr(0))

// bigEndian tells how this host lays out numbers in memory. Read-only.
var bigEndian = func() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 0
}()

// add returns the address off bytes into the object at p (rule 1).
func add(p pointer, off uintptr) pointer { return unsafe.Add(p, off) }

// load returns the T at p (rule 2).
func load[T any](p pointer) T { return *(*T)(p) }

// store sets the T at p (rule 2).
func store[T any](p pointer, v T) { *(*T)(p) = v }

// at returns p as a pointer to the T there.
func at[T any](p pointer) *T { return (*T)(p) }

// sliceAt returns n consecutive Ts at p.
func sliceAt[T any](p pointer, n int) []T { return unsafe.Slice((*T)(p), n) }

// addressOf returns where v lies.
func addressOf[T any](v *T) pointer { return unsafe.Pointer(v) }

// bytesOf returns the memory of v.
func bytesOf[T any](v *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) }

// sizeOf returns the size of T in bytes.
func sizeOf[T any]() uintptr {
	var v T
	return unsafe.Sizeof(v)
}

// viewAs returns the first byte of b as the start of a T. The caller has checked that b has T's size, holds a valid T, and that T
// has no pointers; the alignment is checked here.
func viewAs[T any](b []byte) (*T, bool) {
	var v T
	p := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(p)%unsafe.Alignof(v) != 0 {
		return nil, false
	}
	return (*T)(p), true
}

// as reinterprets v as a D. T and D have the same memory: T's kind is D's type (a named string as a string).
func as[D, T any](v *T) *D { return (*D)(unsafe.Pointer(v)) }

// newObject allocates a zero t.
func newObject(t reflect.Type) pointer { return reflect.New(t).UnsafePointer() }
