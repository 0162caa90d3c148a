package pile

import (
	"fmt"
	"log/slog"

	"github.com/bigpile/bigpile/segment"
)

// poisonByte fills freed payloads in Debug mode: an odd address, a NaN, a negative length.
const poisonByte = 0xdd

// poison overwrites the payload of a slot that is about to become free.
func (p *Pile) poison(seg *segment.Segment, unit, offset int) {
	room := seg.Memory().Bytes(offset+8, seg.Capacity(unit))
	for i := range room {
		room[i] = poisonByte
	}
}

// guard makes the empty units inaccessible, so that a stray access faults at once. It reports
// whether they are.
func (p *Pile) guard(seg *segment.Segment, unit, n int) bool {
	if p.opt.Backing != Anonymous || n >= segment.SlotsMax {
		return false
	}
	err := seg.Memory().Protect(unit*segment.UnitSize, n*segment.UnitSize, true)
	return err == nil
}

// unguard gives guarded units back after a grace period; n is in the slot field of the entry.
func (p *Pile) unguard(l segment.Location) {
	seg, unit := p.space.must(l.Page())
	n := int(l.Slot())
	if err := seg.Memory().Protect(unit*segment.UnitSize, n*segment.UnitSize, false); err != nil {
		// The units stay out of use; everything else goes on.
		p.space.notes.note(slog.LevelError, "pile: debug: unprotect", "error", err)
		return
	}
	p.space.give(seg, unit, n)
}

// logLeft logs what has not been deleted, just before the pile is closed.
func (p *Pile) logLeft() {
	const examples = 10
	var some []string
	n := 0
	for ptr, e := range p.crawl() {
		if n++; n <= examples {
			some = append(some, fmt.Sprintf("%v (%s, %d bytes)", ptr, e.Type, e.Size))
		}
	}
	if n > 0 {
		p.opt.Logger.Warn("pile: debug: values left at Close", "values", n, "examples", some)
	}
}
