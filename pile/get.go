package pile

import (
	"fmt"

	"github.com/bigpile/bigpile/segment"
)

// copyMax is the bytes that are copied under a pin; longer payloads are copied under a hazard, so
// that a copy does not hold up reuse in the rest of the pile.
const copyMax = 64 << 10

// GetBytes returns a copy of the value, a []byte or string. It fails with ErrInvalidPointer,
// ErrStalePointer, ErrWrongType when the value is neither, ErrCorrupt or ErrClosed.
func (p *Pile) GetBytes(ptr PilePointer) ([]byte, error) {
	b, err := p.AppendBytes(nil, ptr)
	if err == nil && b == nil {
		b = []byte{}
	}
	return b, err
}

// GetString is GetBytes for a string.
func (p *Pile) GetString(ptr PilePointer) (string, error) {
	b, err := p.AppendBytes(nil, ptr)
	if err != nil {
		return "", err
	}
	return stringOf(b), nil
}

// AppendBytes appends the value, a []byte or string, to dst and returns the extended slice; on an
// error it returns dst. It does not allocate when dst has the capacity. Cost: two atomic adds, one
// look at the header, and a copy. It takes no lock and writes to no memory of the pile.
func (p *Pile) AppendBytes(dst []byte, ptr PilePointer) ([]byte, error) {
	return p.appendBytes(dst, ptr, 1)
}

func (p *Pile) appendBytes(dst []byte, ptr PilePointer, reads uint64) ([]byte, error) {
	e := p.epochs.enter(reads)
	if !p.closing.Load() { // only then is the memory mapped
		if mem, offset, n := p.short(ptr); mem != nil {
			yield() // the value may be deleted now
			dst = append(dst, mem.Bytes(offset+headerSize, n)...)
			e.leave()
			return dst, nil
		}
	}
	return p.appendAny(e, dst, ptr)
}

// short finds the payload of a value that is in the slot of its handle, short, bytes or a string, and
// not to be verified: nearly all. For everything else mem is nil. The caller holds a pin.
func (p *Pile) short(ptr PilePointer) (mem *segment.Memory, offset, n int) {
	mem, offset = p.locate(ptr)
	if mem == nil || p.opt.Checksums {
		return nil, 0, 0
	}
	yield() // the page may be closed now
	w := mem.Load(offset)
	if !w.IsShort(ptr.generation(p.salt), codeString) {
		return nil, 0, 0
	}
	return mem, offset, w.Length()
}

// appendAny is appendBytes for what short does not find. It leaves the pin.
func (p *Pile) appendAny(e pin, dst []byte, ptr PilePointer) ([]byte, error) {
	if p.closing.Load() {
		e.leave()
		return dst, ErrClosed
	}
	f, err := p.findRaw(ptr)
	if err != nil {
		e.leave()
		return dst, err
	}
	if f.long() {
		return p.appendHeld(e, dst, ptr, &f)
	}
	yield() // the value may be deleted now
	dst = append(dst, f.mem.Bytes(f.offset+headerSize, f.word.Length())...)
	e.leave()
	return dst, nil
}

// long reports whether the payload is too long to be looked at under a pin.
func (f *found) long() bool {
	return f.word.Flags()&segment.Large != 0 || f.word.Length() > copyMax
}

// appendHeld verifies and copies a long payload under a hazard.
func (p *Pile) appendHeld(e pin, dst []byte, ptr PilePointer, f *found) ([]byte, error) {
	h := p.hazards.hold(f.location)
	e.leave()
	defer p.letGo(h)
	if err := p.verify(f, ptr.generation(p.salt)); err != nil {
		return dst, err
	}
	return append(dst, f.payload()...), nil
}

// findRaw is find for a []byte or string, verified unless it is long.
func (p *Pile) findRaw(ptr PilePointer) (f found, err error) {
	if f, err = p.find(ptr); err != nil {
		return f, err
	}
	if t := f.word.Type(); t > codeString {
		return f, fmt.Errorf("%w: %v holds type code %d, not bytes or a string", ErrWrongType, ptr, t)
	}
	if p.opt.Checksums && !f.long() {
		err = p.verify(&f, ptr.generation(p.salt))
	}
	return f, err
}

// SizeOf returns the bytes of the value, not of its slot.
func (p *Pile) SizeOf(ptr PilePointer) (int, error) {
	e, err := p.enter(1)
	if err != nil {
		return 0, err
	}
	defer e.leave()
	f, err := p.find(ptr)
	if err != nil {
		return 0, err
	}
	return f.mem.PayloadLen(f.offset, f.word), nil
}

// View calls fn with the bytes of the value in place. They are read only, valid until fn returns, and
// do not change meanwhile whatever others do to the value. fn may call back into the pile, panic, or
// exit its goroutine. A View that does not end keeps its slot from reuse, and nothing else. View
// returns what fn returned.
func (p *Pile) View(ptr PilePointer, fn func(b []byte) error) error {
	e, err := p.enter(1)
	if err != nil {
		return err
	}
	f, err := p.findRaw(ptr)
	if err != nil {
		e.leave()
		return err
	}
	yield()
	h := p.hazards.hold(f.location)
	e.leave()
	defer p.letGo(h)
	yield() // only the hazard keeps the slot now
	if f.long() {
		if err := p.verify(&f, ptr.generation(p.salt)); err != nil {
			return err
		}
	}
	b := f.payload()
	return fn(b[:len(b):len(b)])
}

// letGo releases a hazard and, when the pile was closed meanwhile, finishes the closing.
func (p *Pile) letGo(h *hazard) {
	h.release()
	if p.quiesced.Load() {
		p.tryFinish()
	}
}
