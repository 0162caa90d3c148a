package main

import (
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
)

// What is put: keys of 16 bytes that look random, and values of 64 that say whose they are.
const (
	keySize   = 16
	valueSize = 64
	chunkSize = 256 // keys made at a time, cheap to make and within the nearest processor cache
)

// mix is a bijection on 64-bit numbers that leaves no pattern: no two indexes have the same key.
func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return x ^ x>>32
}

// putKey writes the key of an index.
func putKey(k *[keySize]byte, index uint64) {
	low := mix(index + 1)
	binary.LittleEndian.PutUint64(k[:], low)
	binary.LittleEndian.PutUint64(k[8:], mix(low^0xa0761d6478bd642f))
}

// words returns the words that alternate in a value behind the key itself. They depend on the key and
// on the generation, which grows when everything is overwritten: an old value is a wrong one.
func words(k *[keySize]byte, generation uint64) (a, b uint64) {
	a = binary.LittleEndian.Uint64(k[:]) + generation*0x9e3779b97f4a7c15
	return a, a ^ binary.LittleEndian.Uint64(k[8:])
}

// putValue writes the value of a key.
func putValue(v []byte, k *[keySize]byte, generation uint64) {
	copy(v, k[:])
	a, b := words(k, generation)
	for at := keySize; at < valueSize; at += 16 {
		binary.LittleEndian.PutUint64(v[at:], a)
		binary.LittleEndian.PutUint64(v[at+8:], b)
	}
}

// isValue reports whether v is the value of k, every byte of it.
func isValue(v []byte, k *[keySize]byte, generation uint64) bool {
	if len(v) != valueSize || [keySize]byte(v[:keySize]) != *k {
		return false
	}
	a, b := words(k, generation)
	for at := keySize; at < valueSize; at += 16 {
		if binary.LittleEndian.Uint64(v[at:]) != a || binary.LittleEndian.Uint64(v[at+8:]) != b {
			return false
		}
	}
	return true
}

// chunk is the keys, and perhaps the values, of the next operations.
type chunk struct {
	count   int
	indexes [chunkSize]uint32
	isPut   [chunkSize]bool // of a mixed workload
	keys    [chunkSize][keySize]byte
	values  [chunkSize][valueSize]byte
	texts   [chunkSize]string // the keys, if the store takes strings
	bytes   [chunkSize * keySize]byte
}

// what says what a chunk is made for.
type what struct {
	generation uint64
	values     bool // make values, too
	texts      bool // make keys as strings; they are cut from one, an allocation a chunk
}

// make makes keys and values of the indexes that are set.
func (c *chunk) make(w what) {
	for i := range c.count {
		putKey(&c.keys[i], uint64(c.indexes[i]))
		if w.values {
			putValue(c.values[i][:], &c.keys[i], w.generation)
		}
	}
	if !w.texts {
		return
	}
	for i := range c.count {
		copy(c.bytes[i*keySize:], c.keys[i][:])
	}
	all := string(c.bytes[:c.count*keySize])
	for i := range c.count {
		c.texts[i] = all[i*keySize : (i+1)*keySize]
	}
}

// verdict counts what was read.
type verdict struct{ checked, wrong, lost atomic.Int64 }

// tally is the part of one goroutine.
type tally struct{ checked, wrong, lost int64 }

func (t *tally) judge(v []byte, ok bool, k *[keySize]byte, generation uint64) {
	t.checked++
	switch {
	case !ok:
		t.lost++
	case !isValue(v, k, generation):
		t.wrong++
	}
}

func (v *verdict) add(t *tally) {
	v.checked.Add(t.checked)
	v.wrong.Add(t.wrong)
	v.lost.Add(t.lost)
}

// An order says which index comes at which place. It is made before the clock runs, where it costs.
type order func(place int) uint32

// inOrder is the order of filling. The keys are random in any case.
func inOrder(place int) uint32 { return uint32(place) }

// scattered goes over all n indexes once, in an order that is not that of filling, so that nobody finds
// the entries one behind the other.
func scattered(n int) order {
	step := uint64(0x9e3779b1) // a prime, and so without a divisor in common with a smaller n
	return func(place int) uint32 { return uint32(uint64(place) * step % uint64(n)) }
}

// uniform picks indexes at random.
func uniform(n int, seed uint64) order {
	return func(place int) uint32 { return uint32(mix(seed^mix(uint64(place))) % uint64(n)) }
}

// The skew of the zipf workload: of 10 million keys the most popular one is read in 1 of 140
// operations.
const (
	zipfS = 1.001
	zipfV = 10
)

// zipf picks indexes, some much more often than others.
func zipf(n, count int, seed uint64) order {
	picks := make([]uint32, count)
	z := rand.NewZipf(rand.New(rand.NewPCG(seed, 1)), zipfS, zipfV, uint64(n-1))
	for i := range picks {
		picks[i] = uint32(z.Uint64())
	}
	return func(place int) uint32 { return picks[place] }
}
