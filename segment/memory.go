package segment

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"github.com/edsrzf/mmap-go"
)

// A Backing says where the bytes of a Memory live.
type Backing uint8

// The backings.
const (
	Anonymous Backing = iota // an anonymous private mapping
	Heap                     // one Go allocation without pointers
	File                     // a shared mapping of a file whose space is reserved
)

// Memory is one contiguous region of bytes, whatever is behind it.
//
// It holds a single []byte; everything above addresses it by offset. The region is at least 8-byte
// aligned. Methods may be called concurrently as long as nobody calls Close.
type Memory struct {
	bytes    []byte
	base     unsafe.Pointer // &bytes[0]; see unsafe.go
	backing  Backing
	observer StoreObserver
	close    func() error
}

// A StoreObserver is told of every word that goes through the store seam, in store order for each
// goroutine, after the store. Tests replay the sequence to prove recovery from each prefix (I16).
type StoreObserver interface {
	Stored(offset int, w uint64)
}

// NewMemory returns size zero bytes, a multiple of UnitSize or, for small tables, of 8. It fails
// when the system refuses the address space.
//
// The cost of an anonymous region is address space only, until Commit; a heap region is handed out
// zeroed by the Go runtime, which for large sizes also takes pages when they are touched.
func NewMemory(b Backing, size int) (*Memory, error) {
	switch {
	case size <= 0 || size%wordSize != 0:
		return nil, fmt.Errorf("segment: memory size %d is not a positive multiple of %d", size, wordSize)
	case b == Heap:
		return newMemory(heapBytes(size), Heap, func() error { return nil }), nil
	case b != Anonymous:
		return nil, fmt.Errorf("segment: backing %d needs a file", b)
	}
	m, err := mmap.MapRegion(nil, size, anonymousProt, mmap.ANON, 0)
	if err != nil {
		return nil, fmt.Errorf("segment: map %d anonymous bytes: %w", size, err)
	}
	doNotDump(m)
	return newMemory(m, Anonymous, m.Unmap), nil
}

// MapFile maps size bytes of f for reading and writing. The space is reserved first, so that a full
// disk is an error here and not a fault at some later store. f may be closed afterwards.
func MapFile(f *os.File, size int) (*Memory, error) {
	if size <= 0 || size%UnitSize != 0 {
		return nil, fmt.Errorf("segment: file size %d is not a positive multiple of %d", size, UnitSize)
	}
	if err := reserve(f, int64(size)); err != nil {
		return nil, fmt.Errorf("segment: reserve %d bytes of %s: %w", size, f.Name(), err)
	}
	m, err := mmap.MapRegion(f, size, mmap.RDWR, 0, 0)
	if err != nil {
		return nil, fmt.Errorf("segment: map %d bytes of %s: %w", size, f.Name(), err)
	}
	doNotDump(m)
	return newMemory(m, File, m.Unmap), nil
}

func newMemory(b []byte, backing Backing, closer func() error) *Memory {
	return &Memory{bytes: b, base: unsafe.Pointer(unsafe.SliceData(b)), backing: backing, close: closer}
}

// Len returns the size of the region in bytes.
func (m *Memory) Len() int { return len(m.bytes) }

// Backing returns where the bytes live.
func (m *Memory) Backing() Backing { return m.backing }

// Observe installs o; nil removes it. It must be called while no store is in progress.
func (m *Memory) Observe(o StoreObserver) { m.observer = o }

// Close gives the region back to the system. Nobody may touch it any more; a second call does
// nothing.
func (m *Memory) Close() error {
	if m.close == nil {
		return nil
	}
	c := m.close
	m.close, m.bytes, m.base = nil, nil, nil
	if err := c(); err != nil {
		return fmt.Errorf("segment: unmap: %w", err)
	}
	return nil
}

// Flush writes the range back to the file, for a file region, and returns the first error; other
// regions have nothing to write.
func (m *Memory) Flush(offset, n int) error {
	if m.backing != File {
		return nil
	}
	if err := mmap.MMap(m.bytes[offset : offset+n]).Flush(); err != nil {
		return fmt.Errorf("segment: flush [%d, %d): %w", offset, offset+n, err)
	}
	return nil
}

// commitStep bounds what one system call touches, so that it takes some tens of microseconds.
const commitStep = 128 << 10

// Commit makes the range resident for writing, so that storing to it takes no page fault. On
// platforms and kernels without such a call it does nothing and the pages come when they are
// touched. It fails when the system has no memory left.
//
// A fault for each 4 KiB costs from 0.25 µs to, on virtual machines that trap them, 10 µs; one call
// for 64 KiB costs 0.5 µs for each 4 KiB of it.
func (m *Memory) Commit(offset, n int) error {
	if m.backing != Anonymous {
		return nil
	}
	for end := offset + n; offset < end; offset += commitStep {
		if err := populate(m.bytes[offset:min(offset+commitStep, end)]); err != nil {
			return fmt.Errorf("segment: commit [%d, %d): %w", offset, end, err)
		}
	}
	return nil
}

// Uncommit gives the pages of the range back to the system where it can, and reports whether it
// did. What the range holds afterwards is unspecified.
func (m *Memory) Uncommit(offset, n int) (bool, error) {
	if m.backing != Anonymous {
		return false, nil
	}
	done, err := discard(m.bytes[offset : offset+n])
	if err != nil {
		return false, fmt.Errorf("segment: uncommit [%d, %d): %w", offset, offset+n, err)
	}
	return done, nil
}

// Protect forbids (or allows again) every access to the range, where the system can: a stray read
// then faults at once. Only anonymous regions are protected.
func (m *Memory) Protect(offset, n int, on bool) error {
	if m.backing != Anonymous {
		return nil
	}
	if err := protect(m.bytes[offset:offset+n], on); err != nil {
		return fmt.Errorf("segment: protect [%d, %d): %w", offset, offset+n, err)
	}
	return nil
}

// ErrNoHugePages is returned when the system has no huge pages for the range.
var ErrNoHugePages = errors.New("segment: no huge pages")

// PreferHuge asks for huge pages in the whole region, before it is touched.
func (m *Memory) PreferHuge() error {
	if m.backing != Anonymous {
		return nil
	}
	return preferHuge(m.bytes)
}

// Collapse turns the range, which is resident, into huge pages. It returns ErrNoHugePages where the
// system cannot. One call for 2 MiB takes about a millisecond.
func (m *Memory) Collapse(offset, n int) error {
	if m.backing != Anonymous {
		return ErrNoHugePages
	}
	return collapse(m.bytes[offset : offset+n])
}
