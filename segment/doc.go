// Package segment holds one contiguous region of memory, cut into pages of size classes and pages
// into slots, and the words that say what is in each slot.
//
// It is the lowest layer of a pile and the only place that knows about mmap, madvise and fallocate.
// It knows nothing of goroutines waiting for each other, of limits or of values: package pile does.
//
// # Terms
//
//   - unit: 64 KiB, the grain of a segment; unit numbers count from 0 within the segment.
//   - page: one or more units that hold slots of one size class.
//   - run: one or more units that hold one value too large for any slot.
//   - slot: a header word (8 bytes) and a payload.
//   - descriptor: one word a unit, outside the units, that outlives what is in them.
//
// The bytes are drawn in docs/LAYOUT.md and again above the constants that encode them. The rules
// (I1, I2, …) are in docs/INVARIANTS.md.
//
// # Concurrency
//
// Words (headers, links, descriptors, free maps) are accessed atomically and may be read by any
// number of goroutines at any time while the memory is mapped. Payloads are plain memory: who may
// touch them, and when, is the caller's business (I14, I20, I22). Methods that change the role of a
// unit say which exclusion they need.
package segment
