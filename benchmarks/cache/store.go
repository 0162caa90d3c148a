package main

import "math"

// store is a cache under test. Its methods are called by many goroutines.
type store interface {
	// put stores value i of the chunk under key i.
	put(c *chunk, i int) error
	// get returns the value of key i, in dst where the cache can.
	get(c *chunk, i int, dst []byte) ([]byte, bool)
	close()
}

// manyGetter is a store that looks many keys up at once.
type manyGetter interface {
	getMany(c *chunk, from, to int, fn func(i int, v []byte, ok bool))
}

// manyPutter is a store that takes many entries at once.
type manyPutter interface {
	putMany(c *chunk, from, to int) error
}

// many is the keys of one call of a manyGetter or manyPutter.
const many = 64

// sizing is what a store has to be made for: to hold all entries, without eviction.
type sizing struct {
	entries  int
	presized bool
	writes   int // puts in its life, for those that keep overwritten entries for a while
}

// side is one of the things that are compared.
type side struct {
	name       string
	open       func(s sizing) (opened, error)
	texts      bool // takes keys as strings
	memoryOnly bool // takes part in the measuring of memory only
	onDemand   bool // takes part only if -only names it
}

// opened is a store and how it was configured.
type opened struct {
	store  store
	config string
}

// ours is the side that the ratios are of.
const ours = "bigpile"

func sides() []side {
	return []side{
		{name: ours, open: openBigpile},
		{name: "bigpile-own-age", open: openBigpileOwnAge, memoryOnly: true},
		{name: "bigpile-huge-pages", open: openBigpileHuge, onDemand: true},
		{name: "bigcache", open: openBigcache, texts: true},
		{name: "freecache", open: openFreecache},
		{name: "fastcache", open: openFastcache},
		{name: "map", open: openMap},
	}
}

func sideOf(name string) (side, bool) {
	for _, s := range append(sides(), side{name: bare, open: openBare}) {
		if s.name == name {
			return s, true
		}
	}
	return side{}, false
}

// withSlack returns the room for n entries that are spread over shards by a hash, so that no shard
// gets more than its share: six standard deviations above the mean.
func withSlack(n, shards int) int {
	mean := float64(n) / float64(shards)
	return int(math.Ceil((mean + 6*math.Sqrt(mean) + 1) * float64(shards)))
}
