package main

import (
	"fmt"

	"github.com/coocood/freecache"
)

type freecacheStore struct{ cache *freecache.Cache }

const (
	freecacheSegments = 256
	freecacheEntry    = 24 + keySize + valueSize // its header is 24 bytes
)

// openFreecache gives it the bytes that the entries take. They are preallocated in any case, so
// "growing" is its index only.
func openFreecache(s sizing) (opened, error) {
	size := withSlack(s.entries, freecacheSegments) * freecacheEntry
	return opened{&freecacheStore{freecache.NewCache(size)}, fmt.Sprintf("size %d, expireSeconds 0", size)}, nil
}

func (s *freecacheStore) put(c *chunk, i int) error {
	return s.cache.Set(c.keys[i][:], c.values[i][:], 0)
}

func (s *freecacheStore) get(c *chunk, i int, dst []byte) ([]byte, bool) {
	v, err := s.cache.GetWithBuf(c.keys[i][:], dst[:cap(dst)])
	return v, err == nil
}

func (s *freecacheStore) close() {}
