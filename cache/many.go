package cache

import (
	"fmt"
	"sync"

	"github.com/bigpile/bigpile/pile"
	"github.com/bigpile/bigpile/serializer"
)

// batch is how many keys are looked up under one pin.
const batch = 64

// lookupStep is one key of a batch between the steps of GetMany.
type lookupStep struct {
	at    place
	word  segmentWord
	guess cell        // the first cell in the home bucket whose filed bits fit
	rec   pile.Record // of that

	from   int // where its encoded key, later its value, lies in the scratch
	to     int
	code   uint16
	state  stepState
	loaded uint64 // only to make the processor load a line
}

type stepState uint8

const (
	isMiss stepState = iota
	isHit
	isLong // too long to be copied under the pin
	isBad  // the key cannot exist
)

// scratch is what one GetMany works with.
type scratch struct {
	steps  [batch]lookupStep
	keys   []byte
	values []byte
}

// scratches recycles the memory of GetMany.
type scratches struct{ pool sync.Pool }

func (s *scratches) get() *scratch {
	if x, ok := s.pool.Get().(*scratch); ok {
		return x
	}
	return &scratch{values: make([]byte, 0, 4096)} // not nil: an empty value is not either
}

func (s *scratches) put(x *scratch) {
	if cap(x.values) <= 1<<20 && cap(x.keys) <= 1<<20 {
		s.pool.Put(x)
	}
}

// GetMany calls fn for each key, in order, with its index, and its value if it has one, until fn
// returns false. fn may do anything. A []byte is valid until fn returns; other values are fn's to
// keep. Cost: the lookups of 64 keys are in flight at the same time, which is faster than
// as many Gets when the memory is much larger than the caches. It allocates only what the values themselves need.
func (t *Table[K, V]) GetMany(keys []K, fn func(i int, v V, ok bool) bool) {
	s := t.scratches.get()
	defer t.scratches.put(s)
	for start := 0; start < len(keys); start += batch {
		some := keys[start:min(start+batch, len(keys))]
		if !t.lookupSome(s, some) {
			clear(s.steps[:len(some)]) // closed: all are misses
		}
		text := ""
		if t.values.isRaw() && t.values.text {
			text = string(s.values)
		}
		for i := range some {
			v, ok := t.stepValue(s, &s.steps[i], text, some[i])
			if !fn(start+i, v, ok) {
				return
			}
		}
	}
}

// stepValue makes the value of one key.
func (t *Table[K, V]) stepValue(s *scratch, p *lookupStep, text string, k K) (v V, ok bool) {
	switch p.state {
	case isHit:
	case isLong:
		return t.Get(k)
	default:
		return v, false
	}
	b := s.values[p.from:p.to:p.to]
	switch {
	case t.values.tier != serializer.Raw:
		var err error
		v, err = t.values.decode(p.code, b)
		return v, err == nil
	case t.values.text:
		*as[string](&v) = text[p.from:p.to]
	default:
		*as[[]byte](&v) = b
	}
	return v, true
}

// lookupSome copies the values of up to 64 keys. Each loop does one step for all keys, so that the
// processor has the accesses of many keys in flight. It reports false when the pile is closed.
func (t *Table[K, V]) lookupSome(s *scratch, keys []K) bool {
	s.keys, s.values = s.keys[:0], s.values[:0]
	e, err := t.p.Pin(len(keys))
	if err != nil {
		return false
	}
	defer e.Unpin()
	t.touchSome(s, keys)
	now := t.clock.now()
	for i := range keys {
		t.copyStep(s, &s.steps[i], now)
	}
	return true
}

// touchSome loads what a lookup of each key will look at: bucket, header and key of the entry. A pin is
// held.
func (t *Table[K, V]) touchSome(s *scratch, keys []K) {
	for i := range keys {
		p := &s.steps[i]
		*p = lookupStep{from: len(s.keys)}
		b, err := t.encodeInto(s, &keys[i])
		if err != nil {
			p.state, p.to = isBad, p.from
			continue
		}
		p.to = len(s.keys)
		p.at = t.place(t.hash(b))
		p.word = p.at.shard.dir.Load().load(p.at.filed)
	}
	t.touchBuckets(s, len(keys))
	t.touchEntries(s, len(keys))
	t.touchKeys(s, len(keys))
}

// encodeInto appends the bytes of a key to the scratch.
func (t *Table[K, V]) encodeInto(s *scratch, k *K) ([]byte, error) {
	n := len(s.keys)
	folded := *k
	if t.keys.text && t.keys.fold == nil {
		s.keys = append(s.keys, bytesOf(*as[string](k))...)
		return s.keys[n:], nil
	}
	var buf [keyBuffer]byte
	b, err := t.keys.encode(buf[:0], &folded)
	s.keys = append(s.keys, b...)
	return s.keys[n:], err
}

// touchBuckets loads the home bucket of every key.
func (t *core) touchBuckets(s *scratch, n int) {
	for i := range s.steps[:n] {
		p := &s.steps[i]
		if p.word != 0 && p.state != isBad {
			p.loaded = t.p.Lines(p.word.block()).Load(int(p.word.home(p.at.filed)) * bucketCells)
		}
	}
}

// touchEntries loads the header of the first entry whose hash fits, for every key.
func (t *core) touchEntries(s *scratch, n int) {
	for i := range s.steps[:n] {
		p := &s.steps[i]
		if p.word == 0 || p.state == isBad {
			continue
		}
		lines := t.p.Lines(p.word.block())
		first := int(p.word.home(p.at.filed)) * bucketCells
		for k := first; k < first+bucketCells; k++ {
			if c := cell(lines.Load(k)); c.filed() == p.at.filed && c.isEntry() {
				p.guess, p.rec = c, t.p.Record(c.location())
				break
			}
		}
	}
}

// touchKeys loads the end of every entry, where its key is.
func (t *core) touchKeys(s *scratch, n int) {
	for i := range s.steps[:n] {
		if p := &s.steps[i]; p.guess != 0 {
			b := p.rec.Payload()
			p.loaded = uint64(b[len(b)-1])
		}
	}
}

// copyStep looks a key up, now that everything is near, and copies its value.
func (t *core) copyStep(s *scratch, p *lookupStep, now int64) {
	key := s.keys[p.from:p.to]
	p.from, p.to = len(s.values), len(s.values)
	if p.state == isBad {
		return
	}
	var f found
	ok := p.guess != 0 && t.match(&f, p.guess.location(), key) || t.lookup(&f, p.at, key)
	if ok = ok && !t.expiredAt(&f, now) && t.p.VerifyRecord(f.loc, f.rec) == nil; t.metrics != nil {
		t.metrics.count(ok)
	}
	switch {
	case !ok:
	case f.rec.IsLarge():
		p.state = isLong
	default:
		s.values = append(s.values, f.value()...)
		p.state, p.to, p.code = isHit, len(s.values), f.rec.Code()
	}
}

// PutMany stores the values under the keys, in order, all with the same options. It returns how many
// it stored; with an error those are the first ones, and the others are not stored. Cost: what the puts
// of 64 keys will look at is loaded beforehand, with the accesses of many keys in flight.
func (t *Table[K, V]) PutMany(keys []K, values []V, o PutOptions) (stored int, err error) {
	if len(keys) != len(values) {
		return 0, fmt.Errorf("%w: table %q: PutMany of %d keys and %d values", ErrOption, t.name, len(keys), len(values))
	}
	for i := range keys {
		if i%batch == 0 {
			t.approach(keys[i:min(i+batch, len(keys))])
		}
		if _, err := t.PutWith(keys[i], values[i], o); err != nil {
			return i, err
		}
	}
	return len(keys), nil
}

// approach brings what is known of the keys near. Whatever changes before they are put, nothing but
// speed depends on it.
func (t *Table[K, V]) approach(keys []K) {
	s := t.scratches.get()
	defer t.scratches.put(s)
	s.keys, s.values = s.keys[:0], s.values[:0]
	e, err := t.p.Pin(0)
	if err != nil {
		return // the puts will say so
	}
	defer e.Unpin()
	t.touchSome(s, keys)
}
