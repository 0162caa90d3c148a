// Package cache keeps named tables of keys and values in a pile, out of sight of the garbage collector:
// the values, the keys, and the index.
//
//	p, err := pile.New(pile.Options{})
//	c, err := cache.New(p, cache.Options{OwnPile: true})
//	sessions, err := cache.OpenTable(c, "sessions", cache.TableOptions[string, []byte]{})
//	_, err = sessions.PutWith(id, data, cache.PutOptions{MaxAge: time.Hour})
//	data, ok := sessions.Get(id)
//
// # Guarantees
//
// A Put stores or fails; nothing is dropped in silence. A read sees an old value or a new one, and
// takes no lock. What has expired is never seen again, whatever the wall clock does. Operations on one
// key are linearizable. Callbacks run without a lock, may do anything, Close included, and may panic
// or exit their goroutine. A table grows and shrinks in small steps; no call waits for a rehash.
//
// # Terms
//
// Table, entry, shard, segment of an index, bucket, cell, tombstone: one term for one thing, in
// docs/GLOSSARY.md. How to use it is told by task in docs/CACHE.md.
package cache
