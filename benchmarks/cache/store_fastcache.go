package main

import (
	"fmt"

	"github.com/VictoriaMetrics/fastcache"
)

type fastcacheStore struct{ cache *fastcache.Cache }

const (
	fastcacheBuckets = 512
	fastcacheChunk   = 64 << 10
	fastcacheEntry   = 4 + keySize + valueSize // lengths before it
)

// openFastcache gives it room for everything that will be written: it keeps overwritten entries until
// its ring comes round, and drops live ones then. It takes the memory only as it fills, and has no
// option to size its index.
func openFastcache(s sizing) (opened, error) {
	size := withSlack(s.writes, fastcacheBuckets)*fastcacheEntry + fastcacheBuckets*2*fastcacheChunk
	return opened{&fastcacheStore{fastcache.New(size)}, fmt.Sprintf("maxBytes %d", size)}, nil
}

func (s *fastcacheStore) put(c *chunk, i int) error {
	s.cache.Set(c.keys[i][:], c.values[i][:])
	return nil
}

func (s *fastcacheStore) get(c *chunk, i int, dst []byte) ([]byte, bool) {
	return s.cache.HasGet(dst, c.keys[i][:])
}

func (s *fastcacheStore) close() {}
