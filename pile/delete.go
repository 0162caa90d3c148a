package pile

import (
	"errors"
	"fmt"

	"github.com/bigpile/bigpile/segment"
)

// Delete removes the value. Its handle is stale from then on, for ever; its slot is used again after
// a grace period. It fails with ErrInvalidPointer, ErrStalePointer or ErrClosed.
func (p *Pile) Delete(ptr PilePointer) error {
	l, err := p.delete(ptr)
	if l != nil && l.due.Load() {
		p.drain(l)
	}
	return err
}

// delete removes the value and returns the lane that retired it, which may have to be drained.
func (p *Pile) delete(ptr PilePointer) (*lane, error) {
	e, err := p.enterWrite()
	if err != nil {
		return nil, err
	}
	defer e.leave()
	for {
		seg, offset, w, err := p.head(ptr)
		if err != nil {
			return nil, err
		}
		if w.IsLink() {
			if l, err := p.deleteLinked(ptr); l != nil || err != nil {
				return l, err
			}
			continue
		}
		mem := seg.Memory()
		n := mem.PayloadLen(offset, w)
		yield()
		if mem.CompareAndSwap(offset, w, w.WithState(segment.Retired)) {
			yield() // gone, not queued
			return p.retire(counts{objects: -1, deletes: 1, bytes: -int64(n)}, uint64(ptr.location())), nil
		}
		// Somebody updated or deleted it: look again.
	}
}

// deleteLinked removes a value whose slot is a link. It returns nil and no error when it is a link
// no more. The caller holds a pin.
func (p *Pile) deleteLinked(ptr PilePointer) (*lane, error) {
	u := p.lockUpdates(ptr.location())
	defer u.unlock()
	seg, offset, w, err := p.head(ptr)
	if err != nil || !w.IsLink() {
		return nil, err
	}
	t := p.linked(w)
	gone := segment.Header(segment.Retired, 0, w.Generation(), 0, 0)
	if !seg.Memory().CompareAndSwap(offset, w, gone) {
		panic("pile: I32: a link changed under its update stripe")
	}
	yield() // the target is no longer linked, not retired
	n := t.mem.PayloadLen(t.offset, t.word)
	t.mem.Store(t.offset, t.word.WithState(segment.Retired))
	d := counts{objects: -1, deletes: 1, links: -1, bytes: -int64(n)}
	return p.retire(d, uint64(ptr.location()), uint64(t.location)), nil
}

// linked returns the target of a link; its update stripe is locked, so there is one (I17).
func (p *Pile) linked(w segment.Word) found {
	t, ok := p.target(w.Target())
	if !ok {
		panic(fmt.Sprintf("pile: I17: link %#x names no target", uint64(w)))
	}
	return t
}

// errorsMax bounds the errors that a batch joins.
const errorsMax = 64

// DeleteMany removes the values and returns how many it removed. It goes on past handles that cannot
// be deleted and joins their errors, the first 64 and a count of the others.
func (p *Pile) DeleteMany(ptrs []PilePointer) (int, error) {
	if p.closing.Load() {
		return 0, ErrClosed
	}
	var errs []error
	deleted, failed := 0, 0
	for _, ptr := range ptrs {
		err := p.Delete(ptr)
		if err == nil {
			deleted++
			continue
		}
		if failed++; failed <= errorsMax {
			errs = append(errs, err)
		}
		if errors.Is(err, ErrClosed) {
			break
		}
	}
	if failed > errorsMax {
		errs = append(errs, fmt.Errorf("pile: %d more handles could not be deleted", failed-errorsMax))
	}
	return deleted, errors.Join(errs...)
}
