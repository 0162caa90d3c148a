package pile

import (
	"errors"
	"sync"

	"github.com/bigpile/bigpile/segment"
)

// An update stripe serialises the updates of the objects that hash to it. Its version counts them,
// so that Modify can tell whether a value changed since it was read.
type updateStripe struct {
	mu      sync.Mutex // I32: first
	version uint64     // guarded by mu
	_       [48]byte
}

const updateStripes = 256

func (p *Pile) lockUpdates(l segment.Location) *updateStripe {
	u := &p.updates[uint64(l)*0x9e3779b97f4a7c15>>56]
	u.mu.Lock()
	return u
}

func (u *updateStripe) unlock() { u.mu.Unlock() }

// Update replaces the value under the same handle by v, of any type and size. A reader sees the old
// value or the new one. On an error the old value stands. Cost: that of a Put and a Delete; values that
// were updated are read with one more step.
func (p *Pile) Update(ptr PilePointer, v any) error {
	typ, b, err := p.encode(nil, v)
	if err != nil {
		return err
	}
	return p.update(ptr, b, typ, nil)
}

// UpdateBytes is Update for a []byte; nil is stored as an empty one.
func (p *Pile) UpdateBytes(ptr PilePointer, b []byte) error { return p.update(ptr, b, codeBytes, nil) }

// UpdateString is Update for a string.
func (p *Pile) UpdateString(ptr PilePointer, s string) error {
	return p.update(ptr, bytesOf(s), codeString, nil)
}

// update first tries to return to the slot of the handle. Else it stores the new value elsewhere,
// which may wait for room and so happens under no lock and no pin (I25), and then links to it.
//
// When since is not nil it is what version returned before the value was read; if any value of the
// stripe was updated after that, nothing changes and the error is errChanged.
func (p *Pile) update(ptr PilePointer, b []byte, typ uint16, since *uint64) error {
	if len(b) > p.MaxValueSize() {
		return p.tooLarge(len(b))
	}
	l, done, err := p.updateHome(ptr, b, typ, since)
	if err == errUnsettled {
		p.drainNow() // reserved room is worth a grace period, if one passes without waiting
		l, done, err = p.updateHome(ptr, b, typ, since)
	}
	if !done && (err == nil || err == errUnsettled) {
		l, err = p.updateLink(ptr, b, typ, since)
	}
	if l != nil && l.due.Load() {
		p.drain(l)
	}
	return err
}

// errChanged says that a value of the stripe was updated since its version was asked for.
var errChanged = errors.New("pile: changed")

// version returns the version of the stripe of ptr, to be given to update.
func (p *Pile) version(ptr PilePointer) uint64 {
	u := p.lockUpdates(ptr.location())
	defer u.unlock()
	return u.version
}

// errUnsettled says that a reader may still be in the reserved room.
var errUnsettled = errors.New("pile: unsettled")

// updateHome stores b in the slot of the handle itself, if that is a link whose target is settled
// (I19) and b fits. It fails when the handle is stale.
func (p *Pile) updateHome(ptr PilePointer, b []byte, typ uint16, since *uint64) (l *lane, done bool, err error) {
	e, err := p.enterWrite()
	if err != nil {
		return nil, false, err
	}
	defer e.leave()
	u := p.lockUpdates(ptr.location())
	defer u.unlock()
	seg, offset, w, err := p.head(ptr)
	if err == nil && since != nil && u.version != *since {
		err = errChanged
	}
	if err != nil || !w.IsLink() {
		return nil, false, err
	}
	t := p.linked(w)
	_, unit := p.space.must(ptr.location().Page())
	switch f := t.word.Flags(); {
	case len(b) > seg.Capacity(unit):
		return nil, false, nil
	case f&segment.Settled == 0 && f&segment.Reserve != 0:
		return nil, false, errUnsettled
	case f&segment.Settled == 0:
		return nil, false, nil
	}
	old := t.mem.PayloadLen(t.offset, t.word)
	home := p.write(slot{ptr.location(), seg, unit, offset}, seg.Descriptor(unit), b, w.Generation(), request{
		state: segment.Value, flags: t.word.Flags() & segment.Reserve, typ: typ,
		owner: ptr.location(), ownerGeneration: w.Generation(),
	})
	if !seg.Memory().CompareAndSwap(offset, w, home) {
		panic("pile: I32: a link changed under its update stripe")
	}
	t.mem.Store(t.offset, t.word.WithState(segment.Retired))
	u.version++
	d := counts{updates: 1, links: -1, bytes: int64(len(b) - old)}
	return p.retire(d, uint64(t.location)), true, nil
}

// updateLink stores b in a slot of its own and links to it.
func (p *Pile) updateLink(ptr PilePointer, b []byte, typ uint16, since *uint64) (*lane, error) {
	s, err := p.store(b, request{
		state: segment.Target, typ: typ, room: len(b),
		owner: ptr.location(), ownerGeneration: ptr.generation(p.salt),
	})
	if err != nil {
		return nil, err
	}
	defer p.letGo(s.hold) // Check takes a target without a link for lost, unless a hazard names it
	l, err := p.link(ptr, s.at, since)
	if err == nil {
		return l, nil
	}
	// The handle went stale meanwhile: the new target was never seen by anybody.
	e, closed := p.enterWrite()
	if closed != nil {
		return nil, err
	}
	defer e.leave()
	t, _ := p.target(s.at)
	t.mem.Store(t.offset, t.word.WithState(segment.Retired))
	return p.retire(counts{bytes: -int64(len(b))}, uint64(s.at)), err
}

// link makes the slot of the handle a link to the target at, in place of what it was.
func (p *Pile) link(ptr PilePointer, at segment.Location, since *uint64) (*lane, error) {
	e, err := p.enterWrite()
	if err != nil {
		return nil, err
	}
	defer e.leave()
	u := p.lockUpdates(ptr.location())
	defer u.unlock()
	for {
		seg, offset, w, err := p.head(ptr)
		if err == nil && since != nil && u.version != *since {
			err = errChanged
		}
		if err != nil {
			return nil, err
		}
		entry, d := p.replaced(ptr, seg, offset, w, at)
		yield() // a Delete may come now
		if seg.Memory().CompareAndSwap(offset, w, segment.Link(w.Generation(), at)) {
			yield()
			if w.IsLink() {
				t := p.linked(w)
				t.mem.Store(t.offset, t.word.WithState(segment.Retired))
			}
			u.version++
			return p.retire(d, entry), nil
		}
		// Only a Delete can have come between: the next look finds the handle stale.
	}
}

// replaced says what is to be retired when the word w of the handle gives way to a link to at, and
// hands the flags of the old value on to the new target.
func (p *Pile) replaced(ptr PilePointer, seg *segment.Segment, offset int, w segment.Word, at segment.Location) (entry uint64, d counts) {
	next, _ := p.target(at)
	if !w.IsLink() {
		if f := w.Flags() & segment.Reserve; f != 0 {
			next.mem.Store(next.offset, next.word.WithFlags(f))
		}
		n := seg.Memory().PayloadLen(offset, w)
		settle := retireSettle | uint64(segment.Link(w.Generation(), ptr.location()))
		return settle, counts{updates: 1, links: 1, bytes: -int64(n)}
	}
	t := p.linked(w)
	next.mem.Store(next.offset, next.word.WithFlags(t.word.Flags()&(segment.Reserve|segment.Settled)))
	n := t.mem.PayloadLen(t.offset, t.word)
	return uint64(t.location), counts{updates: 1, bytes: -int64(n)}
}

// settle marks the target of the slot at l, which became a link a grace period ago and is named by
// no hazard, so that an update may return to the slot (I19). It does nothing when that value is gone.
func (p *Pile) settle(l segment.Location, generation uint32) {
	u := p.lockUpdates(l)
	defer u.unlock()
	_, _, w, err := p.head(pack(l, generation, p.salt))
	if err != nil || !w.IsLink() {
		return
	}
	t := p.linked(w)
	t.mem.Store(t.offset, t.word.WithFlags(segment.Settled))
}
