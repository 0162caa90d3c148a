package cache

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/bigpile/bigpile/pile"
)

// An entry is one slot:
//
//	+----------+--------+---------------+---------------+-------------+--------+------+
//	| header 8 | meta 8 | max age 8     | deadline 8    | key len 8   | value  | key  |
//	|          |        | if flag       | if flag       | if escaped  |        |      |
//	+----------+--------+---------------+---------------+-------------+--------+------+
//
// The value comes before the key so that it begins at a multiple of 8, and a typed view of it is
// aligned. The meta word:
//
//	 63               24 23     16 15   14 13        0
//	+-------------------+---------+-------+-----------+
//	| created 40        | prio 8  | flags2| key len 14|
//	+-------------------+---------+-------+-----------+
//
// Created is in milliseconds of the cache's clock: 34 years. It is the only thing of an entry that
// ever changes in place (Rejuvenate), under the lock of the shard.
type meta uint64

const (
	ownAge      meta = 1 << 14
	ownDeadline meta = 1 << 15

	keyLenBits   = 14
	keyLenEscape = 1<<keyLenBits - 1
	prioShift    = 16
	createdShift = 24
	createdMax   = 1<<40 - 1

	metaSize = 8
)

func (m meta) created() int64 { return int64(m >> createdShift) }
func (m meta) priority() int8 { return int8(m >> prioShift) }
func (m meta) withCreated(ms int64) meta {
	return m&(1<<createdShift-1) | meta(min(max(ms, 0), createdMax))<<createdShift
}

// life is how long an entry lives, as it is stored.
type life struct {
	created  int64 // milliseconds of the cache's clock
	age      int64 // nanoseconds; 0: the table's, never: no limit
	deadline int64 // nanoseconds of the cache's clock; never: none
	priority int8
}

// head returns the bytes of an entry before its value.
func (l *life) head(keyLen int) int {
	n := metaSize
	if l.age != 0 {
		n += 8
	}
	if l.deadline != never {
		n += 8
	}
	if keyLen >= keyLenEscape {
		n += 8
	}
	return n
}

// write fills the bytes before the value.
func (l *life) write(b []byte, keyLen int) {
	m := meta(uint8(l.priority)) << prioShift
	n := metaSize
	put := func(v int64) {
		binary.NativeEndian.PutUint64(b[n:], uint64(v))
		n += 8
	}
	if l.age != 0 {
		m |= ownAge
		put(l.age)
	}
	if l.deadline != never {
		m |= ownDeadline
		put(l.deadline)
	}
	m |= meta(min(keyLen, keyLenEscape))
	if keyLen >= keyLenEscape {
		put(int64(keyLen))
	}
	binary.NativeEndian.PutUint64(b, uint64(m.withCreated(l.created)))
}

// due returns the first millisecond at which the entry is expired.
func (l *life) due(tableAge int64) int64 {
	age := l.age
	if age == 0 {
		age = tableAge
	}
	d := int64(never)
	if age != never {
		d = l.created + ceilMs(age)
	}
	if l.deadline != never {
		d = min(d, ceilMs(l.deadline))
	}
	return d
}

// ceilMs turns nanoseconds into milliseconds, rounding up.
func ceilMs(ns int64) int64 {
	const ms = int64(time.Millisecond)
	q := ns / ms
	if ns%ms > 0 {
		q++
	}
	return q
}

// found is an entry that was found under a pin. It is valid as long as that.
type found struct {
	rec     pile.Record
	payload []byte
	loc     pile.Location
	cell    cell
	index   int // of the cell in its block
	head    int // bytes before the value
	keyLen  int
	meta    meta
}

// match sets f to the entry at a location, and reports whether it has the key.
func (t *core) match(f *found, l pile.Location, key []byte) bool {
	t.entry(f, l)
	return f.keyLen == len(key) && string(f.key()) == string(key)
}

// entry sets f to the entry at a location.
func (t *core) entry(f *found, l pile.Location) {
	f.rec = t.p.Record(l)
	f.payload, f.loc, f.meta = f.rec.Payload(), l, meta(f.rec.Meta())
	f.head = metaSize
	if f.meta&(ownAge|ownDeadline) != 0 {
		f.head += 8
		if f.meta&ownAge != 0 && f.meta&ownDeadline != 0 {
			f.head += 8
		}
	}
	f.keyLen = int(f.meta & keyLenEscape)
	if f.keyLen == keyLenEscape {
		f.keyLen = int(f.word(f.head))
		f.head += 8
	}
}

func (f *found) word(at int) uint64 { return binary.NativeEndian.Uint64(f.payload[at:]) }
func (f *found) key() []byte        { return f.payload[len(f.payload)-f.keyLen:] }
func (f *found) value() []byte {
	n := len(f.payload) - f.keyLen
	return f.payload[f.head:n:n]
}

// life returns how long the entry lives.
func (f *found) life() life {
	l := life{created: f.meta.created(), deadline: never, priority: f.meta.priority()}
	at := metaSize
	if f.meta&ownAge != 0 {
		l.age = int64(f.word(at))
		at += 8
	}
	if f.meta&ownDeadline != 0 {
		l.deadline = int64(f.word(at))
	}
	return l
}

// canExpire reports whether the entry may expire at all, so that the clock has to be read.
func (t *core) canExpire(f *found) bool {
	return t.age != never || f.meta&(ownAge|ownDeadline) != 0
}

// expired reports whether the entry is expired now.
func (t *core) expired(f *found) bool {
	if !t.canExpire(f) {
		return false
	}
	l := f.life()
	d := l.due(t.age)
	return d != never && t.clock.now() >= d
}

// addSaturated adds two durations that are not negative.
func addSaturated(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
