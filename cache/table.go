package cache

import (
	"fmt"
	"reflect"
	"time"
)

// A Table maps keys to values. Neither is on the Go heap, and neither is the index. Methods may be
// called from any number of goroutines at the same time, also from inside callbacks. Reads take no
// lock.
//
// Keys and values are copied in and out: a caller may change a []byte after a Put, and what a Get
// returned.
type Table[K comparable, V any] struct {
	*core
	keys     *keyCodec[K]
	values   *valueCodec[V]
	fold     string
	onRemove func(Removal[K, V])
	flights  flights[V]

	scratches scratches
}

// OpenTable returns the table with that name, which is made if there is none. K is a string, an
// integer, a float, a bool, a complex, or an array or struct of them; what has a pointer is refused
// with ErrKey. V is anything that package serializer stores; with V = any, values of different types.
//
// A table that exists with other types or another FoldID is ErrTableMismatch. Its other options stay
// as they were when it was made.
func OpenTable[K comparable, V any](c *Cache, name string, o TableOptions[K, V]) (*Table[K, V], error) {
	if name == "" {
		return nil, fmt.Errorf("%w: a table without a name", ErrOption)
	}
	o.TableConfig = o.over(c.opt.Tables[name]).over(c.opt.Defaults)
	if err := o.check(name); err != nil {
		return nil, err
	}
	t := &Table[K, V]{fold: o.FoldID, onRemove: o.OnRemove}
	var err error
	if t.keys, err = newKeyCodec(o.Fold); err != nil {
		return nil, err
	}
	if t.values, err = newValueCodec[V](c.types); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed.Load() {
		return nil, fmt.Errorf("cache: open table %q: %w", name, ErrDropped)
	}
	if old, ok := c.tables[name]; ok {
		return sameTable(name, old, t)
	}
	t.core = newCore(c, name, &o.TableConfig)
	if o.OnRemove != nil {
		t.core.removed = t.tell
	}
	if err := t.core.presize(max(o.InitialCapacity, o.MinCapacity), o.MinCapacity); err != nil {
		t.core.drop(false)
		return nil, t.core.failed("open", err)
	}
	c.tables[name] = t
	c.listLocked()
	return t, nil
}

// sameTable returns old if it is of t's types.
func sameTable[K comparable, V any](name string, old table, t *Table[K, V]) (*Table[K, V], error) {
	same, ok := old.(*Table[K, V])
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: %q is a %s, not a %s", ErrTableMismatch, name, old.typeNames(), t.typeNames())
	case same.fold != t.fold:
		return nil, fmt.Errorf("%w: %q has FoldID %q, not %q", ErrTableMismatch, name, same.fold, t.fold)
	}
	return same, nil
}

func (t *Table[K, V]) base() *core    { return t.core }
func (t *Table[K, V]) foldID() string { return t.fold }
func (t *Table[K, V]) typeNames() string {
	return fmt.Sprintf("Table[%s, %s]", reflect.TypeFor[K](), reflect.TypeFor[V]())
}

// Name returns the name of the table.
func (t *Table[K, V]) Name() string { return t.name }

// Put stores the value under the key, in place of what was there. It either stores or returns an
// error, and then nothing has changed: ErrKey, ErrTableFull, ErrDropped, errors of the pile, or of the
// serializer. Cost: a copy, and two or three accesses to memory that is not in the processor's
// cache.
func (t *Table[K, V]) Put(k K, v V) (PutResult, error) { return t.PutWith(k, v, PutOptions{}) }

// PutWith is Put with an age, a deadline and a priority of the entry's own.
func (t *Table[K, V]) PutWith(k K, v V, o PutOptions) (PutResult, error) {
	l, err := t.lifeOf(o)
	if err != nil {
		return 0, err
	}
	var buf [keyBuffer]byte
	key, err := t.keys.encode(buf[:0], &k)
	if err != nil {
		return 0, err
	}
	out, err := t.putEntry(key, &v, l, condition{})
	return out.result, err
}

// putEntry puts a value under an encoded key if the condition agrees.
func (t *Table[K, V]) putEntry(key []byte, v *V, l life, cond condition) (outcome, error) {
	e, err := t.values.encode(v)
	if err != nil {
		return outcome{}, t.failed("put", err)
	}
	d, room, err := t.newDraft(key, e.n, l)
	if err != nil {
		t.values.done(&e)
		return outcome{}, err
	}
	t.values.fill(room, &e, v)
	t.values.done(&e)
	if err := t.publish(&d, e.code); err != nil {
		return outcome{}, err
	}
	return t.put(t.place(t.hash(key)), key, &d, cond)
}

// lifeOf turns options into what is stored, and checks them.
func (t *core) lifeOf(o PutOptions) (life, error) {
	l := life{created: t.clock.now(), deadline: never, priority: o.Priority}
	if o == (PutOptions{}) {
		return l, nil
	}
	switch {
	case o.MaxAge == Never && t.age != never:
		l.age = never
	case o.MaxAge > 0:
		l.age = int64(o.MaxAge)
	case o.MaxAge < Never:
		return l, fmt.Errorf("%w: MaxAge is %v, must be positive, 0 (the table's) or Never", ErrOption, o.MaxAge)
	}
	if !o.ExpiresAt.IsZero() {
		l.deadline = t.clock.deadline(o.ExpiresAt)
	}
	return l, nil
}

// ages returns how an entry's life looks from outside: its greatest age, and when it expires.
func (t *core) ages(l *life) (maxAge time.Duration, expires time.Time) {
	age := l.age
	if age == 0 {
		age = t.age
	}
	maxAge, end := Never, l.deadline
	if age != never {
		maxAge = time.Duration(age)
		end = min(end, addSaturated(l.created*int64(time.Millisecond), age))
	}
	if end != never {
		expires = t.clock.wall(end)
	}
	return maxAge, expires
}

// tell calls OnRemove.
func (t *Table[K, V]) tell(n notice) {
	v, err := t.values.decode(n.code, n.value())
	if err != nil {
		t.c.opt.Logger.Error("cache: OnRemove: value", "table", t.name, "error", err)
	}
	_, expires := t.ages(&n.life)
	t.onRemove(Removal[K, V]{
		Key: t.keys.decode(n.key()), Value: v, Cause: n.cause, Priority: n.life.priority, ExpiresAt: expires,
	})
}

// Cache returns the cache that the table belongs to.
func (t *Table[K, V]) Cache() *Cache { return t.c }
