package cache

import (
	"math"
	"time"

	"github.com/bigpile/bigpile/pile"
)

// Get returns the value of the key, and false if there is none or it has expired. Cost: the copy of
// the value, its decoding, and two accesses to memory that is not in the processor's cache.
func (t *Table[K, V]) Get(k K) (V, bool) {
	var buf [keyBuffer]byte
	key, err := t.keys.encode(buf[:0], &k)
	if err != nil {
		var zero V
		return zero, false
	}
	v, _, ok := t.read(key, anyAge)
	return v, ok
}

// GetFresh is Get for an entry that was put, or rejuvenated, no longer than maxAge ago.
func (t *Table[K, V]) GetFresh(k K, maxAge time.Duration) (V, bool) {
	var buf [keyBuffer]byte
	key, err := t.keys.encode(buf[:0], &k)
	if err != nil {
		var zero V
		return zero, false
	}
	v, _, ok := t.read(key, t.notBefore(maxAge))
	return v, ok
}

// find sets f to a live entry with the key, and reports whether there is one; the caller holds a pin.
func (t *core) find(f *found, key []byte) bool {
	return t.lookup(f, t.place(t.hash(key)), key) && !t.expired(f) && t.p.VerifyRecord(f.loc, f.rec) == nil
}

// anyAge makes read return an entry however old.
const anyAge int64 = math.MinInt64

// notBefore returns when an entry was put that is of an age now.
func (t *core) notBefore(age time.Duration) int64 {
	if age == Never {
		return anyAge
	}
	return t.clock.now() - int64(age/time.Millisecond)
}

// read returns the value and the life of a live entry that was put at oldest or later.
func (t *Table[K, V]) read(key []byte, oldest int64) (v V, l life, ok bool) {
	e, err := t.p.Pin(1)
	if err != nil {
		return v, l, false
	}
	var f found
	ok = t.find(&f, key) && f.meta.created() >= oldest
	if t.metrics != nil {
		t.metrics.count(ok)
	}
	if !ok {
		e.Unpin()
		return v, l, false
	}
	l = f.life()
	if t.values.inPlace() && !f.rec.IsLarge() {
		v, err = t.values.decode(f.rec.Code(), f.value())
		e.Unpin()
	} else {
		v, err = t.decodeHeld(e, &f)
	}
	if err != nil {
		t.c.opt.Logger.Error("cache: value", "table", t.name, "error", err)
	}
	return v, l, err == nil
}

// decodeHeld decodes a value under a hold, after it has left the pin: it is long, or takes code of the
// user's.
func (t *Table[K, V]) decodeHeld(e pile.Pin, f *found) (V, error) {
	h := t.p.Hold(f.loc)
	e.Unpin()
	defer h.Release()
	return t.values.decode(f.rec.Code(), f.value())
}

// AppendValue appends the bytes of the value to dst, if V is a []byte or a string; for other types it
// appends what is stored. It does not allocate when dst has the capacity. On a miss it returns dst and
// false.
func (t *Table[K, V]) AppendValue(dst []byte, k K) ([]byte, bool) {
	var buf [keyBuffer]byte
	key, err := t.keys.encode(buf[:0], &k)
	if err != nil {
		return dst, false
	}
	return t.appendValue(dst, key)
}

func (t *core) appendValue(dst, key []byte) ([]byte, bool) {
	e, err := t.p.Pin(1)
	if err != nil {
		return dst, false
	}
	var f found
	ok := t.find(&f, key)
	if t.metrics != nil {
		t.metrics.count(ok)
	}
	if !ok {
		e.Unpin()
		return dst, false
	}
	if f.rec.IsLarge() {
		h := t.p.Hold(f.loc)
		e.Unpin()
		defer h.Release()
		return append(dst, f.value()...), true
	}
	dst = append(dst, f.value()...)
	e.Unpin()
	return dst, true
}

// View calls fn with the bytes of the value in place: those of a []byte or string, else what is stored.
// They are read only, valid until fn returns, and do not change meanwhile whatever others do. fn may
// do anything. View returns what fn returned, and false if there is no value.
func (t *Table[K, V]) View(k K, fn func(b []byte) error) (bool, error) {
	var buf [keyBuffer]byte
	key, err := t.keys.encode(buf[:0], &k)
	if err != nil {
		return false, err
	}
	e, err := t.p.Pin(1)
	if err != nil {
		return false, t.failed("view", err)
	}
	var f found
	ok := t.find(&f, key)
	if t.metrics != nil {
		t.metrics.count(ok)
	}
	if !ok {
		e.Unpin()
		return false, nil
	}
	h := t.p.Hold(f.loc)
	e.Unpin()
	defer h.Release()
	return true, fn(f.value())
}

// Contains reports whether the key has a value that has not expired.
func (t *Table[K, V]) Contains(k K) bool {
	var buf [keyBuffer]byte
	key, err := t.keys.encode(buf[:0], &k)
	if err != nil {
		return false
	}
	e, err := t.p.Pin(1)
	if err != nil {
		return false
	}
	defer e.Unpin()
	var f found
	return t.find(&f, key)
}

// Entry returns the value of the key with what is known about it. It does not count as use.
func (t *Table[K, V]) Entry(k K) (Entry[K, V], bool) {
	var buf [keyBuffer]byte
	key, err := t.keys.encode(buf[:0], &k)
	if err != nil {
		return Entry[K, V]{}, false
	}
	v, l, ok := t.read(key, anyAge)
	if !ok {
		return Entry[K, V]{}, false
	}
	return t.entryOf(t.keys.decode(key), v, &l), true
}

func (t *Table[K, V]) entryOf(k K, v V, l *life) Entry[K, V] {
	maxAge, expires := t.ages(l)
	age := time.Duration(max(0, t.clock.now()-l.created)) * time.Millisecond
	return Entry[K, V]{Key: k, Value: v, Age: age, MaxAge: maxAge, ExpiresAt: expires, Priority: l.priority}
}

// Remove removes the key and reports whether it had a value that had not expired.
func (t *Table[K, V]) Remove(k K) bool {
	var buf [keyBuffer]byte
	key, err := t.keys.encode(buf[:0], &k)
	if err != nil {
		return false
	}
	_, ok, _, _ := t.takeOut(t.place(t.hash(key)), key, false, condition{}) // a closed pile has nothing to remove
	return ok
}

// Take removes the key and returns its value.
func (t *Table[K, V]) Take(k K) (v V, ok bool) {
	var buf [keyBuffer]byte
	key, err := t.keys.encode(buf[:0], &k)
	if err != nil {
		return v, false
	}
	n, ok, _, _ := t.takeOut(t.place(t.hash(key)), key, true, condition{}) // a closed pile has nothing to remove
	if !ok {
		return v, false
	}
	if v, err = t.values.decode(n.code, n.value()); err != nil {
		t.c.opt.Logger.Error("cache: take", "table", t.name, "error", err)
	}
	return v, err == nil
}

// Rejuvenate makes the entry of the key as old as if it had been put now, and reports whether there
// is one that has not expired. It does not move ExpiresAt.
func (t *Table[K, V]) Rejuvenate(k K) bool {
	var buf [keyBuffer]byte
	key, err := t.keys.encode(buf[:0], &k)
	if err != nil {
		return false
	}
	e, err := t.p.PinWrite()
	if err != nil {
		return false
	}
	defer e.Unpin()
	at := t.place(t.hash(key))
	at.shard.mu.Lock()
	defer at.shard.mu.Unlock()
	var s spot
	t.locate(&s, at, key)
	if !s.found || t.expired(&s.old) {
		return false
	}
	s.old.rec.SetMeta(uint64(s.old.meta.withCreated(t.clock.now())))
	return true
}
