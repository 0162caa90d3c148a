package cache

import (
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
	"weak"
)

// A sweeper removes expired entries in the background. It is one goroutine a cache, which exists only
// while there is something that can expire, and sleeps until the first of it does. Between looks it
// knows its cache weakly, so that a cache that was forgotten is collected, and the goroutine ends.
type sweeper struct {
	log  *slog.Logger
	next atomic.Int64 // when it is going to look, in milliseconds of the cache's clock
	poke chan struct{}
	end  chan struct{}

	mu      sync.Mutex // guards what follows
	idle    sync.Cond  // told when running or calling change
	running bool
	calling bool // in a callback of the user's
	ended   bool
}

func newSweeper(log *slog.Logger) *sweeper {
	s := &sweeper{log: log, poke: make(chan struct{}, 1), end: make(chan struct{})}
	s.idle.L = &s.mu
	s.next.Store(never)
	return s
}

// lower makes the sweeper look at due at the latest.
func (s *sweeper) lower(due int64) {
	for {
		next := s.next.Load()
		if next <= due || s.next.CompareAndSwap(next, due) {
			return
		}
	}
}

// wake tells the sweeper of an entry that expires before it was going to look.
func (s *sweeper) wake(c *Cache, due int64) {
	s.lower(due)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
	case !s.running:
		s.running = true
		go s.run(weak.Make(c))
	default:
		select {
		case s.poke <- struct{}{}:
		default:
		}
	}
}

// abandon ends the goroutine of a cache that nobody knows any more.
func (s *sweeper) abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended = true
		close(s.end)
	}
}

// stop ends the goroutine and waits for it, unless it is in a callback, which may be the caller.
func (s *sweeper) stop() {
	s.abandon()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.running && !s.calling {
		s.idle.Wait()
	}
}

// setCalling says whether the goroutine is in a callback of the user's.
func (s *sweeper) setCalling(on bool) {
	s.mu.Lock()
	s.calling = on
	s.mu.Unlock()
	s.idle.Broadcast()
}

// run is the goroutine. A callback may end it with runtime.Goexit; then another one goes on.
func (s *sweeper) run(weakly weak.Pointer[Cache]) {
	over := false
	defer func() {
		if over {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calling = false
		if s.running = !s.ended; s.running {
			s.next.Store(0) // the sweep was not finished
			go s.run(weakly)
		}
		s.idle.Broadcast()
	}()
	for s.sleep(weakly) {
		if c := weakly.Value(); c != nil {
			c.sweep()
		}
		if over = s.retire(weakly); over {
			return
		}
	}
	over = true
	s.mu.Lock()
	s.running = false
	s.mu.Unlock()
	s.idle.Broadcast()
}

// retire ends the goroutine if nothing can expire any more, or there is no cache.
func (s *sweeper) retire(weakly weak.Pointer[Cache]) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next.Load() != never && weakly.Value() != nil {
		return false
	}
	s.running = false
	s.idle.Broadcast()
	return true
}

// sleepMax bounds one sleep, so that durations do not overflow.
const sleepMax = int64(time.Hour / time.Millisecond)

// sleep waits until something is due, and reports whether the sweeper is to go on.
func (s *sweeper) sleep(weakly weak.Pointer[Cache]) bool {
	for {
		c := weakly.Value()
		if c == nil {
			return false
		}
		wait := min(s.next.Load()-c.clock.now(), sleepMax)
		c = nil
		if wait <= 0 {
			select {
			case <-s.end:
				return false
			default:
				return true
			}
		}
		timer := time.NewTimer(time.Duration(wait) * time.Millisecond)
		select {
		case <-timer.C:
		case <-s.poke:
		case <-s.end:
			timer.Stop()
			return false
		}
		timer.Stop()
	}
}

// pace rests after a piece of work, so that sweeping takes at most a fiftieth of a core when it finds
// little, and a quarter when at least one entry in four that it looks at is expired. It reports
// whether to go on.
func (s *sweeper) pace(worked time.Duration, looked, removed int) bool {
	rest := worked * 49
	if removed*4 >= looked {
		rest = worked * 3
	}
	if rest <= 0 {
		select {
		case <-s.end:
			return false
		default:
			return true
		}
	}
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.end:
		return false
	}
}

// call calls OnRemove in the background, where nobody could recover a panic of it.
func (s *sweeper) call(fn func(notice), n notice) {
	s.setCalling(true)
	defer s.setCalling(false)
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("cache: OnRemove panicked", "panic", r, "stack", string(debug.Stack()))
		}
	}()
	fn(n)
}
