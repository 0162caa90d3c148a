package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"

	"github.com/edsrzf/mmap-go"
)

// commitStep is how much memory is committed at a time. A pile commits its
// pages in such steps, so the bare copy does, too.
const commitStep = 64 << 10

// mapMemory returns size bytes of zeroed memory that the collector does not
// know of.
func mapMemory(size int64) (mmap.MMap, error) {
	size = max(commitStep, roundUp(size, commitStep))
	if size > math.MaxInt {
		return nil, fmt.Errorf("map %s: more than this platform can address", formatSize(size))
	}
	m, err := mmap.MapRegion(nil, int(size), anonymousProtection, mmap.ANON, 0)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", formatSize(size), err)
	}
	return m, nil
}

func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }

// touch commits b the slow way, a fault a page.
func touch(b []byte) {
	for at := 0; at < len(b); at += os.Getpagesize() {
		b[at] = 0
	}
}

// commitAll commits b in steps.
func commitAll(b []byte) {
	for len(b) > 0 {
		step := min(len(b), commitStep)
		commit(b[:step])
		b = b[step:]
	}
}

// numbers is an array of 64-bit numbers outside the Go heap, so that the
// benchmark's own bookkeeping is no work for the collector it measures.
type numbers struct {
	memory mmap.MMap
}

// newNumbers maps the array; it takes memory only where it is committed or
// written.
func newNumbers(count int64) (*numbers, error) {
	memory, err := mapMemory(count * 8)
	if err != nil {
		return nil, err
	}
	return &numbers{memory}, nil
}

func (a *numbers) get(i int64) uint64    { return binary.LittleEndian.Uint64(a.memory[i*8:]) }
func (a *numbers) set(i int64, v uint64) { binary.LittleEndian.PutUint64(a.memory[i*8:], v) }

// commit makes the numbers of s writable without a page fault; spans are
// committed one after the other.
func (a *numbers) commit(s span) {
	from := roundUp(s.first*8, commitStep) // what is before is committed, and maybe written
	to := min(roundUp(s.end()*8, commitStep), int64(len(a.memory)))
	if from < to {
		commitAll(a.memory[from:to])
	}
}

func (a *numbers) close() error {
	if a == nil || a.memory == nil {
		return nil
	}
	return a.memory.Unmap()
}

// span is consecutive numbers of values.
type span struct {
	first, count int64
}

func (s span) end() int64 { return s.first + s.count }

// part returns the i-th of n nearly equal parts of s.
func (s span) part(i, n int) span {
	from := s.first + s.count*int64(i)/int64(n)
	to := s.first + s.count*int64(i+1)/int64(n)
	return span{from, to - from}
}
