package cache

import (
	"iter"
)

// All iterates over the entries that have not expired. It is weakly consistent: an entry that is there
// throughout appears exactly once, with the value it had at some time of the iteration; one that is
// put or removed meanwhile may appear or not. The loop body may do anything with the table. The cost
// is linear in the entries. When table or pile are closed the iteration ends.
func (t *Table[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for e := range t.walk(true) {
			if !yield(e.key, e.value) {
				return
			}
		}
	}
}

// Keys iterates over the keys of the entries that have not expired, as All does.
func (t *Table[K, V]) Keys() iter.Seq[K] {
	return func(yield func(K) bool) {
		for e := range t.walk(false) {
			if !yield(e.key) {
				return
			}
		}
	}
}

// Entries is All with what is known about each entry.
func (t *Table[K, V]) Entries() iter.Seq[Entry[K, V]] {
	return func(yield func(Entry[K, V]) bool) {
		for e := range t.walk(true) {
			if !yield(t.entryOf(e.key, e.value, &e.life)) {
				return
			}
		}
	}
}

// walked is an entry that an iteration came to.
type walked[K comparable, V any] struct {
	key   K
	value V
	life  life
}

// The walk goes through every shard in the order of the hash: that is the order of the segments, and
// of the home buckets in each. How far it has come is a hash, and so it does not matter what becomes
// of the segments meanwhile: an entry is seen when the walk passes its hash.

// walk iterates over the table, with values or without.
func (t *Table[K, V]) walk(values bool) iter.Seq[walked[K, V]] {
	return func(yield func(walked[K, V]) bool) {
		var c catch
		for i := range t.shards {
			for next := uint32(0); next <= filedMask; {
				c.reset()
				var ok bool
				if next, ok = t.gather(&c, place{&t.shards[i], next}, values); !ok {
					return
				}
				for k := range c.items {
					if e, ok := t.open(&c, &c.items[k], values); ok && !yield(e) {
						return
					}
				}
			}
		}
	}
}

// caught is an entry of a catch; its bytes follow each other in the catch.
type caught struct {
	key, value int // where they begin
	end        int
	code       uint16
	long       bool // the value is too long for the catch
	life       life
}

// catch is what a walk gathers under one pin.
type catch struct {
	items []caught
	bytes []byte
}

func (c *catch) reset() { c.items, c.bytes = c.items[:0], c.bytes[:0] }

const (
	walkBuckets = 16      // home buckets that are gathered under one pin
	walkValue   = 4 << 10 // bytes of a value beyond which it is read when its turn comes
)

// open makes key and value of what was caught.
func (t *Table[K, V]) open(c *catch, it *caught, values bool) (e walked[K, V], ok bool) {
	key := c.bytes[it.key:it.value]
	e.key, e.life = t.keys.decode(key), it.life
	if !values {
		return e, true
	}
	if it.long {
		v, l, ok := t.read(key, anyAge)
		e.value, e.life = v, l
		return e, ok
	}
	v, err := t.values.decode(it.code, c.bytes[it.value:it.end])
	if err != nil {
		t.c.opt.Logger.Error("cache: iteration", "table", t.name, "error", err)
	}
	e.value = v
	return e, err == nil
}

// gather copies the entries whose hashes are from at up to the end of some buckets, and returns the
// hash to go on with. It reports false when the pile is closed.
func (t *core) gather(c *catch, at place, values bool) (next uint32, ok bool) {
	e, err := t.p.Pin(0)
	if err != nil {
		return 0, false
	}
	defer e.Unpin()
	w := at.shard.dir.Load().load(at.filed)
	if w == 0 {
		return filedMask + 1, true // a shard without entries
	}
	n := w.buckets()
	home := w.home(at.filed)
	last := min(home+walkBuckets, n) - 1
	next = w.after(at.filed, last)
	lines := t.p.Lines(w.block())
	b, past := home, false
	for range n {
		open := false
		for i := int(b) * bucketCells; i < int(b+1)*bucketCells; i++ {
			x := cell(lines.Load(i))
			open = open || x == emptyCell
			if x.isEntry() && x.filed() >= at.filed && x.filed() < next {
				t.catch(c, x, values)
			}
		}
		if past = past || b == last; past && open {
			break // nothing that has its home up to last comes after
		}
		if b++; b == n {
			b = 0
		}
	}
	return next, true
}

// after returns the first hash after those whose home is a bucket up to last, in the segment of filed.
func (w segmentWord) after(filed, last uint32) uint32 {
	first := filed &^ (1<<(filedBits-w.depth()) - 1)
	if last+1 == w.buckets() {
		return first + 1<<(filedBits-w.depth())
	}
	// The least hash whose home is last+1: home is the product of the fraction, rounded down.
	rest := (uint64(last+1)<<filedBits + uint64(w.buckets()) - 1) / uint64(w.buckets())
	rest = (rest + 1<<w.depth() - 1) >> w.depth()
	return first + uint32(rest)
}

// catch copies one entry, unless it has expired.
func (t *core) catch(c *catch, x cell, values bool) {
	var f found
	t.entry(&f, x.location())
	if t.expired(&f) || t.p.VerifyRecord(f.loc, f.rec) != nil {
		return
	}
	it := caught{key: len(c.bytes), code: f.rec.Code(), life: f.life()}
	c.bytes = append(c.bytes, f.key()...)
	it.value = len(c.bytes)
	if values {
		if it.long = len(f.value()) > walkValue; !it.long {
			c.bytes = append(c.bytes, f.value()...)
		}
	}
	it.end = len(c.bytes)
	c.items = append(c.items, it)
}
