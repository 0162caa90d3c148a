package cache

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/bigpile/bigpile/pile"
	"github.com/bigpile/bigpile/serializer"
)

// valueCodec turns values into bytes and back, through the serializer.
type valueCodec[V any] struct {
	reg    *serializer.Registry
	typed  *serializer.Typed[V] // nil when V is an interface
	tier   serializer.Tier      // 0 when V is an interface
	text   bool                 // raw: V's kind is string
	size   int                  // plain: bytes of a value
	buffer sync.Pool            // of *[]byte
}

func newValueCodec[V any](r *serializer.Registry) (*valueCodec[V], error) {
	c := &valueCodec[V]{reg: r, text: reflect.TypeFor[V]().Kind() == reflect.String}
	c.buffer.New = func() any { return new([]byte) }
	if reflect.TypeFor[V]().Kind() == reflect.Interface {
		return c, nil
	}
	typed, err := serializer.For[V](r)
	if err != nil {
		return nil, fmt.Errorf("cache: value type: %w", err)
	}
	c.typed, c.tier = typed, typed.Tier()
	c.size, _ = typed.PlainSize()
	return c, nil
}

// isRaw reports whether the stored bytes are the value's own.
func (c *valueCodec[V]) isRaw() bool { return c.tier == serializer.Raw }

// inPlace reports whether a value can be made from its bytes by a bounded copy without anybody else's
// code, and so under a pin.
func (c *valueCodec[V]) inPlace() bool {
	return c.tier == serializer.Raw || c.tier == serializer.Plain
}

// raw returns the bytes of a raw value in place.
func (c *valueCodec[V]) raw(v *V) []byte {
	if c.text {
		return bytesOf(*as[string](v))
	}
	return *as[[]byte](v)
}

// encoded is a value on its way into a slot.
type encoded struct {
	bytes []byte  // nil when the value is plain
	box   *[]byte // to be recycled; nil is none
	n     int
	code  uint16
}

// encode finds out how many bytes a value takes; a plain one is not encoded yet.
func (c *valueCodec[V]) encode(v *V) (e encoded, err error) {
	switch c.tier {
	case serializer.Raw:
		b := c.raw(v)
		return encoded{bytes: b, n: len(b), code: uint16(c.typed.Code())}, nil
	case serializer.Plain:
		return encoded{n: c.size, code: uint16(c.typed.Code())}, nil
	}
	return c.encodeBuffered(*v)
}

func (c *valueCodec[V]) encodeBuffered(v V) (e encoded, err error) {
	box := c.buffer.Get().(*[]byte)
	b := (*box)[:0]
	if c.typed != nil {
		e.code = uint16(c.typed.Code())
		b, err = c.typed.AppendValue(b, v)
	} else if any(v) == nil {
		err = pile.ErrNil
	} else {
		var code serializer.Code
		code, b, err = c.reg.Append(b, v)
		e.code = uint16(code)
	}
	*box = b
	e.bytes, e.box, e.n = b, box, len(b)
	if err != nil {
		c.done(&e)
	}
	return e, err
}

// fill writes the value to its slot.
func (c *valueCodec[V]) fill(dst []byte, e *encoded, v *V) {
	if c.tier == serializer.Plain {
		c.typed.PutPlain(dst, v)
		return
	}
	copy(dst, e.bytes)
}

// bufferMax bounds the buffers that are kept for reuse.
const bufferMax = 64 << 10

// done recycles the buffer of an encoded value.
func (c *valueCodec[V]) done(e *encoded) {
	if e.box != nil && cap(*e.box) <= bufferMax {
		c.buffer.Put(e.box)
	}
	e.box = nil
}

// decode makes a value of its bytes. It keeps no reference to them.
func (c *valueCodec[V]) decode(code uint16, b []byte) (v V, err error) {
	if c.typed != nil {
		return c.typed.DecodeValue(serializer.Code(code), b)
	}
	x, err := c.reg.Decode(serializer.Code(code), b)
	if err != nil {
		return v, err
	}
	v, ok := x.(V)
	if !ok {
		return v, fmt.Errorf("%w: a %T is no %s", pile.ErrWrongType, x, reflect.TypeFor[V]())
	}
	return v, nil
}
