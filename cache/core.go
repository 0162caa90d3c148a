package cache

import (
	"math/bits"
	"math/rand/v2"
	"runtime"
	"sync/atomic"

	"github.com/bigpile/bigpile/pile"
)

// core is a table without its types: keys and values are bytes.
type core struct {
	c     *Cache
	p     *pile.Pile
	clock *clock
	name  string
	seed  seed

	config TableConfig // what is in effect

	age        int64 // nanoseconds an entry lives unless it says otherwise; never
	maxEntries int64 // never: no limit
	maxBytes   int64

	shards     []shard
	shardShift uint   // the shard is in the bits of a hash above
	depthMin   uint32 // segments of lesser depth are not merged
	bucketsMin uint32 // nor smaller than this

	indexBytes atomic.Int64
	entries    atomic.Int64 // kept only when there is a limit
	payload    atomic.Int64 // slots, kept only when there is a limit

	// removed hears of every removal when the table has OnRemove; else it is nil.
	removed func(notice)

	metrics *metrics // nil unless DetailedMetrics
	watches watches

	hashMask uint64 // all ones; tests make all hashes equal with 0
}

// The shards of a table.
const (
	shardsMin     = 64
	shardsMax     = 4096
	shardsDefault = 256     // of a table that says nothing about its size
	shardEntries  = 1 << 16 // entries of a shard that InitialCapacity aims at
)

// shardCount returns a power of two: enough locks for the processors, and enough shards that 21 bits
// file the entries of one.
func shardCount(capacity int) int {
	n := shardsDefault
	for n < 4*runtime.GOMAXPROCS(0) && n < shardsMax || n < capacity/shardEntries && n < shardsMax {
		n *= 2
	}
	return n
}

func newCore(c *Cache, name string, o *TableConfig) *core {
	n := shardCount(max(o.InitialCapacity, o.MinCapacity))
	t := &core{
		c: c, p: c.p, clock: &c.clock, name: name,
		seed:       seed{rand.Uint64(), rand.Uint64()},
		age:        never,
		maxEntries: never,
		maxBytes:   never,
		shards:     make([]shard, n),
		shardShift: uint(64 - bits.Len(uint(n-1))),
		bucketsMin: 1,
		hashMask:   ^uint64(0),
	}
	if o.DefaultMaxAge > 0 {
		t.age = int64(o.DefaultMaxAge)
	}
	if o.MaxEntries > 0 {
		t.maxEntries = int64(o.MaxEntries)
	}
	if o.MaxBytes > 0 {
		t.maxBytes = o.MaxBytes
	}
	t.config = o.effective()
	if o.DetailedMetrics {
		t.metrics = newMetrics()
	}
	for i := range t.shards {
		t.shards[i].dir.Store(newDirectory(0))
		t.shards[i].due.Store(never)
	}
	return t
}

// presize gives every shard segments for its part of capacity entries, and keeps them from shrinking
// below their part of floor.
func (t *core) presize(capacity, floor int) error {
	if capacity < len(t.shards) {
		return nil
	}
	// A share that is a little larger than even: shares differ by their square root.
	part := capacity/len(t.shards) + 1
	depth, buckets := uint32(0), sizeFor(part+part/32)
	for buckets > segmentMax*3/4 && depth < depthMax {
		depth++
		part = (part + 1) / 2
		buckets = sizeFor(part + part/32)
	}
	if floor > 0 {
		t.depthMin, t.bucketsMin = depth, max(1, sizeFor(floor/(len(t.shards)<<depth)))
	}
	for i := range t.shards {
		if err := t.presizeShard(&t.shards[i], depth, buckets); err != nil {
			return err
		}
	}
	return nil
}

func (t *core) presizeShard(sh *shard, depth, buckets uint32) error {
	d := newDirectory(depth)
	sh.dir.Store(d)
	for i := range d.words {
		a, err := t.p.NewBlock(int(buckets))
		if err != nil {
			return err
		}
		d.words[i].Store(uint64(newSegmentWord(a, buckets, depth)))
		t.indexBytes.Add(int64(pile.BlockSlotSize(int(buckets))))
	}
	return nil
}

// hash returns the hash of a key.
func (t *core) hash(key []byte) uint64 {
	return t.seed.hash(key) & t.hashMask
}

// len returns how many entries there are, expired ones that were not swept included.
func (t *core) len() (n int64) {
	for i := range t.shards {
		n += t.shards[i].count.Load()
	}
	return n
}
