package pile

import (
	"time"

	"github.com/bigpile/bigpile/segment"
)

const hugePage = 2 << 20

// hugeSegmentMin is the bytes of the smallest segment that has huge pages from the start: what a page
// that is not filled yet takes too much is then at most 1/32 of it.
const hugeSegmentMin = 64 << 20

// considerCollapse starts the collapse of a segment whose last unit was handed out, if huge pages
// are automatic: random reads over much memory then miss the translation cache less often.
//
// That is for the first segment of a pile, and for small ones: a pile of a few MiB is charged for no
// more than it uses. Later segments ask for huge pages from the start, because a pile that has filled
// one will fill more, and memory then comes in steps of 2 MiB: pilebench put 31.2 million strings of 32
// bytes a second that way, and 5.1 million in steps of 64 KiB, on a virtual machine on which the first
// use of every page is dear. In those the collapse finds little to do.
func (p *Pile) considerCollapse(seg *segment.Segment) {
	if p.opt.HugePages != HugeAuto || p.opt.Backing != Anonymous || !seg.NoteFull() || p.closing.Load() {
		return
	}
	first, size := seg.Memory().HugeStart(hugePage), seg.Memory().Len()
	p.tasks.Go(func() { p.collapse(seg, first, size) })
}

// collapse works in steps of one huge page, the least there is, and rests between them for as long
// as they took, so that it takes at most half of one core.
func (p *Pile) collapse(seg *segment.Segment, first, size int) {
	for at := first; at+hugePage <= size; at += hugePage {
		start := time.Now()
		if !p.collapseStep(seg, at) {
			return
		}
		time.Sleep(time.Since(start))
	}
}

// collapseStep works under a pin, so that the segment stays mapped. It reports whether to go on.
func (p *Pile) collapseStep(seg *segment.Segment, at int) bool {
	e, err := p.enter(0)
	if err != nil {
		return false
	}
	defer e.leave()
	if now, _ := p.space.must(seg.First()); now != seg {
		return false
	}
	return seg.Memory().Collapse(at, hugePage) == nil
}
