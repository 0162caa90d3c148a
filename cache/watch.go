package cache

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

// A Compute whose key changed while its function ran starts again. If it was the function itself that
// changed it, it would do so for ever. So from the second run on a watch says which goroutine runs the
// function, and every change of the key looks whether it is made by that goroutine.
//
// Go does not tell which goroutine one is; the first line of its stack trace does, in 1 µs. It is read
// only for keys that are watched: those that were changed by somebody while a Compute was at work.
type watches struct {
	n    atomic.Int32 // how many there are
	mu   sync.Mutex   // guards list, and self of its members
	list map[string][]*watch
}

type watch struct {
	key       string
	goroutine uint64
	self      bool // the goroutine itself changed the key
}

// add begins to watch a key for the calling goroutine.
func (s *watches) add(key []byte) *watch {
	w := &watch{key: string(key), goroutine: goroutine()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list == nil {
		s.list = make(map[string][]*watch)
	}
	s.list[w.key] = append(s.list[w.key], w)
	s.n.Add(1)
	return w
}

// end stops watching, and reports whether the goroutine itself changed the key.
func (s *watches) end(w *watch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.list[w.key]
	for i, x := range list {
		if x == w {
			list[i] = list[len(list)-1]
			list = list[:len(list)-1]
			break
		}
	}
	if s.list[w.key] = list; len(list) == 0 {
		delete(s.list, w.key)
	}
	s.n.Add(-1)
	return w.self
}

// changed is called for every change of a key, under the lock of its shard.
func (s *watches) changed(key []byte) {
	if s.n.Load() != 0 {
		s.note(key)
	}
}

func (s *watches) note(key []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.list[string(key)]
	if len(list) == 0 {
		return
	}
	me := goroutine()
	for _, w := range list {
		w.self = w.self || w.goroutine == me
	}
}

// goroutine returns the number of the calling goroutine, from "goroutine 123 [running]:".
func goroutine() uint64 {
	var buf [64]byte
	b := buf[:runtime.Stack(buf[:], false)]
	b = bytes.TrimPrefix(b, []byte("goroutine "))
	end := bytes.IndexByte(b, ' ')
	if end < 0 {
		return 0
	}
	n, err := strconv.ParseUint(string(b[:end]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
