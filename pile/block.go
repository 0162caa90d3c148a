package pile

import (
	"fmt"

	"github.com/bigpile/bigpile/segment"
)

// A block is memory for the index of a container: lines of 64 bytes, aligned to 64 bytes, of eight
// words that are read and written atomically. It lives in a slot like any value, so that it counts
// against MaxMemory and is given back after a grace period; its flags are InTable and Settled. Every
// multiple of 64 bytes is a size class or rounded up to one that is a multiple of 64, too, so that
// its slots are aligned like the pages they are in.
//
//	slot, size a multiple of 64 bytes       block address − 64      block address
//	+----------------------------------------+------------------------+--------------
//	| header 8 | (run: length 8)      unused | location of the slot 8 | line 0 | …
//	+----------------------------------------+------------------------+--------------
//
// A block is named by its address in the pile in units of a line, not by a location, because then a
// reader finds a line with one look at the table of segments.

// A BlockAddress names a block: the number of its first line, counted over all segments.
type BlockAddress uint64

const (
	// LineSize is the bytes of a line, a cache line.
	LineSize = 64
	// BlockAddressBits is the width of a BlockAddress.
	BlockAddressBits = 38

	lineShift      = 6
	linesUnitShift = segment.UnitShift - lineShift // log2 of the lines of a unit
)

// PageBits + log2(lines of a unit) is the width of an address.
const _ = uint(BlockAddressBits - (segment.LocationBits - 12) - linesUnitShift)

const blockFlags = segment.InTable | segment.Settled

// isBlock tells the slot of a block from that of an entry.
func isBlock(w segment.Word) bool { return w.Flags()&blockFlags == blockFlags }

// BlockSlotSize returns the bytes that a block of that many lines takes of a slot. Blocks waste
// least when it is a size class: a quarter of a power of two times 4, 5, 6 or 7.
func BlockSlotSize(lines int) int { return (lines + 1) * LineSize }

// NewBlock takes a block of that many lines, all words zero. Like TakeRoom it may wait: the caller
// holds neither a pin nor a lock. The block is the caller's until RetireBlock.
func (p *Pile) NewBlock(lines int) (BlockAddress, error) {
	r, err := p.takeHeldRoom(BlockSlotSize(lines) - headerSize)
	if err != nil {
		return 0, err
	}
	defer p.LeaveRoom(&r)
	if r.offset%LineSize != 0 {
		panic(fmt.Sprintf("pile: I4: a block of %d lines lies at offset %d", lines, r.offset))
	}
	clear(r.Bytes())
	r.mem.Store(r.offset+LineSize-headerSize, segment.Word(r.at))
	if err := p.publishRoom(&r, 0, blockFlags, counts{}); err != nil {
		return 0, err
	}
	page := int64(r.seg.First()) + int64(r.offset>>segment.UnitShift)
	line := int64(r.offset>>lineShift) & (1<<linesUnitShift - 1)
	return BlockAddress(page<<linesUnitShift + line + 1), nil
}

// Lines is a block in memory, valid under the pin it was found under.
type Lines struct {
	mem    *segment.Memory
	offset int
}

// Lines returns the block at a.
func (p *Pile) Lines(a BlockAddress) Lines {
	t := *p.space.table.Load()
	shift := p.space.shift + linesUnitShift
	return Lines{t[a>>shift].Memory(), int(a&(1<<shift-1)) << lineShift}
}

// Load returns word i, atomically.
func (b Lines) Load(i int) uint64 { return uint64(b.mem.Load(b.offset + i*headerSize)) }

// Store stores word i, atomically.
func (b Lines) Store(i int, w uint64) { b.mem.Store(b.offset+i*headerSize, segment.Word(w)) }

// CompareAndSwap replaces word i if it is still old, atomically.
func (b Lines) CompareAndSwap(i int, old, w uint64) bool {
	return b.mem.CompareAndSwap(b.offset+i*headerSize, segment.Word(old), segment.Word(w))
}

// Format stores word i of a block that nobody else can see yet, without the cost of an atomic store.
func (b Lines) Format(i int, w uint64) { b.mem.Format(b.offset+i*headerSize, segment.Word(w)) }

// RetireBlock retires a block that nobody can find any more. The caller holds a pin for writing, and
// hands the backlog to Drain after it has left pin and locks.
func (p *Pile) RetireBlock(a BlockAddress) Backlog {
	b := p.Lines(a)
	l := Location(b.mem.Load(b.offset - headerSize))
	r := p.Record(l)
	if !isBlock(r.word) || r.offset != b.offset-LineSize {
		panic(fmt.Sprintf("pile: I22: no block at line %#x", uint64(a)))
	}
	r.mem.Store(r.offset, r.word.WithState(segment.Retired))
	return Backlog{p.retire(counts{}, uint64(l))}
}
