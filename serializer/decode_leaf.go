package serializer

import (
	"encoding"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"time"
)

// bytes reads a length and returns the bytes that follow: a part of src.
func (d *decoder) bytes(pos int) ([]byte, int) {
	n, pos := d.uvarint(pos)
	if pos < 0 {
		return nil, pos
	}
	if n > uint64(len(d.src)-pos) {
		return nil, d.short()
	}
	end := pos + int(n)
	return d.src[pos:end:end], end
}

// varint reads a signed number.
func (d *decoder) varint(pos int) (int64, int) {
	x, pos := d.uvarint(pos)
	return unzigzag(x), pos
}

// time reads a time.Time to q.
func (d *decoder) time(pos int, q pointer) int {
	if pos >= len(d.src) {
		return d.short()
	}
	flags := d.src[pos]
	pos++
	if flags == timeZero {
		return pos
	}
	if flags > timeDays|timeNanos|timeWhere || flags&timeWhere == timeZero {
		return d.corrupt("time flags %#x", flags)
	}
	sec, pos := d.varint(pos)
	var nsec uint64
	if flags&timeNanos != 0 && pos >= 0 {
		nsec, pos = d.uvarint(pos)
	}
	if pos < 0 {
		return pos
	}
	if flags&timeDays != 0 {
		if sec > math.MaxInt64/secondsPerDay || sec < math.MinInt64/secondsPerDay {
			return d.corrupt("time of %d days", sec)
		}
		sec *= secondsPerDay
	}
	if nsec >= 1e9 {
		return d.corrupt("time with %d ns", nsec)
	}
	t := time.Unix(sec, int64(nsec))
	switch flags & timeWhere {
	case timeUTC:
		t = t.UTC()
	case timeZone:
		var loc *time.Location
		if loc, pos = d.zone(pos, t); pos < 0 {
			return pos
		}
		t = t.In(loc)
	}
	store(q, t)
	return pos
}

// maxOffset bounds the offset of a zone: beyond it, time's arithmetic could overflow.
const maxOffset = 1 << 20

// zone reads a location in which t has a stored offset.
func (d *decoder) zone(pos int, t time.Time) (*time.Location, int) {
	name, pos := d.bytes(pos)
	if pos < 0 {
		return nil, pos
	}
	offset, pos := d.varint(pos)
	if pos < 0 {
		return nil, pos
	}
	if offset > maxOffset || offset < -maxOffset {
		return nil, d.corrupt("zone offset of %d s", offset)
	}
	return d.reg.locations.find(string(name), int(offset), t), pos
}

// location reads a *time.Location to q.
func (d *decoder) location(pos int, q pointer) int {
	if pos >= len(d.src) {
		return d.short()
	}
	where := d.src[pos]
	pos++
	switch where {
	case timeZero:
	case timeUTC:
		store(q, time.UTC)
	case timeLocal:
		store(q, time.Local)
	case timeZone:
		var loc *time.Location
		if loc, pos = d.zone(pos, time.Unix(0, 0)); pos >= 0 {
			store(q, loc)
		}
	default:
		return d.corrupt("location %d", where)
	}
	return pos
}

// bigInt reads a big.Int to q.
func (d *decoder) bigInt(pos int, q pointer) int {
	head, pos := d.uvarint(pos)
	if pos < 0 {
		return pos
	}
	if head>>1 > uint64(len(d.src)-pos) {
		return d.short()
	}
	end := pos + int(head>>1)
	x := at[big.Int](q)
	if end > pos {
		x.SetBytes(d.src[pos:end])
	}
	if head&1 != 0 {
		x.Neg(x)
	}
	return end
}

// foreign lets the user's own code read a value to q.
func (d *decoder) foreign(pos int, o *op, q pointer) int {
	data, pos := d.bytes(pos)
	if pos < 0 {
		return pos
	}
	// The value goes through memory of its own: foreign code may keep the pointer it gets, and q may be a map's scratch.
	v := reflect.New(o.ref.typ)
	var err error
	if o.code == opCustom {
		err = decodeCustom(data, o.ref.codec, v.Interface())
	} else if err = v.Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary(data); err != nil {
		err = fmt.Errorf("%w: %s: %w", ErrCorrupt, o.ref.typ, err)
	}
	if err != nil {
		return d.fail(err)
	}
	reflect.NewAt(o.ref.typ, q).Elem().Set(v.Elem())
	return pos
}
