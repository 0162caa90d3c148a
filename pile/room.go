package pile

import (
	"context"
	"errors"
	"fmt"

	"github.com/bigpile/bigpile/segment"
)

// A slot is room for one value that nobody else can take: its header is free, its bit is clear, and
// it is in no claim.
type slot struct {
	location segment.Location
	seg      *segment.Segment
	unit     int
	offset   int
}

// takeSlot takes a slot for n payload bytes from a centre, or a run. It does not wait and takes no
// lane; when there is no room the error is errNoRoom. Without grow it takes no unit that is not
// committed already.
func (p *Pile) takeSlot(n int, grow bool) (slot, error) {
	c := p.geo.ClassFor(n + headerSize)
	if c == segment.ClassRun {
		return p.takeRun(n, grow)
	}
	for {
		if l, seg, unit, ok := p.centres[c].takeOne(p.space); ok {
			offset := p.geo.Shape(c).Offset(unit, l.Slot())
			return slot{l, seg, unit, offset}, nil
		}
		if !grow {
			return slot{}, errNoRoom
		}
		seg, unit, err := p.newPage(c, nowhere)
		if err != nil {
			return slot{}, err
		}
		p.centres[c].disown(p.space, seg, unit)
	}
}

func (p *Pile) takeRun(n int, grow bool) (slot, error) {
	if !grow && p.idle() {
		grow = true // nothing is retired: there is no point in a second attempt
	}
	if !grow {
		return slot{}, errNoRoom
	}
	units := segment.RunUnits(n)
	page, err := p.space.take(units)
	if err != nil {
		return slot{}, err
	}
	seg, unit := p.space.must(page)
	seg.OpenRun(unit, units)
	p.considerCollapse(seg)
	return slot{segment.At(page, 0), seg, unit, unit * segment.UnitSize}, nil
}

// makeRoom is called when a slot for n payload bytes was not to be had. It reclaims what can be
// reclaimed and takes a slot before anybody else can (I29); ErrOutOfSpace means that there is none.
func (p *Pile) makeRoom(n int) (slot, *hazard, error) {
	p.room.Lock()
	defer p.room.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), roomWait)
	defer cancel()
	// Twice: what the first round closes, the second has drained. Debug guards it for a period more.
	rounds := 2
	if p.opt.Debug {
		rounds = 3
	}
	p.frees.Lock() // who took a batch of retired slots before has freed them then
	//lint:ignore SA2001 waiting is all it is for
	p.frees.Unlock()
	var err error
	for range rounds {
		waited := p.drainAll(ctx)
		var s slot
		var h *hazard
		if s, h, err = p.gather(n); !errors.Is(err, errNoRoom) {
			return s, h, err
		}
		if waited != nil {
			break
		}
	}
	return slot{}, nil, p.outOfSpace(n, err)
}

// gather takes the pages of all lanes away, closes those that are vacant, and tries to take a slot
// while no lane can take one.
func (p *Pile) gather(n int) (s slot, h *hazard, err error) {
	err = ErrClosed
	closed := p.gatherPages(func() {
		if s, err = p.takeSlot(n, true); err == nil {
			h = p.hazards.hold(s.location) // Close waits for the lanes, and then finds the hazard
		}
	})
	for _, page := range closed {
		p.retire(counts{}, retirePage|uint64(segment.At(page, 0)))
	}
	return s, h, err
}

// gatherPages makes every page with a free slot listed and closes the vacant ones, whose numbers it
// returns. then is called while all lanes are locked; it may be nil.
func (p *Pile) gatherPages(then func()) (closed []uint32) {
	p.lockLanes()
	defer p.unlockLanes()
	if p.closing.Load() {
		return nil // Close has passed through the lanes: everything may be unmapped
	}
	for i := range p.lanes {
		p.giveUp(&p.lanes[i])
	}
	if then != nil {
		then()
	}
	for c := range p.centres {
		closed = append(closed, p.centres[c].closeVacant(p.space)...)
	}
	return closed
}

// lockLanes locks every lane, in index order (I32).
func (p *Pile) lockLanes() {
	for i := range p.lanes {
		p.lanes[i].mu.Lock()
	}
}

func (p *Pile) unlockLanes() {
	for i := range p.lanes {
		p.lanes[i].mu.Unlock()
	}
}

func (p *Pile) outOfSpace(n int, cause error) error {
	p.space.mu.Lock()
	defer p.space.mu.Unlock()
	return fmt.Errorf("%w: no room for %d bytes: %d segments of together %d bytes; MaxMemory %d, MaxSegments %d (%w)",
		ErrOutOfSpace, n, p.space.count, p.space.bytes, p.opt.MaxMemory, p.opt.MaxSegments, cause)
}

func (p *Pile) tooLarge(n int) error {
	return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, n, p.MaxValueSize())
}
