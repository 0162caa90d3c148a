package pile_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/bigpile/bigpile/pile"
)

// Promise 2: readers see the old value or the new, whole, and never an older one than they saw before.
func TestReadersNeverSeeATornOrOlderValue(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptrs := make([]pile.PilePointer, 16)
		for i := range ptrs {
			b := stamp(uint64(i), 0, 100)
			if i%2 == 0 {
				ptrs[i] = put(t, p, b)
				continue
			}
			ptr, err := p.PutReserve(b, 1000)
			if err != nil {
				t.Fatal(err)
			}
			ptrs[i] = ptr
		}
		const updaters = 2
		var running atomic.Int32
		running.Store(updaters)
		updates := scaled(8000)
		together(t, updaters+4, func(g int, rng *rand.Rand) error {
			if g < updaters {
				defer running.Add(-1)
				for v := 1; v <= updates; v++ {
					i := rng.IntN(len(ptrs)/updaters)*updaters + g // one updater an object: versions only grow
					if err := p.UpdateBytes(ptrs[i], stamp(uint64(i), uint64(v), rng.IntN(1500))); err != nil {
						return err
					}
				}
				return nil
			}
			newest := make([]uint64, len(ptrs))
			check := func(i int, b []byte) error {
				v, err := readStamp(b, uint64(i))
				if err == nil && v < newest[i] {
					err = fmt.Errorf("object %d: version %d after %d", i, v, newest[i])
				}
				newest[i] = max(newest[i], v)
				return err
			}
			buf := make([]byte, 0, 2000)
			for running.Load() > 0 {
				if err := readSome(p, ptrs, rng, buf, check); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// readSome reads one or all of ptrs in a random way and checks what it gets.
func readSome(p *pile.Pile, ptrs []pile.PilePointer, rng *rand.Rand, buf []byte, check func(i int, b []byte) error) error {
	i := rng.IntN(len(ptrs))
	switch rng.IntN(4) {
	case 0:
		b, err := p.AppendBytes(buf[:0], ptrs[i])
		return errors.Join(err, check(i, b))
	case 1:
		s, err := p.GetString(ptrs[i])
		return errors.Join(err, check(i, []byte(s)))
	case 2:
		return p.View(ptrs[i], func(b []byte) error {
			if err := check(i, b); err != nil {
				return err
			}
			for range rng.IntN(5) {
				runtime.Gosched()
			}
			if err := check(i, b); err != nil {
				return fmt.Errorf("while a view is open: %w", err)
			}
			return nil
		})
	}
	var bad error
	err := p.GetMany(ptrs, func(i int, b []byte, err error) bool {
		bad = errors.Join(err, check(i, b))
		return bad == nil
	})
	return errors.Join(err, bad)
}

func TestUpdatesOfOneObjectByManyKeepItWhole(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptr := put(t, p, stamp(1, 0, 100))
		n := scaled(5000)
		together(t, 8, func(g int, rng *rand.Rand) error {
			for v := range n {
				if err := p.UpdateBytes(ptr, stamp(1, uint64(g*n+v), rng.IntN(600))); err != nil {
					return err
				}
				b, err := p.GetBytes(ptr)
				if err != nil {
					return err
				}
				if _, err := readStamp(b, 1); err != nil {
					return err
				}
			}
			return nil
		})
		s := p.Stats()
		if size, err := p.SizeOf(ptr); err != nil || s.Objects != 1 || s.Bytes != int64(size) || s.Links > 1 {
			t.Fatalf("one object of %d bytes (%v), but Stats: %+v", size, err, s)
		}
	})
}

// Of many who delete one object exactly one succeeds, whoever updates it meanwhile.
func TestOneObjectIsDeletedOnceByMany(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptrs := make([]pile.PilePointer, scaled(3000))
		for i := range ptrs {
			ptrs[i] = put(t, p, stamp(uint64(i), 0, 50))
		}
		deleted := make([]atomic.Int32, len(ptrs))
		together(t, 6, func(g int, rng *rand.Rand) error {
			for i, ptr := range ptrs {
				var err error
				if g < 4 {
					if err = p.Delete(ptr); err == nil {
						deleted[i].Add(1)
					}
				} else {
					err = p.UpdateBytes(ptr, stamp(uint64(i), 1, rng.IntN(500)))
				}
				if err != nil && !errors.Is(err, pile.ErrStalePointer) {
					return err
				}
			}
			return nil
		})
		for i := range deleted {
			if n := deleted[i].Load(); n != 1 {
				t.Fatalf("object %d was deleted %d times", i, n)
			}
		}
		if s := p.Stats(); s.Objects != 0 || s.Bytes != 0 || s.Links != 0 {
			t.Fatalf("left over: %+v", s)
		}
	})
}

// churned is an object of the churn: readers may find it dead, but never find another in its place.
type churned struct {
	ptr   pile.PilePointer
	owner uint64
}

// churn lets 2 goroutines replace objects in a table, while 3 read them through handles that may be stale at any
// moment, and one compacts when told to.
func churn(t *testing.T, p *pile.Pile, rounds int, sizes []int, compact bool) {
	t.Helper()
	table := make([]atomic.Pointer[churned], 200)
	var owners atomic.Uint64
	var writing atomic.Int32
	writing.Store(2)
	replace := func(i int, rng *rand.Rand) error {
		n := &churned{owner: owners.Add(1)}
		var err error
		if n.ptr, err = p.PutBytes(stamp(n.owner, 0, sizes[rng.IntN(len(sizes))])); err != nil {
			return err
		}
		if old := table[i].Swap(n); old != nil {
			return p.Delete(old.ptr)
		}
		return nil
	}
	together(t, 6, func(g int, rng *rand.Rand) error {
		if g < 2 {
			defer writing.Add(-1)
			for range rounds {
				if err := replace(rng.IntN(len(table)), rng); err != nil {
					return err
				}
			}
			return nil
		}
		buf := make([]byte, 0, 8000)
		for writing.Load() > 0 {
			c := table[rng.IntN(len(table))].Load()
			if c == nil {
				runtime.Gosched()
				continue
			}
			var err error
			switch {
			case g == 5 && compact:
				_, err = p.Compact(context.Background(), nil)
				runtime.Gosched()
			case g == 4:
				err = p.UpdateBytes(c.ptr, stamp(c.owner, 1, sizes[rng.IntN(len(sizes))]))
			case g == 3:
				err = p.View(c.ptr, func(b []byte) error {
					for range 1 + rng.IntN(4) {
						if _, err := readStamp(b, c.owner); err != nil {
							return err
						}
						runtime.Gosched()
					}
					return nil
				})
			default:
				var b []byte
				if b, err = p.AppendBytes(buf[:0], c.ptr); err == nil {
					_, err = readStamp(b, c.owner)
				}
			}
			if err != nil && !errors.Is(err, pile.ErrStalePointer) {
				return err
			}
		}
		return nil
	})
	for i := range table {
		if c := table[i].Load(); c != nil {
			if err := p.Delete(c.ptr); err != nil {
				t.Fatal(err)
			}
		}
	}
	if s := p.Stats(); s.Objects != 0 || s.Bytes != 0 || s.Links != 0 {
		t.Fatalf("left over: %+v", s)
	}
}
