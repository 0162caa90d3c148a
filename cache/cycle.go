package cache

import (
	"slices"
	"sync"
	"sync/atomic"
)

// flightNode is a load in the graph of who waits for whom, over all tables and caches. A load waits
// for another when it calls GetOrPut with the context that it was given; it may do so in several
// goroutines at once.
//
// An edge is added first, and then the graph is searched for a way back. So of several loads that
// close a cycle at the same time at least one sees it. The others may see it, too, and fail as well.
type flightNode struct {
	mu    sync.Mutex // guards changes of waits
	waits atomic.Pointer[[]*flightNode]
}

// flightKey is the key under which a context carries the load it was given to.
type flightKey struct{}

// waitFor adds an edge. It reports false, and adds none, when the other waits for this one already.
func (n *flightNode) waitFor(other *flightNode) bool {
	n.change(func(list []*flightNode) []*flightNode { return append(list, other) })
	if !other.reaches(n, make(map[*flightNode]bool)) {
		return true
	}
	n.waitNoMore(other)
	return false
}

// waitNoMore removes an edge.
func (n *flightNode) waitNoMore(other *flightNode) {
	n.change(func(list []*flightNode) []*flightNode {
		i := slices.Index(list, other)
		return slices.Delete(list, i, i+1)
	})
}

func (n *flightNode) change(fn func([]*flightNode) []*flightNode) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []*flightNode
	if old := n.waits.Load(); old != nil {
		list = slices.Clone(*old)
	}
	list = fn(list)
	n.waits.Store(&list)
}

// reaches reports whether n is, or waits for, other.
func (n *flightNode) reaches(other *flightNode, seen map[*flightNode]bool) bool {
	if n == other {
		return true
	}
	list := n.waits.Load()
	if seen[n] || list == nil {
		return false
	}
	seen[n] = true
	for _, next := range *list {
		if next.reaches(other, seen) {
			return true
		}
	}
	return false
}
