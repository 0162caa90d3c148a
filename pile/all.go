package pile

import (
	"iter"

	"github.com/bigpile/bigpile/segment"
)

// Kind is the kind of a value.
type Kind uint8

// The kinds of values.
const (
	KindBytes  Kind = iota // a []byte
	KindString             // a string
	KindObject             // anything else, through a serializer
)

// String returns the name of the kind.
func (k Kind) String() string { return name(int(k), "Kind", "bytes", "string", "object") }

// An Entry describes a value that All found.
type Entry struct {
	Size int    // bytes of the value
	Kind Kind   // what it is
	Type string // the name of its type
}

// All iterates over the values of the pile: the handle of each and what it is. It is weakly
// consistent: a value that is there throughout appears exactly once, one that is put or deleted
// meanwhile may appear or not. An updated value appears under its handle only. The cost is linear in
// the slots of the pile. The loop body may do anything with the pile; when the pile is closed the
// iteration ends.
func (p *Pile) All() iter.Seq2[PilePointer, Entry] {
	return func(yield func(PilePointer, Entry) bool) {
		p.callbacks.Add(1)
		defer p.callbackDone()
		for ptr, e := range p.crawl() {
			if !yield(ptr, e) {
				return
			}
		}
	}
}

type item struct {
	ptr PilePointer
	Entry
}

// crawl is All without the accounting of callbacks. It collects a page under a pin, and yields
// outside of it (I24).
func (p *Pile) crawl() iter.Seq2[PilePointer, Entry] {
	return func(yield func(PilePointer, Entry) bool) {
		var items []item
		for _, seg := range *p.space.table.Load() {
			if seg == nil {
				continue
			}
			for unit := range seg.Units() {
				var err error
				if items, err = p.crawlPage(items[:0], seg, unit); err != nil {
					return
				}
				for _, it := range items {
					if !yield(it.ptr, it.Entry) {
						return
					}
				}
			}
		}
	}
}

func (p *Pile) crawlPage(items []item, seg *segment.Segment, unit int) ([]item, error) {
	if seg.Descriptor(unit).Role() != segment.Open { // descriptors outlive the segment
		return items, nil
	}
	e, err := p.enter(0)
	if err != nil {
		return items, err
	}
	defer e.leave()
	if now, _ := p.space.must(seg.First()); now != seg {
		return items, nil // released since the iteration began
	}
	seg.Crawl(unit, func(s segment.Slot) bool {
		if s.Word.IsLink() || s.Word.Is(segment.Value) && s.Word.Flags()&segment.InTable == 0 {
			ptr := pack(segment.At(seg.First()+uint32(unit), s.Index), s.Word.Generation(), p.salt)
			if f, err := p.find(ptr); err == nil {
				items = append(items, item{ptr, p.describe(&f)})
			}
		}
		return true
	})
	return items, nil
}

func (p *Pile) describe(f *found) Entry {
	e := Entry{Size: f.mem.PayloadLen(f.offset, f.word)}
	e.Kind, e.Type = p.kindOf(f.word.Type())
	return e
}
