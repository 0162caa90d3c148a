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

// PutReserve stores v, a []byte or string, in a slot with room for capacity bytes, if that is more
// than v needs. Update to a value that fits returns to the reserved room when no reader is left in it.
func (p *Pile) PutReserve(v any, capacity int) (PilePointer, error) {
	b, typ, err := raw(v)
	if err != nil {
		return 0, err
	}
	if capacity > p.MaxValueSize() || capacity < 0 {
		return 0, fmt.Errorf("%w: capacity %d, at most %d", ErrTooLarge, capacity, p.MaxValueSize())
	}
	return p.putSlot(b, request{state: segment.Value, flags: segment.Reserve, typ: typ, room: max(capacity, len(b))})
}

// raw returns the bytes and the type code of a value that needs no serializer.
func raw(v any) ([]byte, uint16, error) {
	switch v := v.(type) {
	case nil:
		return nil, 0, ErrNil
	case []byte:
		return v, codeBytes, nil
	case string:
		return bytesOf(v), codeString, nil
	}
	return nil, 0, fmt.Errorf("%w: cannot store a %T", ErrWrongType, v)
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
	copy(cl.mem.Bytes(offset+headerSize, len(b)), b)
	if p.opt.Checksums {
		cl.seg.SetSum(cl.unit, at.Slot(), offset, segment.Sum(at, generation, b))
	}
	cl.mem.Store(offset, segment.Header(segment.Value, 0, generation, typ, len(b)))
	l.counts.puts++
	l.counts.objects++
	l.counts.bytes += int64(len(b))
	return pack(at, generation, p.salt)
}

// request says how bytes are to be stored.
type request struct {
	state segment.State
	flags segment.Flags
	typ   uint16
	room  int // payload bytes of the slot, at least

	// Of a target: the slot that will link to it, for the checksum.
	owner           segment.Location
	ownerGeneration uint32
}

// putSlot stores b outside the lanes: large values, reserved room, and when lanes found no room.
func (p *Pile) putSlot(b []byte, r request) (PilePointer, error) {
	at, generation, err := p.store(b, r)
	if err != nil {
		return 0, err
	}
	l := p.anyLane()
	l.counts.add(counts{objects: 1, puts: 1, bytes: int64(len(b))})
	l.mu.Unlock()
	return pack(at, generation, p.salt), nil
}

// store takes a slot, fills it and publishes it in the state that r asks for.
func (p *Pile) store(b []byte, r request) (segment.Location, uint32, error) {
	if len(b) > p.MaxValueSize() {
		return 0, 0, p.tooLarge(len(b))
	}
	if r.room <= laneSlotMax-headerSize {
		at, generation, err := p.storeInLane(b, r)
		if err != errNoRoom {
			return at, generation, err
		}
	}
	return p.storeHeld(b, r)
}

// storeInLane fills a slot of a lane's claim.
func (p *Pile) storeInLane(b []byte, r request) (segment.Location, uint32, error) {
	c := segment.ClassFor(r.room + headerSize)
	l, err := p.replenish(p.anyLane(), c)
	if err != nil {
		return 0, 0, err
	}
	defer l.mu.Unlock()
	cl := &l.claims[c]
	at, offset := cl.take()
	return at, p.fill(slot{at, cl.seg, cl.unit, offset}, cl.seg.Descriptor(cl.unit), b, r), nil
}

// storeHeld fills a slot that a hazard holds meanwhile, so that Close does not unmap it, and no pin is
// held over a long copy.
func (p *Pile) storeHeld(b []byte, r request) (segment.Location, uint32, error) {
	s, h, err := p.holdSlot(r.room)
	if err != nil {
		return 0, 0, err
	}
	defer p.letGo(h)
	d := s.seg.Descriptor(s.unit)
	if d.Class() == segment.ClassRun {
		if err := s.seg.Commit(s.unit, d.Length()); err != nil {
			s.seg.ClosePage(s.unit)
			p.retire(counts{}, retirePage|uint64(s.location))
			return 0, 0, fmt.Errorf("%w: %w", ErrOutOfSpace, err)
		}
	}
	return s.location, p.fill(s, d, b, r), nil
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
	if s, err = p.makeRoom(n); err != nil {
		return s, nil, err
	}
	e, err := p.enter(0)
	if err != nil {
		return s, nil, err
	}
	defer e.leave()
	return s, p.hazards.hold(s.location), nil
}

func (p *Pile) tryHoldSlot(n int, grow bool) (s slot, h *hazard, err error) {
	e, err := p.enter(0)
	if err != nil {
		return s, nil, err
	}
	defer e.leave()
	if s, err = p.takeSlot(n, grow); err != nil {
		return s, nil, err
	}
	return s, p.hazards.hold(s.location), nil
}

// fill copies b into the slot and publishes the header; it returns the generation.
func (p *Pile) fill(s slot, d segment.Descriptor, b []byte, r request) uint32 {
	mem := s.seg.Memory()
	w := mem.Load(s.offset)
	if !w.Is(segment.Free) {
		panic(fmt.Sprintf("pile: I26: slot %v was handed out but holds %#x", s.location, uint64(w)))
	}
	length, flags := len(b), r.flags
	large := d.Class() == segment.ClassRun
	if large {
		mem.SetRunLength(s.offset, len(b))
		length, flags = d.Length(), flags|segment.Large
	}
	copy(mem.Room(s.offset, len(b), large), b)
	if p.opt.Checksums {
		owner, generation := s.location, w.Generation()
		if r.state == segment.Target {
			owner, generation = r.owner, r.ownerGeneration
		}
		s.seg.SetSum(s.unit, s.location.Slot(), s.offset, segment.Sum(owner, generation, b))
	}
	mem.Store(s.offset, segment.Header(r.state, flags, w.Generation(), r.typ, length))
	return w.Generation()
}
