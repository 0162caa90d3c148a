package cache

import (
	"time"

	"github.com/bigpile/bigpile/pile"
)

// Every segment knows a time before which none of its entries expires, and every shard the least of
// these. So when nothing is due a look costs a word a shard, and nothing at all while the sweeper
// sleeps. What is due costs one look at each entry of the segment: some 1,000 accesses to memory. A
// timing wheel would find single entries, for 8 or more bytes an entry; the age of an entry is where
// it is anyway.
//
// A segment whose entries expire one after the other would be looked at again and again for one of
// them. So after each look the sweeper rests (pace), which bounds its share of a core, and lets more
// become due: what is expired and not swept costs memory and nothing else.

const (
	sweepAll = -1

	sweepCells  = 128            // cells that are looked at under one pin
	lingerAfter = 64             // milliseconds between two looks of the sweeper, at least
	sweepChunk  = sweepCells / 2 // entries that are removed under one lock
)

// sweep looks through all tables, in steps, and says when to look again.
func (c *Cache) sweep() {
	s := c.sweeper
	s.next.Store(never)
	for _, t := range *c.cores.Load() {
		for i := range t.shards {
			sh := &t.shards[i]
			for sh.due.Load() <= c.clock.now() {
				start := time.Now()
				looked, gone := t.sweepSegment(sh)
				worked := time.Since(start)
				tellAll(gone.notices, func(n notice) { s.call(t.removed, n) })
				if !s.pace(worked, looked, gone.count) {
					return
				}
				if looked == 0 {
					break
				}
			}
			if due := sh.due.Load(); due != never {
				s.lower(max(due, c.clock.now()+lingerAfter))
			}
		}
	}
}

// sweepDue removes what is expired now, in the goroutine of the caller, and returns how many it were.
// It stops after limit entries, unless that is sweepAll.
func (t *core) sweepDue(limit int) (n int) {
	for i := range t.shards {
		sh := &t.shards[i]
		for sh.due.Load() <= t.clock.now() {
			looked, gone := t.sweepSegment(sh)
			n += gone.count
			tellAll(gone.notices, t.removed)
			if looked == 0 || limit != sweepAll && n >= limit {
				break
			}
		}
	}
	return n
}

// swept is what one look at a segment removed.
type swept struct {
	count   int
	notices []notice
}

// sweepSegment removes the expired entries of one segment of the shard that is due, and finds out when
// the next one is. It reports how many entries it looked at: 0 when nothing was due after all. It
// calls nobody.
func (t *core) sweepSegment(sh *shard) (looked int, gone swept) {
	sh.sweep.Lock()
	defer sh.sweep.Unlock()
	at, w, ok := t.dueSegment(sh)
	if !ok {
		return 0, gone
	}
	due := int64(never)
	for i := 0; i < w.cells(); i += sweepCells {
		n, d, ok := t.sweepSome(at, w, i, &gone)
		if looked += n; !ok {
			return looked + 1, gone // it was rebuilt: another look is needed
		}
		due = min(due, d)
	}
	sh.mu.Lock()
	d := sh.dir.Load()
	info := d.info(at.filed)
	shrink := false
	if d.load(at.filed) == w {
		info.due = min(due, info.fresh)
		sh.lookDue()
		s := spot{word: w, info: info}
		shrink = s.wantsShrink(t)
	}
	sh.mu.Unlock()
	if shrink {
		_ = t.adapt(at) // without room it stays as it is
	}
	return looked + 1, gone
}

// dueSegment finds a segment of the shard that is due, and begins its look.
func (t *core) dueSegment(sh *shard) (at place, w segmentWord, ok bool) {
	now := t.clock.now()
	sh.mu.Lock()
	defer sh.mu.Unlock()
	d := sh.dir.Load()
	for i := range d.infos {
		if d.infos[i].due <= now && !sh.gone {
			d.infos[i].fresh = never
			at = place{sh, uint32(i) << (filedBits - d.depth)}
			return at, d.load(at.filed), true
		}
	}
	sh.lookDue()
	return at, w, false
}

// lookDue finds out when the shard is due. It is locked.
func (sh *shard) lookDue() {
	due := int64(never)
	for i := range sh.dir.Load().infos {
		due = min(due, sh.dir.Load().infos[i].due)
	}
	sh.due.Store(due)
}

// candidate is an entry that looked expired before the lock was taken.
type candidate struct {
	index int
	cell  cell
}

// sweepSome looks at some cells of the segment, removes what is expired, and returns when the next of
// the others is due. It reports false when the segment is not what it was.
func (t *core) sweepSome(at place, w segmentWord, from int, gone *swept) (looked int, due int64, ok bool) {
	e, err := t.p.PinWrite()
	if err != nil {
		return 0, never, true
	}
	if at.shard.dir.Load().load(at.filed) != w {
		e.Unpin()
		return 0, never, false // and the block may be gone
	}
	var list [sweepCells]candidate
	var f found
	n := 0
	due = never
	now := t.clock.now()
	lines := t.p.Lines(w.block())
	for i := from; i < min(from+sweepCells, w.cells()); i++ {
		c := cell(lines.Load(i))
		if !c.isEntry() {
			continue
		}
		looked++
		t.entry(&f, c.location())
		l := f.life()
		if d := l.due(t.age); d > now {
			due = min(due, d)
			continue
		}
		list[n] = candidate{i, c}
		n++
	}
	var old [sweepCells]pile.Location
	k, d, ok := t.removeExpired(at, w, list[:n], &old, gone)
	var b pile.Backlog
	for _, l := range old[:k] {
		b = t.p.RetireSlot(l)
	}
	e.Unpin()
	t.p.Drain(b)
	return looked, min(due, d), ok
}

// removeExpired removes the candidates that are still there and expired.
func (t *core) removeExpired(at place, w segmentWord, list []candidate, old *[sweepCells]pile.Location, gone *swept) (k int, due int64, ok bool) {
	sh := at.shard
	sh.mu.Lock()
	defer sh.mu.Unlock()
	due = never
	d := sh.dir.Load()
	if d.load(at.filed) != w || sh.gone {
		return 0, never, false
	}
	s := spot{word: w, info: d.info(at.filed), lines: t.p.Lines(w.block())}
	for _, c := range list {
		if cell(s.lines.Load(c.index)) != c.cell {
			continue
		}
		t.entry(&s.old, c.cell.location())
		s.old.index = c.index
		if !t.expired(&s.old) { // rejuvenated
			l := s.old.life()
			due = min(due, l.due(t.age))
			continue
		}
		if t.removed != nil {
			gone.notices = append(gone.notices, t.copyOf(&s.old, CauseExpired))
		}
		t.unname(sh, &s)
		sh.tally.expired++
		old[k] = s.old.loc
		k++
		gone.count++
	}
	return k, due, true
}

// liveLen returns how many entries there are that have not expired: it removes the others first.
func (t *core) liveLen() int {
	t.sweepDue(sweepAll)
	return int(t.len())
}
