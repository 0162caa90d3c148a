package cache

import "github.com/bigpile/bigpile/pile"

// Stats are the figures of a cache: the sums over its tables, and those of the pile.
type Stats struct {
	TableStats            // the sums
	Tables     int        // how many tables there are
	Pile       pile.Stats // of the pile, with whatever else is in it
}

// TableStats are the figures of a table. Counters move while they are read.
type TableStats struct {
	Entries      int64   // expired ones that were not swept yet included
	PayloadBytes int64   // of entries: keys, values and what is known about them
	IndexBytes   int64   // of the index
	Capacity     int64   // entries that the index has cells for
	LoadFactor   float64 // Entries / Capacity

	Inserted, Replaced, Removed, Expired int64 // entries
	Grown, Shrunk                        int64 // segments of the index that were rebuilt
	Hits, Misses                         int64 // of reads; only with DetailedMetrics

	Config TableConfig // what is in effect
}

// Stats returns the figures of the table, at a cost of some microseconds for each shard.
func (t *Table[K, V]) Stats() TableStats { return t.stats() }

func (t *core) stats() (s TableStats) {
	for i := range t.shards {
		sh := &t.shards[i]
		s.Entries += sh.count.Load()
		s.PayloadBytes += sh.bytes.Load()
		sh.mu.Lock()
		s.Inserted += sh.tally.inserted
		s.Replaced += sh.tally.replaced
		s.Removed += sh.tally.removed
		s.Expired += sh.tally.expired
		s.Grown += sh.tally.grown
		s.Shrunk += sh.tally.shrunk
		d := sh.dir.Load()
		for k := uint32(0); k < uint32(len(d.words)); {
			w := segmentWord(d.words[k].Load())
			s.Capacity += int64(w.cells())
			k += 1 << (d.depth - w.depth())
		}
		sh.mu.Unlock()
	}
	s.IndexBytes = t.indexBytes.Load()
	if s.Capacity > 0 {
		s.LoadFactor = float64(s.Entries) / float64(s.Capacity)
	}
	s.Hits, s.Misses = t.metrics.sum()
	s.Config = t.config
	return s
}

// add adds the figures of another table.
func (s *TableStats) add(o TableStats) {
	s.Entries += o.Entries
	s.PayloadBytes += o.PayloadBytes
	s.IndexBytes += o.IndexBytes
	s.Capacity += o.Capacity
	s.Inserted += o.Inserted
	s.Replaced += o.Replaced
	s.Removed += o.Removed
	s.Expired += o.Expired
	s.Grown += o.Grown
	s.Shrunk += o.Shrunk
	s.Hits += o.Hits
	s.Misses += o.Misses
}

// Stats returns the figures of the cache. Config is that of Options.Defaults.
func (c *Cache) Stats() Stats {
	s := Stats{Pile: c.p.Stats()}
	for _, t := range *c.cores.Load() {
		s.add(t.stats())
		s.Tables++
	}
	if s.Capacity > 0 {
		s.LoadFactor = float64(s.Entries) / float64(s.Capacity)
	}
	s.Config = c.opt.Defaults
	return s
}
