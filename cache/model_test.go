package cache

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/bigpile/bigpile/pile"
)

// model is what a table should be: a Go map, with what should be known of each entry.
type model struct {
	table   *Table[string, string]
	clock   *fakeClock
	entries map[string]modelEntry
	removed map[string]int // what OnRemove should have been told, and has not: key/value/cause
	age     time.Duration
	fails   func(format string, args ...any)
	fixture *fixture
}

type modelEntry struct {
	value    string
	born     time.Duration
	maxAge   time.Duration // Never
	deadline time.Duration // by the monotonic clock; Never
	priority int8
}

func (m *model) now() time.Duration {
	m.clock.mu.Lock()
	defer m.clock.mu.Unlock()
	return m.clock.mono
}

// dead follows the rule of the cache: whole milliseconds, both ends rounded down, life rounded up.
func (m *model) dead(e modelEntry) bool {
	ms := func(d time.Duration) int64 { return int64(d / time.Millisecond) }
	up := func(d time.Duration) int64 { return ceilMs(int64(d)) }
	return e.maxAge != Never && ms(m.now())-ms(e.born) >= up(e.maxAge) ||
		e.deadline != Never && ms(m.now()) >= up(e.deadline)
}

// bury forgets what has expired; OnRemove may be told at any time.
func (m *model) bury() {
	for k, e := range m.entries {
		if m.dead(e) {
			m.expect(k, e.value, CauseExpired)
			delete(m.entries, k)
		}
	}
}

func (m *model) expect(k, v string, c Cause) { m.removed[fmt.Sprint(k, "/", v, "/", c)]++ }

func (m *model) put(k, v string, o PutOptions) {
	m.bury()
	old, had := m.entries[k]
	r, err := m.table.PutWith(k, v, o)
	if err != nil {
		m.fails("put: %v", err)
	}
	if want := map[bool]PutResult{false: Inserted, true: Replaced}[had]; r != want {
		m.fails("put %q: %v, expected %v", k, r, want)
	}
	if had {
		m.expect(k, old.value, CauseReplaced)
	}
	e := modelEntry{value: v, born: m.now(), maxAge: o.MaxAge, deadline: Never, priority: o.Priority}
	switch o.MaxAge {
	case 0:
		e.maxAge = m.age
	case 1<<63 - 1: // 292 years
		e.maxAge = Never
	}
	if !o.ExpiresAt.IsZero() {
		e.deadline = m.now() + o.ExpiresAt.Round(0).Sub(m.clock.now().Round(0))
	}
	m.entries[k] = e
}

func (m *model) get(k string) {
	m.bury()
	want, had := m.entries[k]
	if v, ok := m.table.Get(k); ok != had || v != want.value {
		m.fails("get %q: %q %v, expected %q %v", k, v, ok, want.value, had)
	}
	if m.table.Contains(k) != had {
		m.fails("contains %q: expected %v", k, had)
	}
	e, ok := m.table.Entry(k)
	if ok != had || had && (e.Priority != want.priority || e.Value != want.value || e.MaxAge != want.maxAge || e.Key != k) {
		m.fails("entry %q: %+v, expected %+v", k, e, want)
	}
}

func (m *model) remove(k string) {
	m.bury()
	want, had := m.entries[k]
	if m.table.Remove(k) != had {
		m.fails("remove %q: expected %v", k, had)
	}
	if had {
		m.expect(k, want.value, CauseRemoved)
		delete(m.entries, k)
	}
}

func (m *model) take(k string) {
	m.bury()
	want, had := m.entries[k]
	if v, ok := m.table.Take(k); ok != had || v != want.value {
		m.fails("take %q: %q %v, expected %q %v", k, v, ok, want.value, had)
	}
	if had {
		m.expect(k, want.value, CauseRemoved)
		delete(m.entries, k)
	}
}

func (m *model) rejuvenate(k string) {
	m.bury()
	e, had := m.entries[k]
	if m.table.Rejuvenate(k) != had {
		m.fails("rejuvenate %q: expected %v", k, had)
	}
	if had {
		e.born = m.now()
		m.entries[k] = e
	}
}

func (m *model) compute(k, v string, op Op) {
	m.bury()
	want, had := m.entries[k]
	got, ok, err := m.table.Compute(k, func(old string, found bool) (string, Op) {
		if found != had || old != want.value {
			m.fails("compute %q: %q %v, expected %q %v", k, old, found, want.value, had)
		}
		return v, op
	})
	if err != nil {
		m.fails("compute: %v", err)
	}
	switch {
	case op == Keep && (got != want.value || ok != had), op == Write && (got != v || !ok), op == Delete && ok:
		m.fails("compute %q %v: %q %v", k, op, got, ok)
	case op == Write:
		if !had {
			want = modelEntry{maxAge: m.age, deadline: Never}
		} else {
			m.expect(k, want.value, CauseReplaced)
		}
		want.value, want.born = v, m.now()
		m.entries[k] = want
	case op == Delete && had:
		m.expect(k, want.value, CauseRemoved)
		delete(m.entries, k)
	}
}

func (m *model) purge() {
	m.bury()
	m.table.Purge()
	for k, e := range m.entries {
		m.expect(k, e.value, CausePurged)
	}
	clear(m.entries)
}

// compare looks at everything.
func (m *model) compare() {
	m.bury()
	if n := m.table.Len(); n != len(m.entries) {
		m.fails("len: %d, expected %d", n, len(m.entries))
	}
	all := map[string]string{}
	for k, v := range m.table.All() {
		if _, twice := all[k]; twice {
			m.fails("all: %q twice", k)
		}
		all[k] = v
	}
	want := map[string]string{}
	for k, e := range m.entries {
		want[k] = e.value
	}
	if !maps.Equal(all, want) {
		m.fails("all: %v, expected %v", all, want)
	}
	n := 0
	for k := range m.table.Keys() {
		if _, ok := want[k]; !ok {
			m.fails("keys: %q", k)
		}
		n++
	}
	if n != len(want) {
		m.fails("keys: %d, expected %d", n, len(want))
	}
	for k, n := range m.removed {
		if n != 0 {
			m.fails("OnRemove: %s: %d missing", k, n)
		}
	}
	if err := m.table.core.check(); err != nil {
		m.fails("index: %v", err)
	}
}

func newModel(t testing.TB, fails func(string, ...any), age time.Duration, oneHash bool) *model {
	f := newFixture(t, pile.Options{Backing: pile.Heap, SegmentSize: 1 << 20}, Options{})
	m := &model{fixture: f, clock: f.useClock(), entries: map[string]modelEntry{}, removed: map[string]int{}, age: age, fails: fails}
	o := TableOptions[string, string]{OnRemove: func(r Removal[string, string]) { // the sweeper sleeps by the real clock
		m.removed[fmt.Sprint(r.Key, "/", r.Value, "/", r.Cause)]--
	}}
	o.DefaultMaxAge = age
	m.table = open(f, "model", o)
	f.sweeper.stop() // or removals are told in its goroutine
	if oneHash {
		m.table.hashMask = 0
	}
	return m
}

// TestModel runs random commands against a table and a Go map.
func TestModel(t *testing.T) {
	for _, oneHash := range []bool{false, true} {
		t.Run(fmt.Sprintf("oneHash=%v", oneHash), func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				age := rapid.SampledFrom([]time.Duration{Never, time.Second, time.Hour}).Draw(r, "age")
				m := newModel(t, r.Fatalf, age, oneHash)
				defer m.fixture.end()
				key := rapid.Custom(func(r *rapid.T) string { return fmt.Sprint("k", rapid.IntRange(0, 400).Draw(r, "i")) })
				value := rapid.StringN(-1, -1, 40)
				r.Repeat(map[string]func(*rapid.T){
					"put": func(r *rapid.T) { m.put(key.Draw(r, "key"), value.Draw(r, "value"), PutOptions{}) },
					"putMany": func(r *rapid.T) {
						for i := range 40 {
							m.put(fmt.Sprint("k", rapid.IntRange(0, 400).Draw(r, "i")+i), fmt.Sprint(i), PutOptions{})
						}
					},
					"putWith": func(r *rapid.T) {
						o := PutOptions{Priority: rapid.Int8().Draw(r, "priority")}
						o.MaxAge = rapid.SampledFrom([]time.Duration{0, Never, 1, time.Millisecond, time.Minute, 1<<63 - 1}).Draw(r, "age")
						if d := rapid.SampledFrom([]time.Duration{0, -time.Hour, time.Microsecond, time.Second, time.Hour}).Draw(r, "deadline"); d != 0 {
							o.ExpiresAt = m.clock.now().Add(d)
						}
						if o.MaxAge == Never && m.age == Never {
							o.MaxAge = 0
						}
						m.put(key.Draw(r, "key"), value.Draw(r, "value"), o)
					},
					"get":        func(r *rapid.T) { m.get(key.Draw(r, "key")) },
					"remove":     func(r *rapid.T) { m.remove(key.Draw(r, "key")) },
					"take":       func(r *rapid.T) { m.take(key.Draw(r, "key")) },
					"rejuvenate": func(r *rapid.T) { m.rejuvenate(key.Draw(r, "key")) },
					"compute": func(r *rapid.T) {
						m.compute(key.Draw(r, "key"), value.Draw(r, "value"), rapid.SampledFrom([]Op{Keep, Write, Delete}).Draw(r, "op"))
					},
					"wait": func(r *rapid.T) {
						m.clock.advance(rapid.SampledFrom([]time.Duration{1, time.Millisecond, time.Second, 40 * time.Minute}).Draw(r, "d"))
					},
					"jump": func(r *rapid.T) {
						m.clock.jump(rapid.SampledFrom([]time.Duration{time.Hour, -time.Hour, -25 * time.Hour, time.Millisecond}).Draw(r, "d"))
					},
					"purge": func(r *rapid.T) {
						if rapid.IntRange(0, 9).Draw(r, "rarely") == 0 {
							m.purge()
						}
					},
					"": func(*rapid.T) { m.compare() },
				})
			})
		})
	}
}

// FuzzCommands runs a list of commands, one a byte, against a table and a Go map.
func FuzzCommands(f *testing.F) {
	f.Add([]byte("abcdefghijklmnopqrstuvwxyz"), false)
	f.Add([]byte{0, 1, 2, 3, 250, 251, 252, 253, 254, 255, 0, 1, 2}, true)
	f.Fuzz(func(t *testing.T, commands []byte, oneHash bool) {
		m := newModel(t, t.Fatalf, time.Second, oneHash)
		for i, b := range commands[:min(len(commands), 512)] {
			k, v := fmt.Sprint("k", b&31), fmt.Sprint(i)
			switch b >> 5 {
			case 0, 1:
				m.put(k, v, PutOptions{})
			case 2:
				m.put(k, v, PutOptions{MaxAge: time.Duration(b&31) * 100 * time.Millisecond})
			case 3:
				m.get(k)
			case 4:
				m.remove(k)
			case 5:
				m.compute(k, v, Op(b&31)%3)
			case 6:
				m.clock.advance(time.Duration(b&31) * 50 * time.Millisecond)
			case 7:
				m.rejuvenate(k)
			}
		}
		m.compare()
		require.NoError(t, m.table.p.Check(context.Background()))
	})
}
