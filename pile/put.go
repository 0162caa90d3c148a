package pile

import (
	"errors"
	"fmt"

	"github.com/bigpile/bigpile/segment"
)

const headerSize = 8

// The type codes of raw values; codes of registered types follow.
const (
	codeBytes  uint16 = 0
	codeString uint16 = 1
)

// PutBytes stores a copy of b and returns its handle. It fails with ErrTooLarge, ErrOutOfSpace or
// ErrClosed, and then nothing has changed. A nil slice is stored as an empty one. Cost: a copy and
// some 20 ns; a new page every 64 KiB.
func (p *Pile) PutBytes(b []byte) (PilePointer, error) {
	return p.put(b, codeBytes)
}

// PutString stores s, as PutBytes does.
func (p *Pile) PutString(s string) (PilePointer, error) {
	return p.put(bytesOf(s), codeString)
}

// PutReserve stores v, as Put does, in a slot with room for capacity bytes, if that is more than v
// needs. Update to a value that fits returns to the reserved room when no reader is left in it.
func (p *Pile) PutReserve(v any, capacity int) (PilePointer, error) {
	if capacity > p.MaxValueSize() || capacity < 0 {
		return 0, fmt.Errorf("%w: capacity %d, at most %d", ErrTooLarge, capacity, p.MaxValueSize())
	}
	typ, b, err := p.encode(nil, v)
	if err != nil {
		return 0, err
	}
	return p.putSlot(b, request{state: segment.Value, flags: segment.Reserve, typ: typ, room: max(capacity, len(b))})
}

// put is the fast path: a slot of a lane's claim.
func (p *Pile) put(b []byte, typ uint16) (PilePointer, error) {
	if len(b) > laneSlotMax-headerSize {
		return p.putSlot(b, request{state: segment.Value, typ: typ, room: len(b)})
	}
	c := segment.ClassFor(len(b) + headerSize)
	l := p.anyLane()
	if l.claims[c].slots == 0 || p.closing.Load() {
		var err error
		if l, err = p.replenish(l, c); err == errNoRoom {
			return p.putSlot(b, request{state: segment.Value, typ: typ, room: len(b)})
		} else if err != nil {
			return 0, err
		}
	}
	ptr := p.putClaim(l, &l.claims[c], b, typ)
	l.mu.Unlock()
	return ptr, nil
}

// putClaim stores b in a slot of the claim, which has one. The lane is locked.
func (p *Pile) putClaim(l *lane, cl *claim, b []byte, typ uint16) PilePointer {
	at, offset := cl.take()
	generation := cl.mem.Load(offset).Generation()
	room := cl.mem.Bytes(offset+headerSize, len(b))
	copy(room, b)
	yield()              // filled, not published
	if p.opt.Checksums { // of the copy: what is passed to crc32 escapes, and b must not
		cl.seg.SetSum(cl.unit, at.Slot(), offset, segment.Sum(at, generation, room))
	}
	cl.mem.Store(offset, segment.Header(segment.Value, 0, generation, typ, len(b)))
	l.counts.put(len(b))
	return pack(at, generation, p.salt)
}

// request says how bytes are to be stored.
type request struct {
	state segment.State
	flags segment.Flags
	typ   uint16
	room  int // payload bytes of the slot, at least

	// The slot that the handle names, for the checksum: of a target the one that will link to it, of
	// a value the slot itself, which fill sets.
	owner           segment.Location
	ownerGeneration uint32
}

// putSlot stores b on the slow path: large values, reserved room, and when lanes found no room.
func (p *Pile) putSlot(b []byte, r request) (PilePointer, error) {
	s, err := p.store(b, r)
	if err != nil {
		return 0, err
	}
	p.letGo(s.hold)
	return pack(s.at, s.generation, p.salt), nil
}

// stored is a value that has been published in its slot. hold names the slot until it is let go.
type stored struct {
	at         segment.Location
	generation uint32
	hold       *hazard
}

// store takes a slot, fills it and publishes it in the state that r asks for. The caller lets the
// slot go.
func (p *Pile) store(b []byte, r request) (stored, error) {
	if len(b) > p.MaxValueSize() {
		return stored{}, p.tooLarge(len(b))
	}
	if r.room <= laneSlotMax-headerSize {
		s, err := p.storeInLane(b, r)
		if err != errNoRoom {
			return s, err
		}
	}
	return p.storeHeld(b, r)
}

// counts is what the counters move by when b is published.
func (r *request) counts(b []byte) counts {
	if r.state == segment.Target {
		return counts{bytes: int64(len(b))}
	}
	return counts{objects: 1, puts: 1, bytes: int64(len(b))}
}

// storeInLane fills a slot of a lane's claim.
func (p *Pile) storeInLane(b []byte, r request) (stored, error) {
	c := segment.ClassFor(r.room + headerSize)
	l, err := p.replenish(p.anyLane(), c)
	if err != nil {
		return stored{}, err
	}
	defer l.mu.Unlock()
	cl := &l.claims[c]
	at, offset := cl.take()
	s := slot{at, cl.seg, cl.unit, offset}
	h := p.hazards.hold(at)
	w := p.fill(s, cl.seg.Descriptor(cl.unit), b, r)
	cl.mem.Store(offset, w)
	l.counts.add(r.counts(b))
	return stored{at, w.Generation(), h}, nil
}

// storeHeld fills a slot under a hazard alone, so that Close does not unmap it, and neither pin nor
// lane is held over a long copy.
func (p *Pile) storeHeld(b []byte, r request) (stored, error) {
	s, h, err := p.holdSlot(r.room)
	if err != nil {
		return stored{}, err
	}
	d := s.seg.Descriptor(s.unit)
	var w segment.Word
	if err = p.commitRun(s, d); err == nil {
		w = p.fill(s, d, b, r)
	}
	e, closed := p.enterWrite()
	if closed != nil {
		p.letGo(h)
		return stored{}, closed
	}
	defer e.leave()
	if err != nil {
		return stored{}, p.abandonRun(s, h, err)
	}
	s.seg.Memory().Store(s.offset, w)
	l := p.anyLane()
	l.counts.add(r.counts(b))
	l.mu.Unlock()
	return stored{s.location, w.Generation(), h}, nil
}

// commitRun makes a run resident, outside of all locks: it may be long. Pages were made resident when
// they were opened.
func (p *Pile) commitRun(s slot, d segment.Descriptor) error {
	if d.Class() != segment.ClassRun {
		return nil
	}
	return s.seg.Commit(s.unit, d.Length())
}

// abandonRun gives back a run that could not be made resident, and says why not. A pin for writing is
// held.
func (p *Pile) abandonRun(s slot, h *hazard, cause error) error {
	s.seg.ClosePage(s.unit)
	p.retire(counts{}, retirePage|uint64(s.location))
	h.release()
	return fmt.Errorf("%w: %w", ErrOutOfSpace, cause)
}

// holdSlot takes a slot, making room if need be, and publishes a hazard for it.
func (p *Pile) holdSlot(n int) (s slot, h *hazard, err error) {
	if s, h, err = p.tryHoldSlot(n, false); !errors.Is(err, errNoRoom) {
		return s, h, err
	}
	p.drainNow()
	if s, h, err = p.tryHoldSlot(n, true); !errors.Is(err, errNoRoom) {
		return s, h, err
	}
	return p.makeRoom(n)
}

func (p *Pile) tryHoldSlot(n int, grow bool) (s slot, h *hazard, err error) {
	e, err := p.enterWrite()
	if err != nil {
		return s, nil, err
	}
	defer e.leave()
	if s, err = p.takeSlot(n, grow); err != nil {
		return s, nil, err
	}
	return s, p.hazards.hold(s.location), nil
}

// fill copies b into the slot and returns the header to publish.
func (p *Pile) fill(s slot, d segment.Descriptor, b []byte, r request) segment.Word {
	generation := p.freeGeneration(s.seg.Memory(), s.location, s.offset)
	if r.state == segment.Value {
		r.owner, r.ownerGeneration = s.location, generation
	}
	return p.write(s, d, b, generation, r)
}

// freeGeneration returns the generation that the next value in a slot that was handed out has.
func (p *Pile) freeGeneration(mem *segment.Memory, at segment.Location, offset int) uint32 {
	w := mem.Load(offset)
	if !w.Is(segment.Free) {
		panic(fmt.Sprintf("pile: I26: slot %v was handed out but holds %#x", at, uint64(w)))
	}
	return w.Generation()
}

// write writes everything of a value but its header, which it returns: the payload, the length of a
// run, and the checksum for the owner that r names. Nobody else may look at the slot.
func (p *Pile) write(s slot, d segment.Descriptor, b []byte, generation uint32, r request) segment.Word {
	mem := s.seg.Memory()
	length, flags := len(b), r.flags
	large := d.Class() == segment.ClassRun
	if large {
		mem.SetRunLength(s.offset, len(b))
		length, flags = d.Length(), flags|segment.Large
	}
	room := mem.Room(s.offset, len(b), large)
	copy(room, b)
	yield()
	if p.opt.Checksums {
		s.seg.SetSum(s.unit, s.location.Slot(), s.offset, segment.Sum(r.owner, r.ownerGeneration, room))
	}
	return segment.Header(r.state, flags, generation, r.typ, length)
}
