package segment

// Slot is what a crawl finds: one slot of an open page.
type Slot struct {
	Unit   int    // first unit of its page
	Index  uint32 // in the page
	Offset int    // of its first word, in bytes from the start of the segment
	Word   Word   // its first word
}

// Heads calls fn for the first unit of every page and run of the segment, in order, with its
// descriptor, until fn returns false. Slots have fixed places, so the walk never depends on what is
// in them, and units may be walked in parallel.
func (s *Segment) Heads(fn func(unit int, d Descriptor) bool) {
	for u := 0; u < len(s.pages); u++ {
		d := s.Descriptor(u)
		if r := d.Role(); r != Open && r != Closed {
			continue
		}
		if !fn(u, d) {
			return
		}
	}
}

// Crawl calls fn for every slot of the open page or run at unit, in order, until fn returns false;
// it reports whether fn never did. The page must stay open meanwhile: the caller holds a pin or has
// excluded writers.
func (s *Segment) Crawl(unit int, fn func(Slot) bool) bool {
	d := s.Descriptor(unit)
	if d.Role() != Open {
		return true
	}
	shape := s.geo.Shape(d.Class())
	if unit+int(shape.Units) > len(s.pages) {
		return true // a broken descriptor (I2); Check tells
	}
	for i := range shape.Slots {
		offset := shape.Offset(unit, i)
		if !fn(Slot{Unit: unit, Index: i, Offset: offset, Word: s.mem.Load(offset)}) {
			return false
		}
	}
	return true
}
