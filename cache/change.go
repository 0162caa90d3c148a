package cache

import (
	"github.com/bigpile/bigpile/pile"
)

// spot is where a key is, or may be put, in its segment.
type spot struct {
	lines pile.Lines
	info  *segmentInfo
	word  segmentWord
	old   found // when there is an entry of the key
	found bool
	free  int // a cell to put a new entry in; -1 when there is none
	tomb  bool
}

// locate sets s to where the key is and, if it is not there, to a cell that a new entry of it may use.
// The shard is locked, and a pin held.
func (t *core) locate(s *spot, at place, key []byte) {
	d := at.shard.dir.Load()
	s.word, s.info, s.free, s.found = d.load(at.filed), d.info(at.filed), -1, false
	if s.word == 0 {
		return
	}
	s.lines = t.p.Lines(s.word.block())
	n := s.word.buckets()
	b := s.word.home(at.filed)
	for range n {
		open := false
		for i := int(b) * bucketCells; i < int(b+1)*bucketCells; i++ {
			c := cell(s.lines.Load(i))
			if !c.isEntry() {
				open = open || c == emptyCell
				if s.free < 0 {
					s.free, s.tomb = i, c == tombstone
				}
				continue
			}
			if c.filed() != at.filed {
				continue
			}
			if t.match(&s.old, c.location(), key) {
				s.old.cell, s.old.index, s.found = c, i, true
				return
			}
		}
		if open {
			return
		}
		if b++; b == n {
			b = 0
		}
	}
}

// isFull reports whether the segment has to grow before it takes one more entry. The load at which it
// should grow is lower; see wantsGrowth.
func (s *spot) isFull() bool { return s.word == 0 || s.free < 0 }

// wantsGrowth reports whether a segment with that many cells in use is fuller than it should be.
func wantsGrowth(w segmentWord, info *segmentInfo) bool {
	return int(info.used+info.tombs)*loadUnit > w.cells()*loadHigh
}

// insert puts an entry into the free cell of the spot. The shard is locked.
func (t *core) insert(at place, s *spot, l pile.Location, due int64, bytes int) {
	s.lines.Store(s.free, uint64(newCell(at.filed, l)))
	s.info.used++
	if s.tomb {
		s.info.tombs--
	}
	at.shard.noteDue(s.info, due)
	at.shard.count.Store(at.shard.count.Load() + 1)
	at.shard.bytes.Store(at.shard.bytes.Load() + int64(bytes))
}

// replace puts an entry into the cell of the old one. The shard is locked.
func (t *core) replace(at place, s *spot, l pile.Location, due int64, bytes int) {
	s.lines.Store(s.old.index, uint64(newCell(at.filed, l)))
	at.shard.noteDue(s.info, due)
	at.shard.bytes.Store(at.shard.bytes.Load() + int64(bytes-len(s.old.payload)))
}

// remove takes the entry in cell index out of the segment. The shard is locked. The cell becomes
// empty if its bucket has an empty cell anyway, for then no probe passes over it.
func (t *core) remove(sh *shard, lines pile.Lines, info *segmentInfo, index, bytes int) {
	left := emptyCell
	first := index &^ (bucketCells - 1)
	hasEmpty := false
	for i := first; i < first+bucketCells; i++ {
		hasEmpty = hasEmpty || cell(lines.Load(i)) == emptyCell
	}
	if !hasEmpty {
		left = tombstone
		info.tombs++
	}
	lines.Store(index, uint64(left))
	info.used--
	sh.count.Store(sh.count.Load() - 1)
	sh.bytes.Store(sh.bytes.Load() - int64(bytes))
}

// noteDue lowers what the shard and the segment know about the next expiry.
func (sh *shard) noteDue(info *segmentInfo, due int64) {
	if due < info.fresh {
		info.fresh = due
	}
	if due < info.due {
		info.due = due
		if due < sh.due.Load() {
			sh.due.Store(due)
		}
	}
}
