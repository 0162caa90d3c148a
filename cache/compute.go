package cache

import (
	"fmt"

	"github.com/bigpile/bigpile/pile"
)

// computeMax bounds how often a function runs before Compute gives up with ErrConflict: it may change
// its key through another goroutine, which nothing can see.
const computeMax = 10_000

// Compute changes the value of a key atomically. fn gets the present value, if there is one, and says
// with its result and an Op what is to become of it. When the key was changed meanwhile by somebody
// else fn runs again, so it should do nothing but compute. It runs without a lock and may use the
// table; if it changes the same key itself, Compute fails with ErrConflict.
//
// Compute returns the value that the key has afterwards, and whether it has one. An entry that is
// written anew keeps its priority and its own MaxAge and ExpiresAt; its age begins at zero, as with
// Put.
func (t *Table[K, V]) Compute(k K, fn func(old V, found bool) (V, Op)) (V, bool, error) {
	var zero V
	var buf [keyBuffer]byte
	key, err := t.keys.encode(buf[:0], &k)
	if err != nil {
		return zero, false, err
	}
	for tries := range computeMax {
		v, ok, again, err := t.computeOnce(key, fn, tries > 0)
		if !again || err != nil {
			return v, ok, err
		}
		pause(tries)
	}
	return zero, false, fmt.Errorf("%w: it changed %d times while the function ran", ErrConflict, computeMax)
}

// before is what a Compute found.
type before struct {
	at    place
	found bool
	loc   pile.Location // held, so that it means the same entry afterwards
	hold  pile.Hold
	life  life
}

func (b *before) release() {
	if b.found {
		b.hold.Release()
	}
}

// unchanged holds if the key is still as it was.
func (b *before) unchanged() condition {
	if b.found {
		return condition{isEntryAt, b.loc}
	}
	return condition{is: isAbsent}
}

// computeOnce runs fn once. again says that the key was changed meanwhile.
func (t *Table[K, V]) computeOnce(key []byte, fn func(V, bool) (V, Op), watched bool) (v V, ok, again bool, err error) {
	b, old, err := t.before(key)
	if err != nil {
		return v, false, false, err
	}
	defer b.release()
	var w *watch
	if watched {
		w = t.watches.add(key)
		defer func() {
			if w != nil {
				t.watches.end(w)
			}
		}()
	}
	v, op := fn(old, b.found)
	self := false
	if w != nil {
		self, w = t.watches.end(w), nil
	}
	done, err := t.commit(&b, key, &v, op)
	switch {
	case err != nil:
		return old, b.found, false, err
	case done && op == Keep:
		return old, b.found, false, nil
	case done:
		return v, op == Write, false, nil
	case self:
		return old, b.found, false, fmt.Errorf("%w: table %q", ErrConflict, t.name)
	}
	return v, false, true, nil
}

// before reads the present value and holds its slot.
func (t *Table[K, V]) before(key []byte) (b before, v V, err error) {
	e, err := t.p.Pin(1)
	if err != nil {
		return b, v, t.failed("compute", err)
	}
	b = before{at: t.place(t.hash(key)), life: life{deadline: never}}
	var f found
	ok := t.find(&f, key)
	if !ok {
		e.Unpin()
		return b, v, nil
	}
	b.found, b.loc, b.life = true, f.loc, f.life()
	b.hold = t.p.Hold(f.loc)
	e.Unpin()
	if v, err = t.values.decode(f.rec.Code(), f.value()); err != nil {
		b.release()
		return before{}, v, t.failed("compute", err)
	}
	return b, v, nil
}

// commit does what fn said, if the key is still as it was.
func (t *Table[K, V]) commit(b *before, key []byte, v *V, op Op) (done bool, err error) {
	switch op {
	case Keep:
		e, err := t.p.Pin(0)
		if err != nil {
			return false, t.failed("compute", err)
		}
		defer e.Unpin()
		var f found
		ok := t.find(&f, key)
		return b.unchanged().holds(ok, &f), nil
	case Write:
		b.life.created = t.clock.now()
		out, err := t.putEntry(key, v, b.life, b.unchanged())
		return err == nil && !out.refused, err
	case Delete:
		_, _, refused, err := t.takeOut(b.at, key, false, b.unchanged())
		return !refused, err
	}
	return false, fmt.Errorf("%w: Compute: %v", ErrOption, op)
}
