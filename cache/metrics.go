package cache

import (
	"math/rand/v2"
	"sync/atomic"
)

// metrics count hits and misses, each in one of several places, so that readers do not wait for each
// other's cache lines.
type metrics struct {
	stripes [metricStripes]struct {
		hits, misses atomic.Int64
		_            [112]byte
	}
}

const metricStripes = 64

func newMetrics() *metrics { return new(metrics) }

func (m *metrics) count(hit bool) {
	s := &m.stripes[rand.Uint32()%metricStripes] // of the thread's own generator
	if hit {
		s.hits.Add(1)
	} else {
		s.misses.Add(1)
	}
}

func (m *metrics) sum() (hits, misses int64) {
	if m == nil {
		return 0, 0
	}
	for i := range m.stripes {
		hits += m.stripes[i].hits.Load()
		misses += m.stripes[i].misses.Load()
	}
	return hits, misses
}
