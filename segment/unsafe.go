package segment

import (
	"sync/atomic"
	"unsafe"
)

// This file holds all pointer arithmetic of the package.
//
// Why it is legal: base points to the first byte of a region that outlives the access (a mapping,
// which the collector does not know, or one Go allocation, which the bytes field keeps alive), and
// every offset is below the length of that region, because it was computed from a descriptor and a
// shape of the same segment, or was checked. unsafe.Add within one allocation is pattern (3) of
// package unsafe. Words are 8-byte aligned: regions are, slot sizes and unit sizes are multiples of 8.

// Load returns the word at offset, a multiple of 8, atomically.
func (m *Memory) Load(offset int) Word {
	return Word(atomic.LoadUint64((*uint64)(unsafe.Add(m.base, offset))))
}

// store64 stores the word at offset, a multiple of 8, atomically. With cas64 and format64 it is the
// seam through which all metadata goes (I16).
func (m *Memory) store64(offset int, w uint64) {
	atomic.StoreUint64((*uint64)(unsafe.Add(m.base, offset)), w)
	if m.observer != nil {
		m.observer.Stored(offset, w)
	}
}

func (m *Memory) cas64(offset int, old, w uint64) bool {
	ok := atomic.CompareAndSwapUint64((*uint64)(unsafe.Add(m.base, offset)), old, w)
	if ok && m.observer != nil {
		m.observer.Stored(offset, w)
	}
	return ok
}

// format64 stores a word of a page that nobody can read, because its descriptor is closed and a
// grace period has passed (I15): no atomic is needed, and a store is ten times cheaper without.
func (m *Memory) format64(offset int, w uint64) {
	*(*uint64)(unsafe.Add(m.base, offset)) = w
	if m.observer != nil {
		m.observer.Stored(offset, w)
	}
}

// Format stores the word at offset, in memory that nobody else can see yet.
func (m *Memory) Format(offset int, w Word) { m.format64(offset, uint64(w)) }

// Store publishes the word at offset.
func (m *Memory) Store(offset int, w Word) { m.store64(offset, uint64(w)) }

// CompareAndSwap replaces the word at offset if it is still old.
func (m *Memory) CompareAndSwap(offset int, old, w Word) bool {
	return m.cas64(offset, uint64(old), uint64(w))
}

// HugeStart returns the offset of the first address in the region that a huge page of size bytes, a
// power of two, may begin at.
func (m *Memory) HugeStart(size int) int { return int(-uintptr(m.base) & uintptr(size-1)) }

// Bytes returns n bytes at offset, in place. Its capacity ends with it, so that an append cannot
// reach the neighbour.
func (m *Memory) Bytes(offset, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(m.base, offset)), n)
}

// loadLength reads the length word of a run, which is written before its header is published and
// not changed while a reader can see it (I14).
func (m *Memory) loadLength(offset int) uint64 {
	return *(*uint64)(unsafe.Add(m.base, offset))
}

func (m *Memory) loadSum(offset int) uint32 { return *(*uint32)(unsafe.Add(m.base, offset)) }

func (m *Memory) storeSum(offset int, sum uint32) { *(*uint32)(unsafe.Add(m.base, offset)) = sum }

// heapBytes returns size zero bytes of Go memory, 8-byte aligned on all platforms. The collector
// does not look inside: the allocation has no pointers.
func heapBytes(size int) []byte {
	words := make([]uint64, size/wordSize)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
}
