package main

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// bare is the name of the loop that only touches fresh pages.
const bare = "bare loop"

// bareStore copies entries one behind the other into memory just mapped, which faults a page at a time:
// what no cache that grows can do without. Nothing can be found in it.
type bareStore struct {
	memory []byte
	next   atomic.Int64
}

// bareEntry is the bytes of an entry in bare memory: those of key and value, and what an index takes.
const bareEntry = 112

func openBare(s sizing) (opened, error) {
	memory, err := mapMemory(int64(s.entries+chunkSize) * bareEntry)
	return opened{&bareStore{memory: memory}, fmt.Sprintf("%d bytes an entry, mapped fresh, a fault a page", bareEntry)}, err
}

func (s *bareStore) put(c *chunk, i int) error {
	at := s.next.Add(bareEntry) - bareEntry
	if at+bareEntry > int64(len(s.memory)) {
		return errors.New("bare memory is full")
	}
	b := s.memory[at : at+bareEntry]
	copy(b, c.keys[i][:])
	copy(b[keySize:], c.values[i][:])
	copy(b[keySize+valueSize:], c.keys[i][:])
	return nil
}

func (s *bareStore) get(*chunk, int, []byte) ([]byte, bool) { return nil, false }

func (s *bareStore) close() {}
