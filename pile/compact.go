package pile

import (
	"context"
	"errors"
	"fmt"

	"github.com/bigpile/bigpile/segment"
)

// Purge removes every value that was there when it was called; a value put meanwhile may be removed
// or not. All handles go stale. The memory stays with the pile until Compact. It fails with
// ErrClosed.
func (p *Pile) Purge() error {
	for ptr := range p.crawl() {
		if l, err := p.delete(ptr); err == nil && l.due.Load() {
			p.drain(l)
		}
	}
	if p.closing.Load() {
		return ErrClosed
	}
	ctx, cancel := context.WithTimeout(context.Background(), roomWait)
	defer cancel()
	_ = p.drainAll(ctx) // what is not drained in time is drained by whoever comes next
	return nil
}

// Compact returns memory that nothing uses to the system: free pages and, on either backing, whole
// segments. Values do not move, so moved is not called. It returns the bytes given back. Readers and
// writers go on. When ctx is done it stops; everything stays valid.
func (p *Pile) Compact(ctx context.Context, moved func(old, new PilePointer)) (int64, error) {
	p.callbacks.Add(1) // what it unmaps itself is unmapped before Done
	defer p.callbackDone()
	defer p.writeNotes()
	if err := p.settleDown(ctx); err != nil {
		return 0, err
	}
	freed, err := p.releaseSegments(ctx)
	if err != nil {
		return freed, err
	}
	for _, seg := range p.space.segments() {
		for from := 0; from >= 0; {
			if err := ctx.Err(); err != nil {
				return freed, err
			}
			n, err := p.uncommitStep(seg, &from)
			if freed += n; err != nil {
				return freed, err
			}
		}
	}
	return freed, nil
}

// settleDown drains what is retired and closes every vacant page.
func (p *Pile) settleDown(ctx context.Context) error {
	if p.closing.Load() {
		return ErrClosed
	}
	if err := p.drainAll(ctx); err != nil {
		return err
	}
	for _, page := range p.gatherPages(nil) {
		p.retire(counts{}, retirePage|uint64(segment.At(page, 0)))
	}
	for range 2 { // guarded pages (Debug) wait for one more period
		if err := p.drainAll(ctx); err != nil {
			return err
		}
	}
	return nil
}

// uncommitStep gives one stretch of units back, under a pin so that the segment stays mapped.
func (p *Pile) uncommitStep(seg *segment.Segment, from *int) (int64, error) {
	e, err := p.enter(0)
	if err != nil {
		return 0, err
	}
	defer e.leave()
	if now, _ := p.space.must(seg.First()); now != seg {
		*from = -1
		return 0, nil
	}
	next, freed, err := p.space.uncommit(seg, *from)
	if *from = next; err != nil {
		return 0, fmt.Errorf("pile: compact: %w", err)
	}
	return freed, nil
}

// releaseSegments unmaps the segments that have nothing in them.
func (p *Pile) releaseSegments(ctx context.Context) (freed int64, err error) {
	gone := p.space.detach()
	if len(gone) == 0 {
		return 0, nil
	}
	// Not cancelled by ctx: the segments are out of the table, and this takes microseconds.
	if err := p.grace.wait(context.WithoutCancel(ctx), p.grace.stamp()); err != nil {
		return 0, err
	}
	var errs []error
	for _, seg := range gone {
		n, err := p.space.release(seg)
		freed += n
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return freed, fmt.Errorf("pile: compact: %w", err)
	}
	return freed, nil
}
