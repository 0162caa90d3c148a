package cache

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
)

// keyCodec turns keys into bytes that are equal if and only if the keys are, and back. Fields follow
// each other without padding, lowest byte first; int, uint and uintptr have 8 bytes everywhere; −0
// becomes +0. A string is its bytes when it is the whole key; inside of a key its length comes first.
type keyCodec[K comparable] struct {
	fold  func(K) K
	text  bool // K's kind is string
	steps []keyStep
}

// keyStep is one field.
type keyStep struct {
	do     keyOp
	offset uintptr
	n      int // copyBytes: how many
}

type keyOp uint8

const (
	copy8 keyOp = iota
	copy16
	copy32
	copy64
	copyInt // int, uint or uintptr of this platform
	copyBytes
	copyFloat32
	copyFloat64
	copyString
)

// keyStepsMax bounds the fields of a key: an array of arrays would be as many.
const keyStepsMax = 1 << 12

func newKeyCodec[K comparable](fold func(K) K) (*keyCodec[K], error) {
	typ := reflect.TypeFor[K]()
	c := &keyCodec[K]{fold: fold, text: typ.Kind() == reflect.String}
	if err := c.compile(typ, 0, typ.String()); err != nil {
		return nil, err
	}
	return c, nil
}

// compile appends the steps of a type at an offset; path names it in errors.
func (c *keyCodec[K]) compile(t reflect.Type, offset uintptr, path string) error {
	if len(c.steps) > keyStepsMax {
		return fmt.Errorf("%w: %s has more than %d fields", ErrKey, reflect.TypeFor[K](), keyStepsMax)
	}
	if op, ok := keyOpOf(t.Kind()); ok {
		c.steps = append(c.steps, op.at(offset)...)
		return nil
	}
	switch t.Kind() {
	case reflect.Array:
		if k := t.Elem().Kind(); k == reflect.Uint8 || k == reflect.Int8 || k == reflect.Bool {
			c.steps = append(c.steps, keyStep{copyBytes, offset, t.Len()})
			return nil
		}
		for i := range t.Len() {
			if err := c.compile(t.Elem(), offset+uintptr(i)*t.Elem().Size(), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		return nil
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Name == "_" {
				continue // == does not look at it either
			}
			if err := c.compile(f.Type, offset+f.Offset, path+"."+f.Name); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%w: type %s: %s is %s, which has a pointer", ErrKey, reflect.TypeFor[K](), path, t)
}

// keyOps are one or, for complex numbers, two steps of one kind.
type keyOps struct {
	op    keyOp
	again uintptr // distance to a second one; 0 is none
}

func (o keyOps) at(offset uintptr) []keyStep {
	s := []keyStep{{do: o.op, offset: offset}}
	if o.again != 0 {
		s = append(s, keyStep{do: o.op, offset: offset + o.again})
	}
	return s
}

func keyOpOf(k reflect.Kind) (o keyOps, ok bool) {
	switch k {
	case reflect.Bool, reflect.Int8, reflect.Uint8:
		return keyOps{op: copy8}, true
	case reflect.Int16, reflect.Uint16:
		return keyOps{op: copy16}, true
	case reflect.Int32, reflect.Uint32:
		return keyOps{op: copy32}, true
	case reflect.Int64, reflect.Uint64:
		return keyOps{op: copy64}, true
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		return keyOps{op: copyInt}, true
	case reflect.Float32:
		return keyOps{op: copyFloat32}, true
	case reflect.Float64:
		return keyOps{op: copyFloat64}, true
	case reflect.Complex64:
		return keyOps{copyFloat32, 4}, true
	case reflect.Complex128:
		return keyOps{copyFloat64, 8}, true
	case reflect.String:
		return keyOps{op: copyString}, true
	}
	return o, false
}

// keyBuffer is the bytes of a key that are encoded without allocating.
const keyBuffer = 64

// encode returns the bytes of *k: those of the string in place when K is one, else appended to buf. It
// fails with ErrKey when there is a NaN in the key.
func (c *keyCodec[K]) encode(buf []byte, k *K) ([]byte, error) {
	if c.fold != nil {
		*k = c.fold(*k)
	}
	if c.text {
		return bytesOf(*as[string](k)), nil
	}
	for i := range c.steps {
		s := &c.steps[i]
		switch s.do {
		case copy8:
			buf = append(buf, *fieldAt[byte](k, s.offset))
		case copy16:
			buf = binary.LittleEndian.AppendUint16(buf, *fieldAt[uint16](k, s.offset))
		case copy32:
			buf = binary.LittleEndian.AppendUint32(buf, *fieldAt[uint32](k, s.offset))
		case copy64:
			buf = binary.LittleEndian.AppendUint64(buf, *fieldAt[uint64](k, s.offset))
		case copyInt:
			buf = binary.LittleEndian.AppendUint64(buf, uint64(*fieldAt[int](k, s.offset)))
		case copyBytes:
			buf = append(buf, bytesAt(k, s.offset, s.n)...)
		case copyString:
			v := *fieldAt[string](k, s.offset)
			buf = append(binary.LittleEndian.AppendUint32(buf, uint32(len(v))), v...)
		case copyFloat32:
			v := *fieldAt[float32](k, s.offset)
			if v != v {
				return nil, fmt.Errorf("%w: NaN is not equal to itself", ErrKey)
			}
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v+0)) // −0 + 0 is +0
		case copyFloat64:
			v := *fieldAt[float64](k, s.offset)
			if v != v {
				return nil, fmt.Errorf("%w: NaN is not equal to itself", ErrKey)
			}
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v+0))
		}
	}
	return buf, nil
}

// decode returns the key of its bytes.
func (c *keyCodec[K]) decode(b []byte) (k K) {
	if c.text {
		*as[string](&k) = string(b)
		return k
	}
	for i := range c.steps {
		s := &c.steps[i]
		switch s.do {
		case copy8:
			*fieldAt[byte](&k, s.offset), b = b[0], b[1:]
		case copy16:
			*fieldAt[uint16](&k, s.offset), b = binary.LittleEndian.Uint16(b), b[2:]
		case copy32, copyFloat32:
			*fieldAt[uint32](&k, s.offset), b = binary.LittleEndian.Uint32(b), b[4:]
		case copy64, copyFloat64:
			*fieldAt[uint64](&k, s.offset), b = binary.LittleEndian.Uint64(b), b[8:]
		case copyInt:
			*fieldAt[int](&k, s.offset), b = int(binary.LittleEndian.Uint64(b)), b[8:]
		case copyBytes:
			b = b[copy(bytesAt(&k, s.offset, s.n), b):]
		case copyString:
			n := 4 + int(binary.LittleEndian.Uint32(b))
			*fieldAt[string](&k, s.offset), b = string(b[4:n]), b[n:]
		}
	}
	return k
}
