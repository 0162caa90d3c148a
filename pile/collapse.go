package pile

import (
	"time"

	"github.com/bigpile/bigpile/segment"
)

const hugePage = 2 << 20

// considerCollapse starts the collapse of a segment whose last unit was handed out, if huge pages
// are automatic: random reads over much memory then miss the translation cache less often.
//
// Not from the start: a segment that is half full, or full of holes, keeps its small pages, and is
// charged for no more than it uses.
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
