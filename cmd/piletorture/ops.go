package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/bigpile/bigpile/pile"
)

const (
	opPut = iota
	opPutMany
	opReserve
	opGet
	opView
	opLongView
	opGetMany
	opUpdate
	opDelete
	opDeleteMany
	opStaleRead
	opCompact
	opAll
)

var opNames = []string{
	"put", "putmany", "reserve", "get", "view", "longview", "getmany", "update", "delete", "deletemany", "stale", "compact", "all",
}

// chances is how often each operation is drawn, in the order of opNames.
var chances = []int{30, 3, 5, 60, 40, 0, 5, 40, 15, 2, 10, 1, 1}

func draw(rng *rand.Rand) int {
	sum := 0
	for _, c := range chances {
		sum += c
	}
	n := rng.IntN(sum)
	for op, c := range chances {
		if n -= c; n < 0 {
			return op
		}
	}
	return opGet
}

// worker runs random operations until told to stop. The first goroutine holds views open for long, over
// inspections and purges too, and does nothing else.
func (t *torture) worker(g int, rng *rand.Rand) {
	buf := make([]byte, 0, 100_000)
	for !t.stop.Load() {
		if g == 0 {
			t.longView(rng)
			continue
		}
		t.quiet.RLock()
		op := draw(rng)
		t.ops[op].Add(1)
		switch op {
		case opPut:
			t.put(rng.IntN(len(t.cells)), rng, false)
		case opReserve:
			t.put(rng.IntN(len(t.cells)), rng, true)
		case opPutMany:
			t.putMany(rng)
		case opGet:
			buf = t.get(rng, buf)
		case opView:
			t.view(rng)
		case opGetMany:
			t.getMany(rng)
		case opUpdate:
			t.update(rng)
		case opDelete:
			t.remove(rng.IntN(len(t.cells)), rng)
		case opDeleteMany:
			t.removeMany(rng)
		case opStaleRead:
			t.tryBuried(rng)
		case opCompact:
			t.compact(rng)
		case opAll:
			t.all(rng)
		}
		t.quiet.RUnlock()
		yield(rng)
	}
}

// put fills a cell that is empty.
func (t *torture) put(i int, rng *rand.Rand, reserve bool) {
	c := &t.cells[i]
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now.Load() != nil {
		return
	}
	o := &object{owner: t.owners.Add(1)}
	n := t.size(rng)
	value := encode(nil, o.owner, 0, n)
	var err error
	switch {
	case reserve:
		o.ptr, err = t.p.PutReserve(value, n+rng.IntN(n+1))
	case rng.IntN(2) == 0:
		o.ptr, err = t.p.PutString(string(value))
	default:
		o.ptr, err = t.p.PutBytes(value)
	}
	if t.refused("Put", o.ptr, err) {
		return
	}
	yield(rng)
	c.now.Store(o)
}

// refused tells whether err says "full"; any other error of a write to a live handle is wrong.
func (t *torture) refused(call string, ptr pile.PilePointer, err error) bool {
	if err == nil {
		return false
	}
	if errors.Is(err, pile.ErrOutOfSpace) {
		t.outOfSpace.Add(1)
	} else {
		t.wrongValue(call, ptr, "success", err.Error())
	}
	return true
}

func (t *torture) putMany(rng *rand.Rand) {
	var locked []*cell
	var fresh []*object
	var values [][]byte
	for range 1 + rng.IntN(40) {
		c := &t.cells[rng.IntN(len(t.cells))]
		if !c.mu.TryLock() {
			continue
		}
		if c.now.Load() != nil {
			c.mu.Unlock()
			continue
		}
		o := &object{owner: t.owners.Add(1)}
		locked, fresh, values = append(locked, c), append(fresh, o), append(values, encode(nil, o.owner, 0, t.size(rng)))
	}
	ptrs, err := t.p.PutMany(values, nil)
	if err == nil && len(ptrs) != len(values) {
		t.wrongValue("PutMany", 0, fmt.Sprint(len(values), " handles"), fmt.Sprint(len(ptrs)))
	}
	t.refused("PutMany", 0, err)
	for i, c := range locked {
		if i < len(ptrs) {
			fresh[i].ptr = ptrs[i]
			c.now.Store(fresh[i])
		}
		c.mu.Unlock()
	}
}

func (t *torture) pick(rng *rand.Rand) *object { return t.cells[rng.IntN(len(t.cells))].now.Load() }

// verify compares a value that was read with what its object may be. low is settled as it was before the read.
func (t *torture) verify(call string, o *object, low uint64, b []byte) bool {
	v, err := decode(b, o.owner)
	switch high := o.written.Load(); {
	case err != nil:
		t.wrongValue(call, o.ptr, fmt.Sprintf("owner %d, version %d to %d", o.owner, low, high), err.Error())
	case v < low || v > high:
		t.wrongValue(call, o.ptr, fmt.Sprintf("owner %d, version %d to %d", o.owner, low, high), fmt.Sprint("version ", v))
	default:
		return true
	}
	return false
}

// missed judges an error of a read: only an object that is dying may be stale.
func (t *torture) missed(call string, o *object, err error) {
	if o.dying.Load() && errors.Is(err, pile.ErrStalePointer) {
		t.stale.Add(1)
		return
	}
	t.wrongValue(call, o.ptr, fmt.Sprintf("owner %d, alive", o.owner), err.Error())
}

func (t *torture) get(rng *rand.Rand, buf []byte) []byte {
	o := t.pick(rng)
	if o == nil {
		return buf
	}
	yield(rng)
	low := o.settled.Load()
	b, err := t.p.AppendBytes(buf[:0], o.ptr)
	if err != nil {
		t.missed("AppendBytes", o, err)
		return buf
	}
	t.verify("AppendBytes", o, low, b)
	return b[:0]
}

func (t *torture) view(rng *rand.Rand) {
	o := t.pick(rng)
	if o == nil {
		return
	}
	low := o.settled.Load()
	called := false
	err := t.p.View(o.ptr, func(b []byte) error {
		called = true
		ok := t.verify("View", o, low, b)
		for range rng.IntN(4) {
			yield(rng)
			ok = ok && t.verify("View, later", o, low, b)
		}
		if rng.IntN(50) == 0 { // callbacks may call
			t.get(rng, nil)
			t.view(rng)
		}
		return nil
	})
	switch {
	case err != nil && !called:
		t.missed("View", o, err)
	case err != nil || !called:
		t.wrongValue("View", o.ptr, "one call and no error", fmt.Sprint("called: ", called, ", error: ", err))
	}
}

// longView stays in one view while others delete, update, compact and purge, until some hundred yields are over.
func (t *torture) longView(rng *rand.Rand) {
	o := t.pick(rng)
	if o == nil {
		yield(rng)
		return
	}
	t.ops[opLongView].Add(1)
	low := o.settled.Load()
	called := false
	err := t.p.View(o.ptr, func(b []byte) error {
		called = true
		for n := rng.IntN(2000); n >= 0 && t.verify("View, long", o, low, b) && !t.stop.Load(); n-- {
			for range 10 {
				yield(rng)
			}
		}
		return nil
	})
	if err != nil && !called {
		t.missed("View, long", o, err)
	}
}

func (t *torture) getMany(rng *rand.Rand) {
	var objects []*object
	var ptrs []pile.PilePointer
	var lows []uint64
	for range 1 + rng.IntN(100) {
		if o := t.pick(rng); o != nil {
			objects, ptrs, lows = append(objects, o), append(ptrs, o.ptr), append(lows, o.settled.Load())
		}
	}
	calls, stopAt := 0, rng.IntN(200)
	err := t.p.GetMany(ptrs, func(i int, b []byte, err error) bool {
		if calls++; err != nil {
			t.missed("GetMany", objects[i], err)
		} else {
			t.verify("GetMany", objects[i], lows[i], b)
		}
		if rng.IntN(20) == 0 {
			yield(rng)
		}
		return calls != stopAt
	})
	if err != nil && !errors.Is(err, pile.ErrStalePointer) {
		t.wrongValue("GetMany", 0, "no error", err.Error())
	}
	if want := len(ptrs); calls != want && calls != stopAt {
		t.wrongValue("GetMany", 0, fmt.Sprint(want, " calls, or ", stopAt), fmt.Sprint(calls))
	}
}

func (t *torture) update(rng *rand.Rand) {
	c := &t.cells[rng.IntN(len(t.cells))]
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.now.Load()
	if o == nil {
		return
	}
	v := o.settled.Load() + 1
	o.written.Store(v) // from here on readers may see it
	value := encode(nil, o.owner, v, t.size(rng))
	yield(rng)
	if t.refused("Update", o.ptr, t.p.UpdateBytes(o.ptr, value)) {
		o.written.Store(v - 1)
		return
	}
	yield(rng)
	o.settled.Store(v)
}

func (t *torture) remove(i int, rng *rand.Rand) {
	c := &t.cells[i]
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.now.Load()
	if o == nil {
		return
	}
	o.dying.Store(true)
	c.now.Store(nil)
	yield(rng)
	if err := t.p.Delete(o.ptr); err != nil {
		t.wrongValue("Delete", o.ptr, "success", err.Error())
	}
	t.bury(o.ptr, rng)
}

func (t *torture) removeMany(rng *rand.Rand) {
	var ptrs []pile.PilePointer
	for range 1 + rng.IntN(40) {
		c := &t.cells[rng.IntN(len(t.cells))]
		if !c.mu.TryLock() {
			continue
		}
		if o := c.now.Load(); o != nil {
			o.dying.Store(true)
			c.now.Store(nil)
			ptrs = append(ptrs, o.ptr)
		}
		c.mu.Unlock()
	}
	n, err := t.p.DeleteMany(ptrs)
	if n != len(ptrs) || err != nil {
		t.wrongValue("DeleteMany", 0, fmt.Sprint(len(ptrs), " deleted"), fmt.Sprint(n, ", ", err))
	}
	for _, ptr := range ptrs {
		t.bury(ptr, rng)
	}
}

// bury keeps a dead handle to try it later; when there are many, a random one makes room, so that old ones stay.
func (t *torture) bury(ptr pile.PilePointer, rng *rand.Rand) {
	t.buriedMu.Lock()
	defer t.buriedMu.Unlock()
	if len(t.buried) < 50_000 {
		t.buried = append(t.buried, ptr)
	} else {
		t.buried[rng.IntN(len(t.buried))] = ptr
	}
}

// tryBuried uses a dead handle: every call has to fail.
func (t *torture) tryBuried(rng *rand.Rand) {
	t.buriedMu.Lock()
	if len(t.buried) == 0 {
		t.buriedMu.Unlock()
		return
	}
	ptr := t.buried[rng.IntN(len(t.buried))]
	t.buriedMu.Unlock()
	call, found := "", error(nil)
	switch rng.IntN(5) {
	case 0:
		call = "Delete"
		found = t.p.Delete(ptr)
	case 1:
		call = "UpdateString"
		found = t.p.UpdateString(ptr, "intruder")
	case 2:
		call = "SizeOf"
		_, found = t.p.SizeOf(ptr)
	case 3:
		call = "View"
		found = t.p.View(ptr, func([]byte) error { return nil })
	default:
		call = "GetBytes"
		_, found = t.p.GetBytes(ptr)
	}
	if !errors.Is(found, pile.ErrStalePointer) && !errors.Is(found, pile.ErrInvalidPointer) {
		t.wrongValue(call, ptr, "a dead handle's error", fmt.Sprint(found))
	}
}

func (t *torture) compact(rng *rand.Rand) {
	if n, err := t.p.Compact(context.Background(), nil); err != nil || n < 0 {
		t.wrongValue("Compact", 0, "success", fmt.Sprint(n, ", ", err))
	}
	yield(rng)
}

// all walks some of All: handles may not come twice.
func (t *torture) all(rng *rand.Rand) {
	seen := map[pile.PilePointer]bool{}
	limit := rng.IntN(2 * len(t.cells))
	for ptr := range t.p.All() {
		if seen[ptr] {
			t.wrongValue("All", ptr, "each handle once", "it twice")
		}
		seen[ptr] = true
		if len(seen) > limit {
			return
		}
	}
}
