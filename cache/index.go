package cache

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/bigpile/bigpile/pile"
)

// The index of a table finds an entry by the hash of its key.
//
//	hash   | shard 0…12 | filed 21                                       | not used |
//	                    | segment 0…13 | place of the home bucket | tag   |
//
// The first bits choose a shard, which has a lock and a directory. The next 21 bits are filed in the
// cell. The directory maps their first bits to a segment: a block of buckets that holds a contiguous
// range of hashes. Within it the remaining bits, as a fraction, are the place of the home bucket, so
// that buckets are in the order of the hash, whatever their number. So everything that growth needs
// to know is in the cells: it reads no key.
//
// A segment grows in quarter steps, 4 → 5 → 6 → 7 → 8, and what would grow beyond 16 KiB is split in
// two, as in extendible hashing (Fagin et al., 1979). One step moves at most some 1,600 cells, under
// the lock of its shard: there is no larger rebuild, and so no incremental one with
// writers in two places.
//
// Readers take no lock. An entry never moves within a block; a replace stores into the same cell; a
// block that was left behind does not change any more, and is freed after a grace period. A reader in
// such a block sees the entries at the time it was left, which was after the reader began.

// A cell is one entry of a bucket:
//
//	 63   62 61 60         40 39                           0
//	+-------+--+-------------+------------------------------+
//	| use 2 |q1| filed 21    | location 40                  |
//	+-------+--+-------------+------------------------------+
//
// Use and q (queue) are for tables with limits. Zero is an empty cell. A tombstone has location 0: an
// entry was removed while a probe may have to pass.
type cell uint64

const (
	filedBits  = 21
	filedShift = pile.LocationBits
	filedMask  = 1<<filedBits - 1

	emptyCell cell = 0
	tombstone cell = 1 << 63

	bucketCells = pile.LineSize / 8
)

func newCell(filed uint32, l pile.Location) cell {
	return cell(filed)<<filedShift | cell(l)
}

func (c cell) location() pile.Location { return pile.Location(c & (1<<pile.LocationBits - 1)) }
func (c cell) filed() uint32           { return uint32(c>>filedShift) & filedMask }

// isEntry reports whether the cell names an entry.
func (c cell) isEntry() bool { return c&(1<<pile.LocationBits-1) != 0 }

// A segmentWord says where a segment is and what it covers; zero is a segment without a block.
//
//	 63            26 25         6 5         0
//	+----------------+------------+-----------+
//	| block 38       | buckets 20 | depth 6   |
//	+----------------+------------+-----------+
type segmentWord uint64

const (
	depthBits   = 6
	bucketsBits = 20
	bucketsMask = 1<<bucketsBits - 1
)

const _ = uint(64 - pile.BlockAddressBits - bucketsBits - depthBits)

func newSegmentWord(a pile.BlockAddress, buckets, depth uint32) segmentWord {
	return segmentWord(a)<<(bucketsBits+depthBits) | segmentWord(buckets)<<depthBits | segmentWord(depth)
}

func (w segmentWord) block() pile.BlockAddress {
	return pile.BlockAddress(w >> (bucketsBits + depthBits))
}
func (w segmentWord) buckets() uint32 { return uint32(w>>depthBits) & bucketsMask }
func (w segmentWord) depth() uint32   { return uint32(w) & (1<<depthBits - 1) }

// home returns the home bucket of a hash in the segment.
func (w segmentWord) home(filed uint32) uint32 {
	rest := uint64(filed) << w.depth() & filedMask
	return uint32(rest * uint64(w.buckets()) >> filedBits)
}

// cells returns how many cells the segment has.
func (w segmentWord) cells() int { return int(w.buckets()) * bucketCells }

// A directory maps the first depth bits of a filed hash to segments. A segment of lesser depth has
// several adjacent entries. It is replaced when it grows; words are changed under the shard's lock.
type directory struct {
	depth uint32
	words []atomic.Uint64 // segmentWord
	infos []segmentInfo   // of a segment at its first entry; guarded by the shard's lock
}

// segmentInfo is what a shard remembers of a segment.
type segmentInfo struct {
	used    int32 // entries
	tombs   int32 // tombstones
	due     int64 // no entry expires before; milliseconds of the cache's clock
	fresh   int64 // no entry that was put since the last sweep began expires before
	growing bool  // somebody has a new block for it
}

const never = math.MaxInt64

func newDirectory(depth uint32) *directory {
	d := &directory{depth: depth, words: make([]atomic.Uint64, 1<<depth), infos: make([]segmentInfo, 1<<depth)}
	for i := range d.infos {
		d.infos[i].due, d.infos[i].fresh = never, never
	}
	return d
}

func (d *directory) load(filed uint32) segmentWord {
	return segmentWord(d.words[filed>>(filedBits-d.depth)&uint32(len(d.words)-1)].Load())
}

// first returns the first entry of the segment of a filed hash, and how many entries it has.
func (d *directory) first(filed uint32) (i, n uint32) {
	i = filed >> (filedBits - d.depth)
	n = 1 << (d.depth - d.load(filed).depth())
	return i &^ (n - 1), n
}

// info returns what is remembered of the segment of a filed hash.
func (d *directory) info(filed uint32) *segmentInfo {
	i, _ := d.first(filed)
	return &d.infos[i]
}

// set makes w the word of all its entries, beginning with i, of which there are n.
func (d *directory) set(i, n uint32, w segmentWord) {
	for k := i; k < i+n; k++ {
		d.words[k].Store(uint64(w))
	}
}

// doubled returns a directory of twice the depth for the same segments.
func (d *directory) doubled() *directory {
	next := newDirectory(d.depth + 1)
	for i := range d.words {
		w := d.words[i].Load()
		next.words[2*i].Store(w)
		next.words[2*i+1].Store(w)
		next.infos[2*i] = d.infos[i]
	}
	return next
}

// A shard is a part of the index with its own lock. No shard memory holds pointers but the one to the
// directory, so that the collector has next to nothing to look at.
type shard struct {
	mu    sync.Mutex // guards the index below the directory, the entries' meta words, and counts
	dir   atomic.Pointer[directory]
	due   atomic.Int64 // no entry expires before
	count atomic.Int64 // entries; written under mu
	bytes atomic.Int64 // of payload; written under mu
	gone  bool         // the table was dropped
	tally tally        // guarded by mu
	sweep sync.Mutex   // one sweep at a time; taken before mu
	_     [24]byte
}

// tally counts what happened in a shard.
type tally struct {
	inserted, replaced, removed, expired, grown, shrunk int64
}

// A place is where a hash belongs.
type place struct {
	shard *shard
	filed uint32
}

func (t *core) place(h uint64) place {
	return place{&t.shards[h>>t.shardShift], uint32(h>>(t.shardShift-filedBits)) & filedMask}
}

// lookup sets f to the entry with the key, and reports whether there is one. It takes no lock; the
// caller holds a pin.
func (t *core) lookup(f *found, at place, key []byte) bool {
	w := at.shard.dir.Load().load(at.filed)
	if w == 0 {
		return false
	}
	lines := t.p.Lines(w.block())
	n := w.buckets()
	b := w.home(at.filed)
	for range n {
		open := false
		for i := int(b) * bucketCells; i < int(b+1)*bucketCells; i++ {
			c := cell(lines.Load(i))
			if c == emptyCell {
				open = true
				continue
			}
			if c.filed() != at.filed || !c.isEntry() {
				continue
			}
			if t.match(f, c.location(), key) {
				f.cell, f.index = c, i
				return true
			}
		}
		if open {
			return false
		}
		if b++; b == n {
			b = 0
		}
	}
	return false
}
