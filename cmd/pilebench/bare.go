package main

import (
	"encoding/binary"
	"runtime/debug"

	"github.com/edsrzf/mmap-go"
)

// bareMemory is what the bare copy writes to: memory of the same kind as the
// pile's, with values in a row and nothing else. It is the limit that the pile
// is compared with, so it has to have the same history: mapped fresh for each
// round, or kept, as the pile's is.
type bareMemory struct {
	memory  []byte
	mapping mmap.MMap // nil on the Go heap
	areas   []bareArea
}

// bareArea is the part of one goroutine, on cache lines of its own.
type bareArea struct {
	memory    []byte
	base      int64 // of memory[0] in the whole
	next      int64 // the next free byte
	committed int64 // memory up to here has pages
	_         [64]byte
}

// newBareMemory maps room for areas of the given sizes.
func newBareMemory(sizes []int64, backing backing, huge string) (*bareMemory, error) {
	m := &bareMemory{areas: make([]bareArea, len(sizes))}
	total := int64(0)
	for _, size := range sizes {
		total += roundUp(size, commitStep)
	}
	if backing.onHeap {
		m.memory = make([]byte, max(total, commitStep))
	} else {
		mapping, err := mapMemory(total)
		if err != nil {
			return nil, err
		}
		m.memory, m.mapping = mapping, mapping
		adviseHuge(m.memory, huge)
	}
	at := int64(0)
	for i, size := range sizes {
		end := at + roundUp(size, commitStep)
		area := bareArea{memory: m.memory[at:end:end], base: at}
		if backing.onHeap {
			area.committed = end - at // Go's memory is faulted in as it is written, the pile's too
		}
		m.areas[i] = area
		at = end
	}
	return m, nil
}

// rewind makes the memory writable from the beginning, its pages kept.
func (m *bareMemory) rewind() {
	for i := range m.areas {
		m.areas[i].next = 0
	}
}

// close gives the memory back to the system, so that the next round's is fresh.
func (m *bareMemory) close() error {
	if m == nil || m.memory == nil {
		return nil
	}
	m.memory, m.areas = nil, nil
	if m.mapping == nil {
		debug.FreeOSMemory()
		return nil
	}
	return m.mapping.Unmap()
}

// appendBare copies v behind the values that are there, a header of 8 bytes
// before it, and returns where: all that a pile cannot do without.
func appendBare[V string | []byte](a *bareArea, v V) uint64 {
	at := a.next
	end := at + stride(len(v))
	for end > a.committed {
		commit(a.memory[a.committed : a.committed+commitStep])
		a.committed += commitStep
	}
	binary.LittleEndian.PutUint64(a.memory[at:end], uint64(len(v)))
	copy(a.memory[at+headerSize:end], v)
	a.next = end
	return uint64(a.base + at)
}

// read appends the value at a place to dst, as AppendBytes of a pile does.
func (m *bareMemory) read(dst []byte, at uint64) []byte {
	size := binary.LittleEndian.Uint64(m.memory[at:])
	return append(dst, m.memory[at+headerSize:at+headerSize+size]...)
}
