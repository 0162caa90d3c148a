package cache

import (
	"github.com/bigpile/bigpile/pile"
)

// target is a segment that is being filled and that no reader can see yet.
type target struct {
	word  segmentWord
	lines pile.Lines
	used  int32
}

func (t *core) target(a pile.BlockAddress, buckets, depth uint32) target {
	return target{word: newSegmentWord(a, buckets, depth), lines: t.p.Lines(a)}
}

// add files a cell. There is always room: a segment is made larger than what it is to hold, by at
// least a quarter.
func (s *target) add(c cell) bool {
	n := s.word.buckets()
	b := s.word.home(c.filed())
	for range n {
		for i := int(b) * bucketCells; i < int(b+1)*bucketCells; i++ {
			if cell(s.lines.Load(i)) == emptyCell {
				s.lines.Format(i, uint64(c))
				s.used++
				return true
			}
		}
		if b++; b == n {
			b = 0
		}
	}
	return false
}

// mustAdd files a cell in a segment that was made large enough.
func (s *target) mustAdd(c cell) {
	if !s.add(c) {
		panic("cache: a new segment is too small for what it was made for")
	}
}

// entriesOf calls fn for every entry of a segment.
func (t *core) entriesOf(w segmentWord, fn func(cell)) {
	if w == 0 {
		return
	}
	lines := t.p.Lines(w.block())
	for i := range w.cells() {
		if c := cell(lines.Load(i)); c.isEntry() {
			fn(c)
		}
	}
}

// resizeSegment replaces the block of a segment by one of another size. The shard is locked.
func (t *core) resizeSegment(at place, p *plan) {
	d := at.shard.dir.Load()
	i, n := d.first(at.filed)
	next := t.target(p.blocks[0], p.sizes[0], p.word.depth())
	t.entriesOf(p.word, next.mustAdd)
	d.set(i, n, next.word)
	d.infos[i] = segmentInfo{used: next.used, due: d.infos[i].due, fresh: d.infos[i].fresh}
	if p.sizes[0] > p.word.buckets() {
		at.shard.tally.grown++
	} else {
		at.shard.tally.shrunk++
	}
}

// splitSegment replaces a segment by two, doubling the directory if need be. The shard is locked.
func (t *core) splitSegment(at place, p *plan) {
	d := at.shard.dir.Load()
	depth := p.word.depth()
	if depth == d.depth {
		d = d.doubled()
		at.shard.dir.Store(d)
	}
	i, n := d.first(at.filed)
	bit := uint32(1) << (filedBits - 1 - depth)
	low := t.target(p.blocks[0], p.sizes[0], depth+1)
	high := t.target(p.blocks[1], p.sizes[1], depth+1)
	t.entriesOf(p.word, func(c cell) {
		if c.filed()&bit == 0 {
			low.mustAdd(c)
		} else {
			high.mustAdd(c)
		}
	})
	due, fresh := d.infos[i].due, d.infos[i].fresh
	d.infos[i] = segmentInfo{used: low.used, due: due, fresh: fresh}
	d.infos[i+n/2] = segmentInfo{used: high.used, due: due, fresh: fresh}
	d.set(i, n/2, low.word)
	d.set(i+n/2, n/2, high.word)
	at.shard.tally.grown++
}

// mergeSegments replaces a segment and its neighbour by one. The shard is locked.
func (t *core) mergeSegments(at place, p *plan) {
	d := at.shard.dir.Load()
	i, n := d.first(at.filed)
	low := i &^ n
	next := t.target(p.blocks[0], p.sizes[0], p.word.depth()-1)
	t.entriesOf(p.word, next.mustAdd)
	t.entriesOf(p.buddy, next.mustAdd)
	a, b := d.infos[low], d.infos[low+n]
	d.infos[low+n] = segmentInfo{due: never, fresh: never}
	d.infos[low] = segmentInfo{used: next.used, due: min(a.due, b.due), fresh: min(a.fresh, b.fresh)}
	d.set(low, 2*n, next.word)
	at.shard.tally.shrunk++
}
