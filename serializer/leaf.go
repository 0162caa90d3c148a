package serializer

import (
	"encoding"
	"math/big"
	"reflect"
	"time"
)

// A time is one byte of flags, then what they announce:
//
//	bits 0–1  location: 0 UTC, 1 Local, 2 a zone: name, offset in seconds (signed), 3 the zero time: nothing follows
//	bit  2    nanoseconds follow the seconds
//	bit  3    whole days since 1970-01-01 UTC instead of seconds (signed, both)
//
// The monotonic reading is not stored.
const (
	timeUTC   = 0
	timeLocal = 1
	timeZone  = 2
	timeZero  = 3
	timeWhere = 3 // mask
	timeNanos = 4
	timeDays  = 8

	secondsPerDay = 86400
)

// appendTime appends the time.Time at p.
func appendTime(b []byte, p pointer) []byte {
	t := load[time.Time](p)
	flags, loc := byte(timeZone), t.Location()
	switch loc {
	case time.UTC:
		flags = timeUTC
	case time.Local:
		flags = timeLocal
	}
	sec, nsec := t.Unix(), t.Nanosecond()
	if flags == timeUTC && t.IsZero() {
		return append(b, timeZero)
	}
	if nsec != 0 {
		flags |= timeNanos
	}
	if sec%secondsPerDay == 0 {
		flags |= timeDays
		sec /= secondsPerDay
	}
	b = appendVarint(append(b, flags), sec)
	if nsec != 0 {
		b = appendUvarint(b, uint64(nsec))
	}
	if flags&timeWhere == timeZone {
		_, offset := t.Zone()
		b = appendVarint(appendString(b, loc.String()), int64(offset))
	}
	return b
}

func appendString(b []byte, s string) []byte { return append(appendUvarint(b, uint64(len(s))), s...) }

// A *time.Location is a time's location bits in a byte (3: nil), and the name for a zone.

// appendLocation appends the *time.Location at p.
func appendLocation(b []byte, p pointer) []byte {
	switch loc := load[*time.Location](p); loc {
	case nil:
		return append(b, timeZero)
	case time.UTC:
		return append(b, timeUTC)
	case time.Local:
		return append(b, timeLocal)
	default:
		_, offset := time.Unix(0, 0).In(loc).Zone()
		return appendVarint(appendString(append(b, timeZone), loc.String()), int64(offset))
	}
}

// A big.Int is a number, 2 × the length of its magnitude in bytes + 1 when negative, and the magnitude, highest byte first.

// appendBigInt appends the big.Int at p.
func appendBigInt(b []byte, p pointer) []byte {
	x := at[big.Int](p)
	n := (x.BitLen() + 7) / 8
	head := uint64(n) << 1
	if x.Sign() < 0 {
		head |= 1
	}
	b = appendUvarint(b, head)
	start := len(b)
	for range n {
		b = append(b, 0)
	}
	x.FillBytes(b[start:])
	return b
}

// foreign appends what the user's own code makes of the value at q: its length and the bytes.
func (e *encoder) foreign(b []byte, o *op, q pointer) []byte {
	v := reflect.NewAt(o.ref.typ, q).Interface()
	start := len(b)
	b = append(b, 0)
	var out []byte
	var err error
	switch {
	case o.code == opCustom:
		out, err = appendCustom(b, o.ref.codec, v)
	case o.ref.appender:
		if out, err = v.(encoding.BinaryAppender).AppendBinary(b); err == nil {
			out, err = grown(b, out, v)
		}
	default:
		var data []byte
		data, err = v.(encoding.BinaryMarshaler).MarshalBinary()
		out = append(b, data...)
	}
	if err != nil {
		e.fail("serializer: %T: %w", v, err)
		return b
	}
	return insertLength(out, start)
}

// insertLength puts the length of what follows b[start] there, in place of one byte.
func insertLength(b []byte, start int) []byte {
	n := len(b) - start - 1
	if n < 1<<7 {
		b[start] = byte(n)
		return b
	}
	var head [9]byte
	h := appendUvarint(head[:0], uint64(n))
	b = append(b, h[1:]...) // for the room
	copy(b[start+len(h):], b[start+1:start+1+n])
	copy(b[start:], h)
	return b
}
