package pile

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/bigpile/bigpile/segment"
	"github.com/bigpile/bigpile/serializer"
)

// A Typed stores and reads values of one type, whose codec was chosen once: without boxing, and for a
// type without pointers at the cost of a copy. It may be used by any number of goroutines. Values of a
// Typed and of Put are the same: either reads what the other wrote.
type Typed[T any] struct {
	p     *Pile
	codec *serializer.Typed[T]
	size  int           // bytes of a value, when plain
	plain bool          // no pointers in T
	code  uint16        // of T as it is now
	class segment.Class // of the slots of T, when short
	short bool          // plain, fits a lane's slot, and the pile keeps no checksums
}

// Of returns the Typed for T. It fails with ErrWrongType, naming the path, when values of T cannot be
// stored; an interface type is refused: Put and Get hold anything.
func Of[T any](p *Pile) (*Typed[T], error) {
	c, err := serializer.For[T](p.opt.Types)
	if err != nil {
		return nil, translate(err)
	}
	t := &Typed[T]{p: p, codec: c, code: uint16(c.Code())}
	t.size, t.plain = c.PlainSize()
	if t.short = t.plain && t.size <= laneSlotMax-headerSize && !p.opt.Checksums; t.short {
		t.class = segment.ClassFor(t.size + headerSize)
	}
	return t, nil
}

// Put stores v and returns its handle. It fails as Pile.Put does.
func (t *Typed[T]) Put(v T) (PilePointer, error) {
	if t.short {
		if ptr, ok := t.putPlain(&v); ok {
			return ptr, nil
		}
	}
	return t.putAny(v)
}

// putPlain copies *v into a slot of a claim that has one, without a buffer in between. No code of the
// user runs under the lane's lock: a plain value has none.
func (t *Typed[T]) putPlain(v *T) (PilePointer, bool) {
	p := t.p
	l := p.anyLane()
	cl := &l.claims[t.class]
	if cl.slots == 0 || p.closing.Load() {
		l.mu.Unlock()
		return 0, false // the slow path makes room, or says why not
	}
	at, offset := cl.take()
	generation := cl.mem.Load(offset).Generation()
	t.codec.PutPlain(cl.mem.Bytes(offset+headerSize, t.size), v)
	yield() // filled, not published
	cl.mem.Store(offset, segment.Header(segment.Value, 0, generation, t.code, t.size))
	l.counts.put(t.size)
	l.mu.Unlock()
	return pack(at, generation, p.salt), true
}

// putAny is Put for what putPlain does not do.
func (t *Typed[T]) putAny(v T) (PilePointer, error) {
	buf := t.p.scratchBuffer()
	b, err := t.append(*buf, v)
	if err != nil {
		return 0, err
	}
	ptr, err := t.p.put(b, t.code)
	t.p.keepBuffer(buf, b)
	return ptr, err
}

func (t *Typed[T]) append(buf []byte, v T) ([]byte, error) {
	b, err := t.codec.AppendValue(buf[:0], v)
	return b, translate(err)
}

// Get returns the value. It fails as Pile.Get does, and with ErrWrongType when the value is no T.
func (t *Typed[T]) Get(ptr PilePointer) (v T, err error) {
	if !t.short {
		return t.getAny(ptr, 1)
	}
	if t.getPlain(ptr, &v) {
		return v, nil
	}
	return t.getAny(ptr, 0) // getPlain has counted the read
}

// getPlain copies a value that is in the slot of its handle into *dst, under a pin: no code of the user
// runs. When it reports false the slow path finds the value, or says what is wrong.
func (t *Typed[T]) getPlain(ptr PilePointer, dst *T) (ok bool) {
	p := t.p
	e := p.epochs.enter(1)
	if !p.closing.Load() { // only then is the memory mapped
		if mem, offset := p.locate(ptr); mem != nil {
			yield() // the page may be closed now
			if w := mem.Load(offset); w.IsShort(ptr.generation(p.salt), ^uint16(0)) && w.Type() == t.code && w.Length() == t.size {
				if at, err := t.codec.ViewPlain(mem.Bytes(offset+headerSize, t.size)); err == nil {
					*dst, ok = *at, true
				}
			}
		}
	}
	e.leave()
	return ok
}

// getAny is Get for what getPlain does not find.
func (t *Typed[T]) getAny(ptr PilePointer, reads uint64) (v T, err error) {
	h, f, err := t.p.open(ptr, reads)
	if err != nil {
		return v, err
	}
	defer t.p.letGo(h)
	v, err = t.codec.DecodeValue(serializer.Code(f.word.Type()), f.payload())
	return v, translate(err)
}

// Update replaces the value by v, as Pile.Update does; the value may have been of another type.
func (t *Typed[T]) Update(ptr PilePointer, v T) error {
	return t.update(ptr, v, nil)
}

func (t *Typed[T]) update(ptr PilePointer, v T, since *uint64) error {
	buf := t.p.scratchBuffer()
	b, err := t.append(*buf, v)
	if err != nil {
		return err
	}
	err = t.p.update(ptr, b, t.code, since)
	t.p.keepBuffer(buf, b)
	return err
}

// Modify replaces the value by what fn makes of it, as one step: no other Update or Modify comes
// between. fn runs under no lock and may run again when one did come between; it may call back into
// the pile, but an Update of this very value would make it run for ever. When fn returns an error,
// Modify returns it and changes nothing.
func (t *Typed[T]) Modify(ptr PilePointer, fn func(T) (T, error)) error {
	for {
		since := t.p.version(ptr)
		code, old, err := t.p.snapshot(ptr)
		if err != nil {
			return err
		}
		v, err := t.codec.DecodeValue(code, old)
		if err != nil {
			return translate(err)
		}
		if v, err = fn(v); err != nil {
			return err
		}
		if again, err := t.replace(ptr, v, code, old, since); !again {
			return err
		}
	}
}

// replace puts v in the place of the value that is old, and reports whether it found another. Values
// share versions: one that changed tells only that this value may have, and it may have been fn that
// changed the other. The bytes decide then, and fn does not run again.
func (t *Typed[T]) replace(ptr PilePointer, v T, code serializer.Code, old []byte, since uint64) (again bool, err error) {
	for {
		if err := t.update(ptr, v, &since); !errors.Is(err, errChanged) {
			return false, err
		}
		since = t.p.version(ptr)
		codeNow, now, err := t.p.snapshot(ptr)
		if err != nil {
			return false, err
		}
		if codeNow != code || !bytes.Equal(now, old) {
			return true, nil
		}
	}
}

// snapshot returns a copy of the bytes of a value, and its type.
func (p *Pile) snapshot(ptr PilePointer) (serializer.Code, []byte, error) {
	h, f, err := p.open(ptr, 1)
	if err != nil {
		return 0, nil, err
	}
	defer p.letGo(h)
	return serializer.Code(f.word.Type()), bytes.Clone(f.payload()), nil
}

// View calls fn with the value in place, for a T without pointers. It is read only and valid until fn
// returns; as with Pile.View, fn may do anything, and what it returned is returned.
func (t *Typed[T]) View(ptr PilePointer, fn func(v *T) error) error {
	if !t.plain {
		var v T
		return fmt.Errorf("%w: %T has pointers, and cannot be viewed in place", ErrWrongType, v)
	}
	h, f, err := t.p.open(ptr, 1)
	if err != nil {
		return err
	}
	defer t.p.letGo(h)
	if have, want := f.word.Type(), t.code; have != want {
		_, name := t.p.kindOf(have)
		return fmt.Errorf("%w: %v holds a %s, not a %s", ErrWrongType, ptr, name, t.p.opt.Types.TypeName(t.codec.Code()))
	}
	v, err := t.codec.ViewPlain(f.payload())
	if err != nil {
		return translate(err)
	}
	return fn(v)
}
