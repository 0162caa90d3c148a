package pile

import "unsafe"

// This file holds the uses of package unsafe in pile.

// bytesOf returns the bytes of s in place. It is legal because nobody writes to them: they are only
// copied from.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// hint returns a number that is mostly the same for one goroutine and different for others: the
// address of its stack in units of 2 KiB, the smallest stack, mixed. It chooses stripes and lanes;
// nothing depends on it but speed. The address is never turned back into a pointer, so it does not
// matter that stacks move.
//
// The alternative is a token from a sync.Pool, which sticks to a P: 11 ns against 2 ns here. A
// goroutine that is started anew reuses a stack its P freed, so the number sticks to a P well
// enough.
func hint() uint32 {
	var here byte
	return uint32(uint64(uintptr(unsafe.Pointer(&here)))>>11*0x9e3779b97f4a7c15>>32) >> 8
}

// stringOf returns b as a string in place. It is legal because b is a fresh copy that nobody else
// has.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
