package main

import (
	"encoding/binary"
	"fmt"
	"sync"
)

// mapShards is how many maps share the entries.
const mapShards = 256

// mapStore is what one writes without a library: Go maps of strings and byte slices, a lock each.
type mapStore struct {
	shards [mapShards]struct {
		mu   sync.RWMutex
		m    map[string][]byte // guarded by mu
		rest [96]byte          // two of them are not on one cache line
	}
}

func openMap(s sizing) (opened, error) {
	room := 0
	if s.presized {
		room = s.entries / mapShards
	}
	t := &mapStore{}
	for i := range t.shards {
		t.shards[i].m = make(map[string][]byte, room)
	}
	return opened{t, fmt.Sprintf("%d × map[string][]byte made for %d, sync.RWMutex", mapShards, room)}, nil
}

// shardOf may use any bits of the key: they are random.
func shardOf(k *[keySize]byte) int { return int(binary.LittleEndian.Uint64(k[:]) % mapShards) }

func (s *mapStore) put(c *chunk, i int) error {
	k := &c.keys[i]
	v := append([]byte(nil), c.values[i][:]...)
	sh := &s.shards[shardOf(k)]
	sh.mu.Lock()
	sh.m[string(k[:])] = v
	sh.mu.Unlock()
	return nil
}

func (s *mapStore) get(c *chunk, i int, dst []byte) ([]byte, bool) {
	k := &c.keys[i]
	sh := &s.shards[shardOf(k)]
	sh.mu.RLock()
	v, ok := sh.m[string(k[:])]
	dst = append(dst, v...)
	sh.mu.RUnlock()
	return dst, ok
}

func (s *mapStore) close() {}
