// Package pile keeps hundreds of millions of values in process, out of sight of the garbage collector.
//
// A Pile is a memory manager over large segments of raw memory. A value is copied in, and the caller
// keeps a PilePointer, a plain 8-byte integer; the collector has nothing to trace.
//
//	p, err := pile.New(pile.Options{})
//	ptr, err := p.PutString("Hello")
//	s, err := p.GetString(ptr)
//	err = p.Delete(ptr)
//
// # Guarantees
//
// A stale handle is an error, never another value. Reads take no lock. A read sees an old value or a
// new one, never a mixture. A Put stores or fails. MaxMemory holds at every moment. Callbacks may do
// anything. The numbered list with the lifetimes of what is handed out is in docs/CONCURRENCY.md.
//
// # Terms
//
// Segment, page, slot, header, generation, link, target, lane, grace period, hazard: one term for one
// thing, in docs/GLOSSARY.md. How it works is told in docs/ARCHITECTURE.md.
package pile
