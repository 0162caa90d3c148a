package cache

import "unsafe"

// This file holds the uses of package unsafe in cache.
//
// Keys are read and written field by field at offsets that package reflect gave for their type, so
// every access lies within the key and is aligned as the field is. Keys have no pointers but those of
// strings, which are copied as strings are.

// fieldAt returns the field of type F at an offset in k.
func fieldAt[F, K any](k *K, offset uintptr) *F {
	return (*F)(unsafe.Add(unsafe.Pointer(k), offset))
}

// bytesAt returns n bytes at an offset in k: an array of bytes.
func bytesAt[K any](k *K, offset uintptr, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(k), offset)), n)
}

// bytesOf returns the bytes of s in place. It is legal because nobody writes to them: they are only
// compared and copied from.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// as returns v as a *D. It is called when the type of v has been found to have the memory of a D.
func as[D, V any](v *V) *D { return (*D)(unsafe.Pointer(v)) }
