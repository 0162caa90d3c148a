package pile

import (
	"errors"
	"github.com/bigpile/bigpile/segment"
)

const (
	putBatch = 256 // values that are stored under one lane lock
	getBatch = 64  // values that are looked up under one pin
)

// PutMany stores a copy of each value and appends the handles to dst. With an error the values of
// the handles that were appended are stored, and the others are not. Cost: per value half that of
// PutBytes.
func (p *Pile) PutMany(values [][]byte, dst []PilePointer) ([]PilePointer, error) {
	if p.closing.Load() {
		return dst, ErrClosed
	}
	for len(values) > 0 {
		n, out, err := p.putSome(values[:min(len(values), putBatch)], dst)
		if dst = out; err != nil {
			return dst, err
		}
		values = values[n:]
		if n > 0 {
			continue
		}
		// One that no lane serves, or a lane that found no room.
		ptr, err := p.putSlot(values[0], request{state: segment.Value, typ: codeBytes, room: len(values[0])})
		if err != nil {
			return dst, err
		}
		dst = append(dst, ptr)
		values = values[1:]
	}
	return dst, nil
}

// putSome stores values under one lane lock, up to the first that a lane cannot store.
func (p *Pile) putSome(values [][]byte, dst []PilePointer) (n int, out []PilePointer, err error) {
	l := p.anyLane()
	for _, b := range values {
		if len(b) > laneSlotMax-headerSize {
			break
		}
		c := segment.ClassFor(len(b) + headerSize)
		if l.claims[c].slots == 0 || n == 0 {
			if l, err = p.replenish(l, c); err == errNoRoom {
				return n, dst, nil // putSlot makes room, or says why not
			} else if err != nil {
				return n, dst, err
			}
		}
		dst = append(dst, p.putClaim(l, &l.claims[c], b, codeBytes))
		n++
	}
	l.mu.Unlock()
	return n, dst, nil
}

// scratch is what one GetMany works with.
type scratch struct {
	mems    [getBatch]*segment.Memory
	at      [getBatch]int // offset of the header
	words   [getBatch]segment.Word
	errs    [getBatch]error
	offsets [getBatch + 1]int // of the copies in bytes
	bytes   []byte
}

// GetMany calls fn for each handle, in order, with its index and its value, or an error, until fn
// returns false. b is a copy that is valid until fn returns. fn may do anything. Cost: the lookups of
// 64 handles are in flight at the same time, so random reads over much memory take about half the
// time of AppendBytes. The error is ErrClosed, or nil.
func (p *Pile) GetMany(ptrs []PilePointer, fn func(i int, b []byte, err error) bool) error {
	if p.closing.Load() {
		return ErrClosed
	}
	s, _ := p.scratches.Get().(*scratch)
	if s == nil {
		s = new(scratch)
	}
	defer p.scratches.Put(s)
	p.callbacks.Add(1)
	defer p.callbackDone()
	for start := 0; start < len(ptrs); start += getBatch {
		some := ptrs[start:min(start+getBatch, len(ptrs))]
		if err := p.lookupSome(s, some); err != nil {
			return err
		}
		for i := range some {
			b := s.bytes[s.offsets[i]:s.offsets[i+1]:s.offsets[i+1]]
			err := s.errs[i]
			if err == errLong {
				b, err = p.appendBytes(nil, some[i], 0)
			}
			if err != nil {
				b = nil
			}
			if !fn(start+i, b, err) {
				return nil
			}
		}
	}
	return nil
}

// errLong marks a value that is too long to be copied under the pin of a batch.
var errLong = errors.New("pile: long value")

// lookupSome copies the values of up to 64 handles. The headers are loaded in a loop of a few
// instructions that does nothing else, so that the processor has many cache misses in flight.
func (p *Pile) lookupSome(s *scratch, ptrs []PilePointer) error {
	e, err := p.enter(uint64(len(ptrs)))
	if err != nil {
		return err
	}
	defer e.leave()
	n := min(len(ptrs), getBatch)
	for i, ptr := range ptrs[:n] {
		s.mems[i], s.at[i] = p.locate(ptr)
	}
	for i := range n {
		if s.mems[i] != nil {
			s.words[i] = s.mems[i].Load(s.at[i])
		}
	}
	s.bytes = s.bytes[:0]
	for i, ptr := range ptrs[:n] {
		s.offsets[i], s.errs[i] = len(s.bytes), nil
		if s.mems[i] != nil && !p.opt.Checksums && s.words[i].IsShort(ptr.generation(p.salt), codeString) {
			s.bytes = append(s.bytes, s.mems[i].Bytes(s.at[i]+headerSize, s.words[i].Length())...)
			continue
		}
		s.errs[i] = p.lookupAny(s, ptr)
	}
	s.offsets[n] = len(s.bytes)
	return nil
}

// locate finds the header that a handle names, nil when there is none.
func (p *Pile) locate(ptr PilePointer) (mem *segment.Memory, offset int) {
	l := ptr.location()
	seg, unit := p.space.segment(l.Page())
	if seg == nil || ptr>>63 != 0 {
		return nil, 0
	}
	offset, ok := seg.Locate(unit, l.Slot())
	if !ok {
		return nil, 0
	}
	return seg.Memory(), offset
}

// lookupAny copies a value that is not short, or says what is wrong with its handle. The caller holds a
// pin.
func (p *Pile) lookupAny(s *scratch, ptr PilePointer) error {
	f, err := p.findRaw(ptr)
	switch {
	case err != nil:
		return err
	case f.long():
		return errLong
	}
	s.bytes = append(s.bytes, f.payload()...)
	return nil
}
