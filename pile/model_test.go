package pile_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"testing"

	"github.com/bigpile/bigpile/pile"
	"pgregory.net/rapid"
)

// modelValue is what the model knows of one live handle.
type modelValue struct {
	data []byte
	kind pile.Kind
}

// model is a Go map that every operation is repeated on; verify compares the two.
type model struct {
	pile *pile.Pile
	live map[pile.PilePointer]modelValue
	keys []pile.PilePointer // of live, in order of birth
	dead []pile.PilePointer // the latest, newest last
}

func newModel(p *pile.Pile) *model {
	return &model{pile: p, live: map[pile.PilePointer]modelValue{}}
}

// mayFail tells errors that say "full" from those that are wrong; a full pile is no failure, as long as
// nothing changed, which the next verify shows.
func mayFail(err error) bool { return errors.Is(err, pile.ErrOutOfSpace) }

func (m *model) born(ptr pile.PilePointer, b []byte, k pile.Kind) error {
	if !ptr.Valid() {
		return fmt.Errorf("put returns the invalid handle %v", ptr)
	}
	if _, ok := m.live[ptr]; ok {
		return fmt.Errorf("put returns the live handle %v again", ptr)
	}
	m.live[ptr] = modelValue{bytes.Clone(b), k}
	m.keys = append(m.keys, ptr)
	return nil
}

func (m *model) died(i int) {
	ptr := m.keys[i]
	delete(m.live, ptr)
	m.keys = append(m.keys[:i], m.keys[i+1:]...)
	m.buried(ptr)
}

func (m *model) buried(ptr pile.PilePointer) {
	m.dead = append(m.dead, ptr)
	if len(m.dead) > 64 {
		m.dead = m.dead[1:]
	}
}

func (m *model) put(b []byte, asString bool) error {
	ptr, err := pile.PilePointer(0), error(nil)
	kind := pile.KindBytes
	if asString {
		kind = pile.KindString
		ptr, err = m.pile.PutString(string(b))
	} else {
		ptr, err = m.pile.PutBytes(b)
	}
	if err != nil {
		if mayFail(err) {
			return nil
		}
		return fmt.Errorf("put of %d bytes: %w", len(b), err)
	}
	return m.born(ptr, b, kind)
}

func (m *model) reserve(b []byte, room int) error {
	ptr, err := m.pile.PutReserve(b, room)
	if err != nil {
		if mayFail(err) {
			return nil
		}
		return fmt.Errorf("PutReserve of %d bytes in %d: %w", len(b), room, err)
	}
	return m.born(ptr, b, pile.KindBytes)
}

func (m *model) putMany(values [][]byte) error {
	ptrs, err := m.pile.PutMany(values, nil)
	if err != nil && !mayFail(err) {
		return fmt.Errorf("PutMany: %w", err)
	}
	if err == nil && len(ptrs) != len(values) {
		return fmt.Errorf("PutMany of %d values returns %d handles and no error", len(values), len(ptrs))
	}
	for i, ptr := range ptrs {
		if err := m.born(ptr, values[i], pile.KindBytes); err != nil {
			return err
		}
	}
	return nil
}

func (m *model) update(i int, b []byte, asString bool) error {
	ptr := m.keys[i]
	v := modelValue{bytes.Clone(b), pile.KindBytes}
	var err error
	if asString {
		v.kind = pile.KindString
		err = m.pile.UpdateString(ptr, string(b))
	} else {
		err = m.pile.UpdateBytes(ptr, b)
	}
	if err != nil {
		if mayFail(err) {
			return nil
		}
		return fmt.Errorf("update of %v to %d bytes: %w", ptr, len(b), err)
	}
	m.live[ptr] = v
	return nil
}

func (m *model) remove(i int) error {
	if err := m.pile.Delete(m.keys[i]); err != nil {
		return fmt.Errorf("delete of %v: %w", m.keys[i], err)
	}
	m.died(i)
	return nil
}

// removeMany deletes the n handles from i on, with a dead handle in the middle that must not stop it.
func (m *model) removeMany(i, n int) error {
	ptrs := append([]pile.PilePointer{}, m.keys[i:i+n]...)
	if len(m.dead) > 0 {
		ptrs = append(ptrs[:n/2:n/2], append([]pile.PilePointer{m.dead[0]}, ptrs[n/2:]...)...)
	}
	deleted, err := m.pile.DeleteMany(ptrs)
	if deleted != n || (err != nil) != (len(ptrs) > n) {
		return fmt.Errorf("DeleteMany of %d live handles and %d dead: %d deleted, %w", n, len(ptrs)-n, deleted, err)
	}
	for range n {
		m.died(i)
	}
	return nil
}

func (m *model) view(i int) error {
	ptr := m.keys[i]
	want := m.live[ptr].data
	called := false
	err := m.pile.View(ptr, func(b []byte) error {
		called = true
		if !bytes.Equal(b, want) {
			return fmt.Errorf("view of %v: %d bytes, want %d", ptr, len(b), len(want))
		}
		return nil
	})
	if err == nil && !called {
		err = fmt.Errorf("view of %v does not call back", ptr)
	}
	return err
}

func (m *model) getMany() error {
	ptrs := append(append([]pile.PilePointer{}, m.keys...), m.dead...)
	seen := make([]int, len(ptrs))
	var errs []error
	m.pile.GetMany(ptrs, func(i int, b []byte, err error) bool {
		seen[i]++
		v, alive := m.live[ptrs[i]]
		if alive != (err == nil) || alive && !bytes.Equal(b, v.data) {
			errs = append(errs, fmt.Errorf("GetMany of %v (alive %v): %d bytes, %w", ptrs[i], alive, len(b), err))
		}
		return true
	})
	for i, n := range seen {
		if n != 1 {
			errs = append(errs, fmt.Errorf("GetMany calls back %d times for element %d", n, i))
		}
	}
	return errors.Join(errs...)
}

func (m *model) purge() error {
	if err := m.pile.Purge(); err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	for _, ptr := range m.keys {
		m.buried(ptr)
	}
	clear(m.live)
	m.keys = nil
	return nil
}

func (m *model) compact() error {
	n, err := m.pile.Compact(context.Background(), nil)
	if err == nil && n < 0 {
		err = fmt.Errorf("%d bytes returned", n)
	}
	return err
}

// verify compares everything a caller can see with the model.
func (m *model) verify() error {
	errs := []error{m.pile.Check(context.Background())}
	var sum int64
	for ptr, v := range m.live {
		sum += int64(len(v.data))
		b, err := m.pile.GetBytes(ptr)
		if err != nil || !bytes.Equal(b, v.data) {
			errs = append(errs, fmt.Errorf("get of %v: %d bytes, want %d: %w", ptr, len(b), len(v.data), err))
		}
	}
	found := map[pile.PilePointer]pile.Entry{}
	for ptr, e := range m.pile.All() {
		if _, twice := found[ptr]; twice {
			errs = append(errs, fmt.Errorf("All yields %v twice", ptr))
		}
		found[ptr] = e
		if v, ok := m.live[ptr]; !ok || e.Size != len(v.data) || e.Kind != v.kind {
			errs = append(errs, fmt.Errorf("All yields %v with %+v; in the model: %v, %d bytes, kind %v", ptr, e, ok, len(v.data), v.kind))
		}
	}
	if len(found) != len(m.live) {
		errs = append(errs, fmt.Errorf("All yields %d handles, want %d", len(found), len(m.live)))
	}
	for _, ptr := range m.dead {
		if _, reborn := m.live[ptr]; reborn {
			errs = append(errs, fmt.Errorf("dead handle %v was given out again", ptr))
			continue
		}
		errs = append(errs, deadHandle(m.pile, ptr, pile.ErrStalePointer))
	}
	if s := m.pile.Stats(); s.Objects != int64(len(m.live)) || s.Bytes != sum {
		errs = append(errs, fmt.Errorf("Stats says %d objects of %d bytes, want %d of %d", s.Objects, s.Bytes, len(m.live), sum))
	}
	return errors.Join(errs...)
}

// modelSizes are sizes at which something changes: words, classes, pages, large runs.
var modelSizes = []int{0, 1, 7, 8, 9, 23, 24, 25, 120, 121, 248, 1000, 2040, 2041, 5000, 30_000, 65_520, 65_521, 70_000, 140_000}

// fewerChecks makes rapid run n checks instead of its default 100, unless told otherwise by -rapid.checks:
// there are twelve variants, and every step compares everything.
func fewerChecks(t *testing.T, n int) {
	t.Helper()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		if err := f.Value.Set(strconv.Itoa(n)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestModelAgreesWithMap(t *testing.T) {
	fewerChecks(t, scaled(12))
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		rapid.Check(t, func(rt *rapid.T) {
			m := newModel(p)
			defer p.Purge()
			var number uint64
			value := func(rt *rapid.T) []byte {
				number++
				return pattern(rapid.SampledFrom(modelSizes).Draw(rt, "size"), number)
			}
			victim := func(rt *rapid.T) int {
				if len(m.keys) == 0 {
					rt.Skip("nothing alive")
				}
				return rapid.IntRange(0, len(m.keys)-1).Draw(rt, "victim")
			}
			step := func(fn func(rt *rapid.T) error) func(rt *rapid.T) {
				return func(rt *rapid.T) {
					if err := fn(rt); err != nil {
						rt.Fatal(err)
					}
				}
			}
			put := step(func(rt *rapid.T) error { return m.put(value(rt), rapid.Bool().Draw(rt, "string")) })
			update := step(func(rt *rapid.T) error {
				return m.update(victim(rt), value(rt), rapid.Bool().Draw(rt, "string"))
			})
			rt.Repeat(map[string]func(*rapid.T){
				"put":     put,
				"put2":    put, // more often than the rest
				"update":  update,
				"update2": update,
				"reserve": step(func(rt *rapid.T) error {
					return m.reserve(value(rt), rapid.SampledFrom(modelSizes).Draw(rt, "room"))
				}),
				"putmany": step(func(rt *rapid.T) error {
					values := make([][]byte, rapid.IntRange(0, 20).Draw(rt, "n"))
					for i := range values {
						values[i] = value(rt)
					}
					return m.putMany(values)
				}),
				"delete": step(func(rt *rapid.T) error { return m.remove(victim(rt)) }),
				"deletemany": step(func(rt *rapid.T) error {
					i := victim(rt)
					return m.removeMany(i, rapid.IntRange(0, len(m.keys)-i).Draw(rt, "n"))
				}),
				"view":    step(func(rt *rapid.T) error { return m.view(victim(rt)) }),
				"getmany": step(func(*rapid.T) error { return m.getMany() }),
				"purge": step(func(rt *rapid.T) error {
					if rapid.IntRange(0, 9).Draw(rt, "really") > 0 {
						return nil
					}
					return m.purge()
				}),
				"compact": step(func(*rapid.T) error { return m.compact() }),
				"":        step(func(*rapid.T) error { return m.verify() }),
			})
		})
	})
}

// TestModelOfManySmallSteps is the long walk that a shrinking checker does not take: thousands of steps in one
// pile, so that pages fill, change class and wear out.
func TestModelOfManySmallSteps(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		rng := newRand(t)
		program := make([]byte, scaled(6000))
		for i := range program {
			program[i] = byte(rng.Uint32())
		}
		runProgram(t, p, program, 500)
	})
}
