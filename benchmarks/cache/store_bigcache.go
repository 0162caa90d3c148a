package main

import (
	"context"
	"fmt"
	"time"

	"github.com/allegro/bigcache/v3"
)

type bigcacheStore struct{ cache *bigcache.BigCache }

const (
	bigcacheShards = 1024 // its default
	// bigcacheEntry is what it takes for an entry: timestamp, hash and length of the key before it,
	// and one byte of its queue.
	bigcacheEntry = 8 + 8 + 2 + keySize + valueSize + 1
)

// openBigcache follows its README: the entries expected in MaxEntriesInWindow so that it does not
// allocate again, no limit of size, a window longer than the run, nothing logged.
func openBigcache(s sizing) (opened, error) {
	c := bigcache.DefaultConfig(age)
	c.CleanWindow = 5 * time.Minute
	c.Shards, c.Verbose = bigcacheShards, false
	c.MaxEntriesInWindow, c.MaxEntrySize = 1, bigcacheEntry
	if s.presized {
		c.MaxEntriesInWindow = withSlack(s.entries, bigcacheShards)
	}
	cache, err := bigcache.New(context.Background(), c)
	return opened{&bigcacheStore{cache}, fmt.Sprintf(
		"Shards %d, MaxEntriesInWindow %d, MaxEntrySize %d, HardMaxCacheSize 0, LifeWindow %v, CleanWindow %v",
		c.Shards, c.MaxEntriesInWindow, c.MaxEntrySize, c.LifeWindow, c.CleanWindow)}, err
}

func (s *bigcacheStore) put(c *chunk, i int) error { return s.cache.Set(c.texts[i], c.values[i][:]) }

// get cannot use dst: bigcache allocates the copy that it returns.
func (s *bigcacheStore) get(c *chunk, i int, _ []byte) ([]byte, bool) {
	v, err := s.cache.Get(c.texts[i])
	return v, err == nil
}

func (s *bigcacheStore) close() {
	_ = s.cache.Close() // the process ends
}
