package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/bigpile/bigpile/cache"
)

// workloadCache is the name of the workload, which has rows of its own.
const workloadCache = "cache"

// tableOperations are the names of these rows, in their order.
func tableOperations() []string {
	return []string{"fill-presized", "fill", "get", "get-batch", "overwrite", "overwrite-batch", "zipf",
		"read-back", "delete"}
}

// tables is the workload cache: a table of package cache with keys of 16 bytes,
// that is filled, read, overwritten and emptied.
type tables struct {
	b      *bench
	source pattern

	cache   *cache.Cache
	table   *table
	resting int64 // the resident memory before the table was made

	generation uint64 // of the values: grows when all are overwritten
}

type table = cache.Table[tableKey, []byte]

const keySize = 16

type tableKey [keySize]byte

// What the cache workload takes when the flags leave it open.
const (
	tableValueSize   = 64
	tableSizeMax     = 4 << 10
	tableEntries     = 10_000_000 // of a default run
	tableIndexBytes  = 12         // an entry, at the least load of the index
	tableHeaderBytes = 16         // of a slot, and what is known about the entry
	tableAge         = 24 * time.Hour
)

// newTables opens the workload.
func newTables(c *config) (workload, error) {
	if c.input != "" {
		return nil, errors.New("-in and -workload cache: the values of a cache are made by number")
	}
	if c.history != historyFresh {
		return nil, errors.New("-history recycled: has no meaning with -workload cache")
	}
	if !c.sizeSet {
		c.size = tableValueSize
	}
	if c.size > tableSizeMax {
		return nil, &flagError{"size", formatSize(int64(c.size)), "at most 4 KiB with -workload cache"}
	}
	return &tables{source: newPattern(c.seed, false)}, nil
}

// plan makes room for two tables: two are alive while fills are compared.
func (w *tables) plan(c *config, allowed int64) (plan, error) {
	entry := float64(stride(c.size+keySize)+tableIndexBytes+tableHeaderBytes) * 1.15
	p := plan{n: c.n, allowed: allowed, stride: entry, meanSize: float64(c.size)}
	fits := int64((float64(allowed)/2 - programBytes) / entry)
	if p.n == 0 {
		p.n = roundDown(min(tableEntries, fits))
	}
	p.need = int64(float64(p.n)*entry) + programBytes
	if p.n < valuesMin || p.need > allowed {
		return p, fmt.Errorf("-n %d: needs %s, but this process may use %s: free memory, or take -n %d or less",
			p.n, formatSize(p.need), formatSize(allowed), max(0, roundDown(fits)))
	}
	if bits.UintSize == 32 && p.need > 1<<30 {
		return p, fmt.Errorf("-n %d: more than a 32-bit program can hold", p.n)
	}
	p.settle = int64(float64(p.n) * entry)
	p.fillRounds = c.rounds + 1
	p.roundPuts = max(1, p.n/int64(p.fillRounds))
	p.readOps = min(readOpsWanted, p.n)
	p.notes = append(p.notes,
		fmt.Sprintf("keys of %d bytes that look random; tables with DefaultMaxAge %v; the table is that of the last growing fill",
			keySize, tableAge))
	return p, nil
}

func (w *tables) steps(b *bench) []step {
	w.b = b
	return []step{
		{"settle", func() error { return settle(b) }},
		{"fill-presized", w.fillPresized},
		{"fill", w.fillGrowing},
		{"collect", w.collect},
		{"reads", w.reads},
		{"overwrite", w.overwrite},
		{"zipf", w.zipf},
		{"read back", w.readBack},
		{"remove", w.remove},
	}
}

func (w *tables) close() {
	// All of this is given back by the end of the process in any case.
	_ = w.closeTable()
}

// openTable makes an empty table in a pile of its own.
func (w *tables) openTable(capacity int64) error {
	p, err := w.b.openPile()
	if err != nil {
		return err
	}
	if w.cache, err = cache.New(p, cache.Options{OwnPile: true}); err != nil {
		return errors.Join(err, closePile(p))
	}
	o := cache.TableOptions[tableKey, []byte]{}
	o.DefaultMaxAge, o.InitialCapacity = tableAge, int(capacity)
	w.table, err = cache.OpenTable(w.cache, "bench", o)
	return err
}

// closeTable waits until the memory is unmapped, so that the next step has it.
func (w *tables) closeTable() error {
	if w.cache == nil {
		return nil
	}
	p := w.cache.Pile()
	err := w.cache.Close()
	w.cache, w.table = nil, nil
	<-p.Done()
	return err
}

// key writes the key of entry i.
func (w *tables) key(k *tableKey, i int64) {
	first, second := w.source.words(uint64(i))
	binary.LittleEndian.PutUint64(k[:], first)
	binary.LittleEndian.PutUint64(k[8:], second)
}

// number is what the value of entry i is made from. Old values are wrong ones.
func (w *tables) number(i int64) uint64 { return uint64(i) ^ w.generation<<40 }

// entries is the keys and values of the operations that come next.
type entries struct {
	keys   []tableKey
	index  []int64
	data   []byte
	values [][]byte
}

func newEntries(count, size int) *entries {
	e := &entries{
		keys: make([]tableKey, count), index: make([]int64, count),
		data: make([]byte, count*size), values: make([][]byte, count),
	}
	for i := range e.values {
		e.values[i] = e.data[i*size : (i+1)*size]
	}
	return e
}

// make makes the keys of the entries whose indexes are set, and their values.
func (e *entries) make(w *tables, count int, values bool) {
	for i := range count {
		w.key(&e.keys[i], e.index[i])
		if values {
			w.source.write(e.values[i], w.number(e.index[i]))
		}
	}
}

// eachEntry calls fn with the entries at the places of s, a few at a time.
func (w *tables) eachEntry(t *task, s span, at func(place int64) int64, values bool,
	fn func(e *entries, first int64, count int) error) error {
	e := newEntries(getBatch, w.b.size)
	return eachChunk(t, s, getBatch, func(first int64, count int) error {
		for i := range count {
			e.index[i] = at(first + int64(i))
		}
		e.make(w, count, values)
		return fn(e, first, count)
	})
}

func inOrder(place int64) int64 { return place }

// scattered goes over all n entries once, in an order far from that of putting.
func (w *tables) scattered(place int64) int64 {
	const prime = 2_654_435_761
	high, low := bits.Mul64(uint64(place), prime)
	_, rest := bits.Div64(high%uint64(w.b.plan.n), low, uint64(w.b.plan.n))
	return int64(rest)
}

// judge counts entry i as wrong or lost unless b is its value.
func (w *tables) judge(op string, i int64, b []byte, ok bool) {
	switch {
	case !ok:
		w.b.verdict.lostValue(op, i, 0, cache.ErrNotFound)
	case len(b) != w.b.size || !w.source.check(b, w.number(i)):
		w.b.verdict.wrongValue(op, i, 0, b)
	}
}
