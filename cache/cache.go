package cache

import (
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bigpile/bigpile/pile"
	"github.com/bigpile/bigpile/serializer"
)

// A Cache is a set of named tables in one pile. All methods may be called from any number of
// goroutines at the same time, also from inside callbacks.
type Cache struct {
	p       *pile.Pile
	opt     Options
	types   *serializer.Registry
	clock   clock
	sweeper *sweeper

	mu      sync.Mutex // guards tables and reserved
	tables  map[string]table
	cores   atomic.Pointer[[]*core] // of the tables, for the sweeper
	closed  atomic.Bool
	cleanup runtime.Cleanup
}

// table is a Table of whatever types.
type table interface {
	base() *core
	typeNames() string
	foldID() string
}

// New returns a cache whose tables live in p. Several caches may live in one pile. It fails when an
// option is out of bounds or the pile is closed. Close it when it is no longer used.
func New(p *pile.Pile, o Options) (*Cache, error) {
	if p == nil {
		return nil, fmt.Errorf("%w: no pile", ErrOption)
	}
	if err := o.Defaults.check("*"); err != nil {
		return nil, err
	}
	for name, c := range o.Tables {
		if c = c.over(o.Defaults); name == "" {
			return nil, fmt.Errorf("%w: a table without a name in Tables", ErrOption)
		} else if err := c.check(name); err != nil {
			return nil, err
		}
	}
	e, err := p.Pin(0)
	if err != nil {
		return nil, fmt.Errorf("cache: new: %w", err)
	}
	e.Unpin()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Cache{p: p, opt: o, types: p.Types(), sweeper: newSweeper(o.Logger)}
	c.clock.init(nil)
	c.tables = make(map[string]table)
	c.cores.Store(new([]*core))
	c.cleanup = runtime.AddCleanup(c, (*sweeper).abandon, c.sweeper)
	return c, nil
}

// Pile returns the pile in which the tables live.
func (c *Cache) Pile() *pile.Pile { return c.p }

// Tables returns the names of the tables, sorted.
func (c *Cache) Tables() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := make([]string, 0, len(c.tables))
	for name := range c.tables {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Len returns how many entries there are in all tables.
func (c *Cache) Len() int {
	n := 0
	for _, t := range *c.cores.Load() {
		n += t.liveLen()
	}
	return n
}

// PurgeAll removes every entry of every table, telling OnRemove.
func (c *Cache) PurgeAll() {
	for _, t := range *c.cores.Load() {
		t.purge(true)
	}
}

// Drop removes the table with all its entries, telling OnRemove. Calls on it fail with ErrDropped
// from then on; the name is free for another table. It fails with ErrNotFound when there is none.
func (c *Cache) Drop(name string) error {
	c.mu.Lock()
	t, ok := c.tables[name]
	if !ok {
		c.mu.Unlock()
		return fmt.Errorf("%w: table %q", ErrNotFound, name)
	}
	delete(c.tables, name)
	c.listLocked()
	c.mu.Unlock()
	t.base().drop(true)
	return nil
}

// listLocked makes the list of tables for those who take no lock.
func (c *Cache) listLocked() {
	list := make([]*core, 0, len(c.tables))
	for _, t := range c.tables {
		list = append(list, t.base())
	}
	c.cores.Store(&list)
}

// Close ends the cache. With OwnPile it closes the pile; else it gives everything that its tables hold
// back to the pile, which takes time for each entry. OnRemove is not called. Calls on the tables fail
// from then on. Close may be called inside of a callback; a second call does nothing.
func (c *Cache) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	c.cleanup.Stop()
	c.sweeper.stop()
	c.mu.Lock()
	tables := c.tables
	c.tables = make(map[string]table)
	c.listLocked()
	c.mu.Unlock()
	for _, t := range tables {
		if c.opt.OwnPile {
			t.base().forget()
		} else {
			t.base().drop(false)
		}
	}
	if c.opt.OwnPile {
		return c.p.Close()
	}
	return nil
}
