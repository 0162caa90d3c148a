package pile

import (
	"errors"
	"fmt"

	"github.com/bigpile/bigpile/serializer"
)

// Put stores v and returns its handle. A []byte or string goes in as it is; any other value through
// the serializer that its type has, see docs/SERIALIZATION.md. Get returns what was put: a T for a T,
// a *T for a *T. An untyped nil is ErrNil; a value that cannot be stored is ErrWrongType, and the error
// names the path to what is wrong. The serializer may run code of the type of v, which may call back
// into the pile, panic or exit: nothing is held, and nothing is stored then.
func (p *Pile) Put(v any) (PilePointer, error) {
	switch v := v.(type) {
	case []byte:
		return p.put(v, codeBytes)
	case string:
		return p.put(bytesOf(v), codeString)
	}
	buf := p.scratchBuffer()
	typ, b, err := p.encode(*buf, v)
	if err != nil {
		return 0, err
	}
	ptr, err := p.put(b, typ)
	p.keepBuffer(buf, b)
	return ptr, err
}

// Get returns the value. A []byte is a copy. It fails as GetBytes does; and with ErrWrongType when the
// type of the value is not known, or not any more what it was.
func (p *Pile) Get(ptr PilePointer) (any, error) {
	h, f, err := p.open(ptr, 1)
	if err != nil {
		return nil, err
	}
	defer p.letGo(h)
	switch f.word.Type() {
	case codeBytes:
		return append([]byte{}, f.payload()...), nil
	case codeString:
		return string(f.payload()), nil
	}
	v, err := p.opt.Types.Decode(serializer.Code(f.word.Type()), f.payload())
	return v, translate(err)
}

// open finds a value of any type, verified, and holds its slot: what follows may run code of the user,
// and does so under no pin (I24). reads is how many reads to count.
func (p *Pile) open(ptr PilePointer, reads uint64) (*hazard, found, error) {
	e, err := p.enter(reads)
	if err != nil {
		return nil, found{}, err
	}
	f, err := p.find(ptr)
	if err != nil {
		e.leave()
		return nil, found{}, err
	}
	h := p.hazards.hold(f.location)
	e.leave()
	if err := p.verify(&f, ptr.generation(p.salt)); err != nil {
		p.letGo(h)
		return nil, found{}, err
	}
	return h, f, nil
}

// encode returns the type code and the bytes of v: v itself, or appended to buf.
func (p *Pile) encode(buf []byte, v any) (typ uint16, b []byte, err error) {
	switch v := v.(type) {
	case nil:
		return 0, nil, ErrNil
	case []byte:
		return codeBytes, v, nil
	case string:
		return codeString, bytesOf(v), nil
	}
	code, b, err := p.opt.Types.Append(buf[:0], v)
	return uint16(code), b, translate(err)
}

// translate makes an error of the serializer match the sentinels of this package too.
func translate(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, serializer.ErrCorrupt):
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	case errors.Is(err, serializer.ErrWrongType), errors.Is(err, serializer.ErrUnknownType), errors.Is(err, serializer.ErrUnsupported):
		return fmt.Errorf("%w: %w", ErrWrongType, err)
	}
	return err
}

// bufferMax is the bytes of the largest scratch buffer that is kept.
const bufferMax = 64 << 10

// scratchBuffer returns an empty buffer to encode into. A panic of the user's code loses it, and that
// is all.
func (p *Pile) scratchBuffer() *[]byte {
	if b, ok := p.buffers.Get().(*[]byte); ok {
		return b
	}
	return new([]byte)
}

// keepBuffer puts back a buffer that may have grown into b.
func (p *Pile) keepBuffer(buf *[]byte, b []byte) {
	if cap(b) > bufferMax {
		return
	}
	*buf = b[:0]
	p.buffers.Put(buf)
}

// kindOf says what a type code is.
func (p *Pile) kindOf(typ uint16) (Kind, string) {
	switch typ {
	case codeBytes:
		return KindBytes, "[]byte"
	case codeString:
		return KindString, "string"
	}
	return KindObject, p.opt.Types.TypeName(serializer.Code(typ))
}

// The codes of raw values are the same in both packages.
const (
	_ = uint(serializer.CodeBytes) - uint(codeBytes)
	_ = uint(codeString) - uint(serializer.CodeString)
)
