package cache

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/bigpile/bigpile/serializer"
)

// GetOrPut returns the value of the key; if there is none it calls load and stores what that returns.
// However many callers want a key at the same time, load runs once; all get its result, or its error.
//
// load runs in a goroutine of its own, with the values of the first caller's context. Each caller
// waits for as long as its own context lets it; only when nobody waits any more is the context of load
// cancelled. A load that waits for itself, through GetOrPut with the context it was given and however
// many other loads, gets ErrCycle. One that panics or exits its goroutine is ErrLoader to all. When
// another value was put meanwhile, that stays and is returned.
//
// The result is Existing for a value that was there, or that another caller had loaded, and Inserted
// for the caller whose load it was. With an error of storing it the value is returned, too.
func (t *Table[K, V]) GetOrPut(ctx context.Context, k K, load func(context.Context, K) (V, error)) (V, PutResult, error) {
	return t.GetOrPutWith(ctx, k, func(ctx context.Context, k K) (V, PutOptions, error) {
		v, err := load(ctx, k)
		return v, PutOptions{}, err
	})
}

// GetOrPutWith is GetOrPut with a load that also says how long the entry lives.
func (t *Table[K, V]) GetOrPutWith(ctx context.Context, k K, load func(context.Context, K) (V, PutOptions, error)) (V, PutResult, error) {
	var zero V
	var buf [keyBuffer]byte
	key, err := t.keys.encode(buf[:0], &k)
	if err != nil {
		return zero, 0, err
	}
	if v, _, ok := t.read(key, anyAge); ok {
		return v, Existing, nil
	}
	if err := ctx.Err(); err != nil {
		return zero, 0, err
	}
	f, mine := t.flights.join(ctx, key)
	if mine {
		go t.fly(f, k, load)
	}
	if err := t.flights.wait(ctx, f); err != nil {
		return zero, 0, err
	}
	if f.err != nil {
		return f.value, 0, f.err
	}
	if mine {
		return f.value, f.result, nil
	}
	return t.ownCopy(f), Existing, nil
}

// flight is a load in progress.
type flight[V any] struct {
	node   *flightNode
	key    string
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // closed when what follows is there

	waiting int // callers; guarded by the lock of flights

	value  V
	result PutResult
	err    error
}

// flights are the loads of a table.
type flights[V any] struct {
	mu sync.Mutex // guards m, and waiting of its members
	m  map[string]*flight[V]
}

// join returns the load of the key, and whether it is a new one that the caller has to start.
func (s *flights[V]) join(ctx context.Context, key []byte) (f *flight[V], mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f = s.m[string(key)]; f != nil {
		f.waiting++
		return f, false
	}
	f = &flight[V]{node: new(flightNode), key: string(key), done: make(chan struct{}), waiting: 1}
	f.ctx, f.cancel = context.WithCancel(context.WithValue(context.WithoutCancel(ctx), flightKey{}, f.node))
	if s.m == nil {
		s.m = make(map[string]*flight[V])
	}
	s.m[f.key] = f
	return f, true
}

// wait waits for the load, or for the caller's context.
func (s *flights[V]) wait(ctx context.Context, f *flight[V]) error {
	if from, ok := ctx.Value(flightKey{}).(*flightNode); ok {
		if !from.waitFor(f.node) {
			s.leave(f)
			return fmt.Errorf("%w: key %q", ErrCycle, f.key)
		}
		defer from.waitNoMore(f.node)
	}
	select {
	case <-f.done:
		return nil
	case <-ctx.Done():
		s.leave(f)
		return ctx.Err()
	}
}

// leave takes a caller away that waits no more. When it was the last one the load is cancelled, and
// whoever comes next starts another.
func (s *flights[V]) leave(f *flight[V]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		f.cancel()
		s.removeLocked(f)
	}
}

func (s *flights[V]) removeLocked(f *flight[V]) {
	if s.m[f.key] == f {
		delete(s.m, f.key)
	}
}

// land tells everybody that the load has ended.
func (s *flights[V]) land(f *flight[V]) {
	s.mu.Lock()
	s.removeLocked(f)
	s.mu.Unlock()
	f.cancel()
	close(f.done)
}

// fly runs the load and stores what it returns.
func (t *Table[K, V]) fly(f *flight[V], k K, load func(context.Context, K) (V, PutOptions, error)) {
	returned := false
	defer t.flights.land(f)
	defer func() {
		if returned {
			return
		}
		if r := recover(); r != nil {
			f.err = fmt.Errorf("%w: panic: %v\n%s", ErrLoader, r, debug.Stack())
		} else {
			f.err = fmt.Errorf("%w: it exited its goroutine", ErrLoader)
		}
	}()
	key := []byte(f.key)
	if v, _, ok := t.read(key, anyAge); ok { // a load that ended just before
		f.value, f.result = v, Existing
	} else if v, o, err := load(f.ctx, k); err != nil {
		f.value, f.err = v, err
	} else {
		f.value, f.result, f.err = t.putAbsent(key, v, o)
	}
	returned = true
}

// putAbsent stores v unless there is a value, and returns the one that is there then.
func (t *Table[K, V]) putAbsent(key []byte, v V, o PutOptions) (V, PutResult, error) {
	l, err := t.lifeOf(o)
	if err != nil {
		return v, 0, err
	}
	for {
		out, err := t.putEntry(key, &v, l, condition{is: isAbsent})
		if err != nil || !out.refused {
			return v, out.result, err
		}
		if old, _, ok := t.read(key, anyAge); ok {
			return old, Existing, nil
		}
	}
}

// ownCopy returns the value of a load for one of several callers, so that they do not share memory.
func (t *Table[K, V]) ownCopy(f *flight[V]) V {
	v := f.value
	switch {
	case t.values.tier == serializer.Plain || t.values.text:
		return v
	case t.values.isRaw():
		b := as[[]byte](&v)
		*b = bytes.Clone(*b)
		return v
	}
	if own, _, ok := t.read([]byte(f.key), anyAge); ok {
		return own
	}
	return v
}
