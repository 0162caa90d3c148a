package pile

import (
	"github.com/bigpile/bigpile/segment"
	"github.com/bigpile/bigpile/serializer"
)

// This file is what package cache builds on: slots that belong to a container, which names them by
// location in an index of its own, instead of to a caller with a handle. Handles never resolve to
// them, All and Purge do not see them, and limits, counters and Check do.
//
// A container obeys the rules of the pile: it looks at slots under a Pin only; it publishes a slot
// before it names it, and un-names it before it retires it; it takes room under no lock that a pinned
// goroutine may wait for, because that may wait for a grace period (I25).

// A Location names a slot for a container. Unlike a PilePointer it does not say which value: it is
// good for as long as the container itself keeps the slot.
type Location = segment.Location

// LocationBits is the width of a Location. The lowest 4096 are never used.
const LocationBits = segment.LocationBits

// Types returns the registry of the types that values in the pile may have.
func (p *Pile) Types() *serializer.Registry { return p.opt.Types }

// A Pin keeps everything that its holder finds under it where it is. It is held for bounded work
// only: not over user code, nor over a wait for another goroutine's (I24).
type Pin struct{ e pin }

// Pin takes a pin and counts reads. It fails with ErrClosed.
func (p *Pile) Pin(reads int) (Pin, error) {
	e, err := p.enter(uint64(reads))
	return Pin{e}, err
}

// PinWrite takes a pin under which slots are published, named and retired. It waits while Check is
// looking: the caller holds no lock.
func (p *Pile) PinWrite() (Pin, error) {
	e, err := p.enterWrite()
	return Pin{e}, err
}

// Unpin gives the pin back.
func (e Pin) Unpin() { e.e.leave() }

// A Room is a slot that is being filled. Nobody else can see it until it is published and named.
type Room struct {
	at     Location
	seg    *segment.Segment
	mem    *segment.Memory
	unit   int
	offset int
	n      int
	large  bool
	pin    pin     // for writing; none when count is nil
	hazard *hazard // nil when the slot was taken, and counted, under the pin
}

// TakeRoom takes a slot for n payload bytes, making room in the pile if need be. It may wait for a
// grace period: the caller holds neither a pin nor a lock. It fails with ErrTooLarge, ErrOutOfSpace
// or ErrClosed, and then nothing has changed. The caller fills Bytes at once, which is bounded work,
// publishes the room, and leaves it in any case.
func (p *Pile) TakeRoom(n int) (Room, error) {
	if n > laneSlotMax-headerSize {
		return p.takeHeldRoom(n)
	}
	e, err := p.enterWrite()
	if err != nil {
		return Room{}, err
	}
	c := segment.ClassFor(n + headerSize)
	l := p.anyLane()
	cl := &l.claims[c]
	if cl.slots == 0 {
		e.leave()
		return p.replenishRoom(l, c, n)
	}
	at, offset := cl.take()
	r := Room{at: at, seg: cl.seg, mem: cl.mem, unit: cl.unit, offset: offset, n: n, pin: e}
	l.counts.put(n)
	l.mu.Unlock()
	return r, nil
}

// replenishRoom is TakeRoom when the claim of the lane, which is locked, is used up. That may drain,
// and so is done without a pin (I25); a hazard names the slot.
func (p *Pile) replenishRoom(l *lane, c segment.Class, n int) (Room, error) {
	l, err := p.replenish(l, c)
	if err == errNoRoom {
		return p.takeHeldRoom(n)
	} else if err != nil {
		return Room{}, err
	}
	defer l.mu.Unlock()
	cl := &l.claims[c]
	at, offset := cl.take()
	return Room{at: at, seg: cl.seg, mem: cl.mem, unit: cl.unit, offset: offset, n: n, hazard: p.hazards.hold(at)}, nil
}

// takeHeldRoom is TakeRoom outside the lanes. A hazard names the slot while it is filled.
func (p *Pile) takeHeldRoom(n int) (Room, error) {
	if n > p.MaxValueSize() {
		return Room{}, p.tooLarge(n)
	}
	s, h, err := p.holdSlot(n)
	if err != nil {
		return Room{}, err
	}
	d := s.seg.Descriptor(s.unit)
	if err := p.commitRun(s, d); err != nil {
		e, closed := p.enterWrite()
		if closed != nil {
			p.letGo(h)
			return Room{}, closed
		}
		defer e.leave()
		return Room{}, p.abandonRun(s, h, err)
	}
	return Room{
		at: s.location, seg: s.seg, mem: s.seg.Memory(), unit: s.unit, offset: s.offset, n: n,
		large: d.Class() == segment.ClassRun, hazard: h,
	}, nil
}

// Bytes returns the payload to fill. It begins at a multiple of 8 and holds what was there before.
func (r *Room) Bytes() []byte { return r.mem.Room(r.offset, r.n, r.large) }

// Location returns the location of the slot.
func (r *Room) Location() Location { return r.at }

// PublishRoom publishes the filled slot with a type code, and leaves a pin held. From then on the first
// word of the payload may be changed through Record.SetMeta, and nothing else (I14). It fails with
// ErrClosed only.
func (p *Pile) PublishRoom(r *Room, code uint16) error {
	return p.publishRoom(r, code, segment.InTable, counts{puts: 1, objects: 1, bytes: int64(r.n)})
}

// publishRoom moves the counters by d, unless that was done when the slot was taken.
func (p *Pile) publishRoom(r *Room, code uint16, flags segment.Flags, d counts) error {
	generation := p.freeGeneration(r.mem, r.at, r.offset)
	length := r.n
	if r.large {
		r.mem.SetRunLength(r.offset, r.n)
		length, flags = r.seg.Descriptor(r.unit).Length(), flags|segment.Large
	}
	if p.opt.Checksums {
		r.seg.SetSum(r.unit, r.at.Slot(), r.offset, segment.Sum(r.at, generation, summed(r.Bytes())))
	}
	yield()
	if err := p.PinRoom(r); err != nil {
		return err
	}
	r.mem.Store(r.offset, segment.Header(segment.Value, flags, generation, code, length))
	if r.hazard != nil {
		l := p.anyLane()
		l.counts.add(d)
		l.mu.Unlock()
	}
	return nil
}

// summed returns the bytes of a container's payload that its checksum covers: not the first word,
// which changes in place.
func summed(payload []byte) []byte { return payload[min(headerSize, len(payload)):] }

// PinRoom makes sure that a pin for writing is held, so that the container can name the slot. It may
// wait, as PinWrite. After an error, which is ErrClosed, there is nothing left to do but to leave the
// room.
func (p *Pile) PinRoom(r *Room) error {
	if r.pin.count != nil {
		return nil
	}
	e, err := p.enterWrite()
	r.pin = e
	return err
}

// UnpinRoom leaves the pin, if there is one, and keeps the slot: so that the container may wait. It
// calls PinRoom before it goes on.
func (p *Pile) UnpinRoom(r *Room) {
	if r.pin.count != nil {
		r.pin.leave()
		r.pin = pin{}
	}
}

// LeaveRoom leaves the pin and the hazard. The slot goes on as it is.
func (p *Pile) LeaveRoom(r *Room) {
	p.UnpinRoom(r)
	if r.hazard != nil {
		p.letGo(r.hazard)
		r.hazard = nil
	}
}

// A Record is a published slot of a container, found under a pin and valid as long as that.
type Record struct {
	mem    *segment.Memory
	offset int
	word   segment.Word
}

// Record returns the slot at l, which the container has named.
func (p *Pile) Record(l Location) Record {
	seg, unit := p.space.must(l.Page())
	offset := p.geo.Shape(seg.Descriptor(unit).Class()).Offset(unit, l.Slot())
	mem := seg.Memory()
	return Record{mem, offset, mem.Load(offset)}
}

// Payload returns the payload in place, read only. Its first word is read with Meta.
func (r Record) Payload() []byte {
	if r.word.Flags()&segment.Large != 0 {
		return r.mem.Payload(r.offset, r.word)
	}
	return r.mem.Bytes(r.offset+headerSize, r.word.Length())
}

// Code returns the type code that the slot was published with.
func (r Record) Code() uint16 { return r.word.Type() }

// IsLarge reports whether the payload is so long that it is to be copied under a Hold, not a pin.
func (r Record) IsLarge() bool {
	return r.word.Flags()&segment.Large != 0 || r.word.Length() > copyMax
}

func (r Record) metaOffset() int {
	if r.word.Flags()&segment.Large != 0 {
		return r.offset + 2*headerSize
	}
	return r.offset + headerSize
}

// Meta returns the first word of the payload, atomically.
func (r Record) Meta() uint64 { return uint64(r.mem.Load(r.metaOffset())) }

// SetMeta stores the first word of the payload, atomically.
func (r Record) SetMeta(w uint64) { r.mem.Store(r.metaOffset(), segment.Word(w)) }

// VerifyRecord compares the payload of the slot at l with its checksum, if there are checksums. The
// error is ErrCorrupt.
func (p *Pile) VerifyRecord(l Location, r Record) error {
	if !p.opt.Checksums {
		return nil
	}
	seg, _ := p.space.must(l.Page())
	f := found{seg: seg, mem: r.mem, offset: r.offset, word: r.word, location: l, head: l}
	return p.verify(&f, r.word.Generation())
}

// A Hold keeps one slot as it is without a pin, for as long as it takes.
type Hold struct {
	p *Pile
	h *hazard
}

// Hold holds the slot at l. The caller has found it under a pin that it still holds.
func (p *Pile) Hold(l Location) Hold { return Hold{p, p.hazards.hold(l)} }

// Release ends the hold.
func (h Hold) Release() { h.p.letGo(h.h) }

// A Backlog is where a slot waits for its grace period.
type Backlog struct{ l *lane }

// RetireSlot retires the slot at l, which the container has un-named (I22). The caller holds a pin for
// writing, and hands the backlog to Drain after it has left pin and locks.
func (p *Pile) RetireSlot(l Location) Backlog {
	r := p.Record(l)
	n := r.mem.PayloadLen(r.offset, r.word)
	r.mem.Store(r.offset, r.word.WithState(segment.Retired))
	return Backlog{p.retire(counts{objects: -1, deletes: 1, bytes: -int64(n)}, uint64(l))}
}

// Drain frees what waits in the backlog as far as grace periods allow without waiting. The caller
// holds neither pin nor lock. The zero Backlog is empty.
func (p *Pile) Drain(b Backlog) {
	if b.l != nil && b.l.due.Load() {
		p.drain(b.l)
	}
}

// SlotSize returns the bytes that a slot for n payload bytes takes of the pile, its share of the
// page's unused end not counted.
func (p *Pile) SlotSize(n int) int {
	c := p.geo.ClassFor(n + headerSize)
	if c == segment.ClassRun {
		return segment.RunUnits(n) * segment.UnitSize
	}
	return int(p.geo.Shape(c).SlotSize)
}
