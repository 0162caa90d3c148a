package main

import (
	"fmt"
	"time"

	"github.com/bigpile/bigpile/cache"
	"github.com/bigpile/bigpile/pile"
)

// bigpileStore is a table of this library.
type bigpileStore struct {
	cache   *cache.Cache
	table   *cache.Table[[keySize]byte, []byte]
	options cache.PutOptions
}

// age is longer than any run: nothing is due.
const age = 24 * time.Hour

func openBigpile(s sizing) (opened, error) { return openTable(s, cache.PutOptions{}, pile.Options{}) }

// openBigpileHuge asks for huge pages from the start.
func openBigpileHuge(s sizing) (opened, error) {
	return openTable(s, cache.PutOptions{}, pile.Options{HugePages: pile.HugeAlways})
}

// openBigpileOwnAge makes a table whose entries each have an age and a priority of their own.
func openBigpileOwnAge(s sizing) (opened, error) {
	return openTable(s, cache.PutOptions{MaxAge: age / 2, Priority: 3}, pile.Options{})
}

func openTable(s sizing, put cache.PutOptions, o pile.Options) (opened, error) {
	p, err := pile.New(o)
	if err != nil {
		return opened{}, err
	}
	c, err := cache.New(p, cache.Options{OwnPile: true})
	if err != nil {
		return opened{}, err
	}
	table := cache.TableOptions[[keySize]byte, []byte]{}
	table.DefaultMaxAge = age
	if s.presized {
		table.InitialCapacity = s.entries
	}
	t, err := cache.OpenTable(c, "bench", table)
	if err != nil {
		return opened{}, err
	}
	config := fmt.Sprintf("Table[[16]byte, []byte], durable, InitialCapacity %d, DefaultMaxAge %v, %v",
		table.InitialCapacity, age, o.HugePages)
	if put != (cache.PutOptions{}) {
		config += fmt.Sprintf(", each entry MaxAge %v and Priority %d", put.MaxAge, put.Priority)
	}
	return opened{&bigpileStore{c, t, put}, config}, nil
}

func (s *bigpileStore) put(c *chunk, i int) error {
	_, err := s.table.PutWith(c.keys[i], c.values[i][:], s.options)
	return err
}

func (s *bigpileStore) get(c *chunk, i int, dst []byte) ([]byte, bool) {
	return s.table.AppendValue(dst, c.keys[i])
}

func (s *bigpileStore) getMany(c *chunk, from, to int, fn func(i int, v []byte, ok bool)) {
	s.table.GetMany(c.keys[from:to], func(i int, v []byte, ok bool) bool {
		fn(from+i, v, ok)
		return true
	})
}

func (s *bigpileStore) putMany(c *chunk, from, to int) error {
	var values [many][]byte
	for i := from; i < to; i++ {
		values[i-from] = c.values[i][:]
	}
	_, err := s.table.PutMany(c.keys[from:to], values[:to-from], s.options)
	return err
}

func (s *bigpileStore) close() {
	_ = s.cache.Close() // the process ends
}
