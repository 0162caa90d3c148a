package serializer

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
)

// boolean reads a bool to q. A byte other than 0 and 1 must not become one: Go's behaviour would be undefined.
func (d *decoder) boolean(pos int, q pointer) int {
	if pos >= len(d.src) {
		return d.short()
	}
	if d.src[pos] > 1 {
		return d.corrupt("bool of %d", d.src[pos])
	}
	store(q, d.src[pos])
	return pos + 1
}

// overflow is fail with ErrOverflow.
func (d *decoder) overflow(x any) int { return d.fail(fmt.Errorf("%w: %d", ErrOverflow, x)) }

// narrow reads an integer of 16 or 32 bits to q.
func (d *decoder) narrow(pos int, code opcode, q pointer) int {
	x, pos := d.uvarint(pos)
	if pos < 0 {
		return pos
	}
	switch s := unzigzag(x); code {
	case opInt16:
		if s != int64(int16(s)) {
			return d.overflow(s)
		}
		store(q, int16(s))
	case opInt32:
		if s != int64(int32(s)) {
			return d.overflow(s)
		}
		store(q, int32(s))
	case opUint16:
		if x > math.MaxUint16 {
			return d.overflow(x)
		}
		store(q, uint16(x))
	case opUint32:
		if x > math.MaxUint32 {
			return d.overflow(x)
		}
		store(q, uint32(x))
	}
	return pos
}

// convert reads a number that was stored in another width.
func (d *decoder) convert(pos int, r *ref, q pointer) int {
	if r.from == kindFloat32 {
		if len(d.src)-pos < 4 {
			return d.short()
		}
		store(q, float64(math.Float32frombits(binary.LittleEndian.Uint32(d.src[pos:]))))
		return pos + 4
	}
	var x uint64
	if r.from == kindInt8 || r.from == kindUint8 {
		if pos >= len(d.src) {
			return d.short()
		}
		x = uint64(d.src[pos])
		pos++
		if r.from == kindInt8 {
			x = zigzag(int64(int8(x)))
		}
	} else if x, pos = d.uvarint(pos); pos < 0 {
		return pos
	}
	v := reflect.NewAt(r.typ, q).Elem()
	if v.CanInt() {
		if s := unzigzag(x); v.OverflowInt(s) {
			return d.overflow(s)
		} else {
			v.SetInt(s)
		}
		return pos
	}
	if v.OverflowUint(x) {
		return d.overflow(x)
	}
	v.SetUint(x)
	return pos
}
