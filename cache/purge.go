package cache

import (
	"github.com/bigpile/bigpile/pile"
)

// Len returns how many entries there are that have not expired. What has expired it removes first,
// telling OnRemove, so that it costs a little for each shard, and a look at whatever is due.
func (t *Table[K, V]) Len() int { return t.liveLen() }

// Purge removes every entry that was there when it was called, telling OnRemove. An entry that is put
// meanwhile stays.
func (t *Table[K, V]) Purge() { t.purge(true) }

// purge empties every shard.
func (t *core) purge(tell bool) {
	for i := range t.shards {
		t.purgeShard(&t.shards[i], false, tell)
	}
}

// drop empties every shard for good.
func (t *core) drop(tell bool) {
	for i := range t.shards {
		t.purgeShard(&t.shards[i], true, tell)
	}
}

// forget empties every shard for good and retires nothing: the pile is about to be closed.
func (t *core) forget() {
	for i := range t.shards {
		t.shards[i].empty(true)
	}
}

// empty puts an empty directory in the place of the old one, which nobody changes from then on.
func (sh *shard) empty(forever bool) (old *directory) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	old = sh.dir.Load()
	sh.dir.Store(newDirectory(0))
	sh.gone = sh.gone || forever
	sh.count.Store(0)
	sh.bytes.Store(0)
	sh.due.Store(never)
	return old
}

// purgeShard empties a shard, and then retires what it had.
func (t *core) purgeShard(sh *shard, forever, tell bool) {
	p := purger{t: t, d: sh.empty(forever), tell: tell && t.removed != nil}
	defer func() { // what a panic of OnRemove left over
		p.tell = false
		p.run()
	}()
	p.run()
}

// purger retires what an old directory names, piece by piece.
type purger struct {
	t    *core
	d    *directory
	tell bool
	at   int // the entry of the directory it has come to
	cell int // and the cell in that segment
}

const purgeCells = 256 // cells that are worked on under one pin

func (p *purger) run() {
	for p.at < len(p.d.words) {
		w := segmentWord(p.d.words[p.at].Load())
		for w != 0 && p.cell < w.cells() {
			notices, ok := p.some(w)
			if !ok {
				p.at = len(p.d.words) // the pile is closed
				return
			}
			tellAll(notices, p.t.removed)
		}
		p.at += 1 << (p.d.depth - w.depth())
		p.cell = 0
		if w != 0 {
			p.block(w)
		}
	}
}

// some retires the entries of some cells. It reports false when the pile is closed.
func (p *purger) some(w segmentWord) (notices []notice, ok bool) {
	t := p.t
	e, err := t.p.PinWrite()
	if err != nil {
		return nil, false
	}
	lines := t.p.Lines(w.block())
	var backlog pile.Backlog
	var f found
	end := min(p.cell+purgeCells, w.cells())
	for ; p.cell < end; p.cell++ {
		c := cell(lines.Load(p.cell))
		if !c.isEntry() {
			continue
		}
		t.entry(&f, c.location())
		if p.tell {
			cause := CausePurged
			if t.expired(&f) {
				cause = CauseExpired
			}
			notices = append(notices, t.copyOf(&f, cause))
		}
		t.release(len(f.payload))
		backlog = t.p.RetireSlot(f.loc)
	}
	e.Unpin()
	t.p.Drain(backlog)
	return notices, true
}

// block retires the block of a segment.
func (p *purger) block(w segmentWord) {
	e, err := p.t.p.PinWrite()
	if err != nil {
		return
	}
	b := p.t.p.RetireBlock(w.block())
	e.Unpin()
	p.t.p.Drain(b)
	p.t.indexBytes.Add(-int64(pile.BlockSlotSize(int(w.buckets()))))
}
