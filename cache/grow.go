package cache

import (
	"github.com/bigpile/bigpile/pile"
)

// The load of a segment, in 64ths of its cells. A segment that is fuller than loadHigh after an
// insertion grows, one that is emptier than loadLow after a removal shrinks; both end at loadAfter at
// most, which is just above what is left of loadHigh after the smallest step.
// With quarter steps the load of a growing table so moves between 0.67 and 0.85.
const (
	loadUnit  = 64
	loadHigh  = 54
	loadAfter = 48
	loadLow   = 24
)

// segmentSizes are the buckets of a segment: with a line for the head of the block they are a
// quarter of a power of two times 4, 5, 6, 7, so that blocks fill size classes exactly. Read-only.
var segmentSizes = [...]uint32{
	1, 2, 3, 4, 5, 7, 9, 11, 13, 15, 19, 23, 27, 31, 39, 47, 55, 63, 79, 95, 111, 127, 159, 191, 223, 255,
}

const (
	// segmentMax is the buckets beyond which a segment is split: it bounds the cells that one step
	// moves.
	segmentMax = 255
	// depthMax bounds the directory of a shard: 8,192 segments of 1,300 entries.
	depthMax = 13
)

// sizeFor returns the buckets of a segment for that many entries.
func sizeFor(entries int) uint32 {
	for _, n := range segmentSizes {
		if entries*loadUnit <= int(n)*bucketCells*loadAfter {
			return n
		}
	}
	n := uint32(segmentMax)
	for entries*loadUnit > int(n)*bucketCells*loadAfter && n < bucketsMask/2 {
		n = 2*n + 1 // of use only for keys whose hashes are equal, or at depthMax
	}
	return n
}

// plan is what is to become of one segment: one or two others, or, with its neighbour, one.
type plan struct {
	word   segmentWord // what the segment was when the plan was made
	first  uint32      // its first entry in the directory, and how many it has
	n      uint32
	merge  bool
	buddy  segmentWord // merge: the neighbour
	split  bool
	sizes  [2]uint32
	blocks [2]pile.BlockAddress
}

// adapt grows or shrinks the segment of a hash, if it is still to be done. The caller holds neither
// pin nor lock, because a new block may have to wait for room. When there is no room the segment
// stays as it is; only a segment without a free cell makes that an error.
func (t *core) adapt(at place) error {
	for {
		p, ok := t.plan(at)
		if !ok {
			return nil
		}
		if err := t.takeBlocks(&p); err != nil {
			at.shard.mu.Lock()
			p.unmark(at)
			at.shard.mu.Unlock()
			return err
		}
		if done, err := t.carryOut(at, &p); done || err != nil {
			return err
		}
	}
}

// unmark lets others change the segments of the plan again. The shard is locked.
func (p *plan) unmark(at place) {
	d := at.shard.dir.Load()
	d.info(at.filed).growing = false
	if p.merge {
		d.info(at.filed ^ 1<<(filedBits-p.word.depth())).growing = false
	}
}

// plan decides what to do and marks the segment, so that others leave it alone meanwhile.
func (t *core) plan(at place) (p plan, ok bool) {
	e, err := t.p.PinWrite()
	if err != nil {
		return p, false
	}
	defer e.Unpin()
	at.shard.mu.Lock()
	defer at.shard.mu.Unlock()
	d := at.shard.dir.Load()
	info := d.info(at.filed)
	p.word = d.load(at.filed)
	p.first, p.n = d.first(at.filed)
	if info.growing || at.shard.gone {
		return p, false
	}
	switch {
	case p.word == 0 || wantsGrowth(p.word, info):
		t.planGrowth(d, &p, info)
	case int(info.used)*loadUnit < p.word.cells()*loadLow:
		ok = t.planShrink(d, &p, info)
		if !ok {
			return p, false
		}
	default:
		return p, false
	}
	info.growing = true
	return p, true
}

// planGrowth chooses the next size, or two segments.
func (t *core) planGrowth(d *directory, p *plan, info *segmentInfo) {
	want := sizeFor(int(info.used) + 1)
	if want > segmentMax && p.word.depth() < depthMax {
		ones := t.countOnes(p.word)
		zeros := int(info.used) - ones
		// A split that leaves nearly all on one side helps nobody: the hashes are equal.
		if p.split = min(ones, zeros)*16 >= int(info.used); p.split {
			p.sizes = [2]uint32{sizeFor(zeros + 1), sizeFor(ones + 1)}
			return
		}
	}
	p.sizes[0] = want
}

// countOnes counts the entries that a split would move to the upper half.
func (t *core) countOnes(w segmentWord) (n int) {
	lines := t.p.Lines(w.block())
	bit := uint32(1) << (filedBits - 1 - w.depth())
	for i := range w.cells() {
		if c := cell(lines.Load(i)); c.isEntry() && c.filed()&bit != 0 {
			n++
		}
	}
	return n
}

// planShrink chooses a smaller size, or a merge with the neighbour that differs in the last bit. It
// reports whether there is anything to gain.
func (t *core) planShrink(d *directory, p *plan, info *segmentInfo) bool {
	if depth := p.word.depth(); depth > t.depthMin {
		b := p.first ^ p.n
		w := segmentWord(d.words[b].Load())
		other := &d.infos[b]
		sum := int(info.used) + int(other.used)
		if w != 0 && w.depth() == depth && !other.growing && sizeFor(sum) <= segmentMax/2 {
			p.merge, p.buddy, p.sizes[0] = true, w, sizeFor(sum)
			other.growing = true
			return true
		}
	}
	p.sizes[0] = max(sizeFor(int(info.used)), t.bucketsMin)
	return p.sizes[0] < p.word.buckets()
}

// takeBlocks takes the blocks of a plan.
func (t *core) takeBlocks(p *plan) error {
	for i, n := range p.sizes {
		if n == 0 {
			continue
		}
		a, err := t.p.NewBlock(int(n))
		if err != nil {
			t.returnBlocks(p)
			return err
		}
		p.blocks[i] = a
	}
	return nil
}

// returnBlocks gives the blocks of a plan back that was not carried out.
func (t *core) returnBlocks(p *plan) {
	e, err := t.p.PinWrite()
	if err != nil {
		return // everything goes
	}
	backlog := t.retireBlocks(p.blocks[:])
	e.Unpin()
	t.drain(backlog)
}

// retireBlocks retires the blocks that are not 0. A pin is held.
func (t *core) retireBlocks(blocks []pile.BlockAddress) (backlog [2]pile.Backlog) {
	for i, a := range blocks {
		if a != 0 {
			backlog[i] = t.p.RetireBlock(a)
		}
	}
	return backlog
}

func (t *core) drain(backlog [2]pile.Backlog) {
	for _, b := range backlog {
		t.p.Drain(b)
	}
}

// carryOut moves the entries to the new blocks and puts those in place. It reports false when so many
// entries came meanwhile that another plan is needed.
func (t *core) carryOut(at place, p *plan) (done bool, err error) {
	e, err := t.p.PinWrite()
	if err != nil {
		return false, err
	}
	at.shard.mu.Lock()
	gone := at.shard.gone
	if done = !gone && t.fits(at, p); done {
		switch {
		case p.merge:
			t.mergeSegments(at, p)
		case p.split:
			t.splitSegment(at, p)
		default:
			t.resizeSegment(at, p)
		}
	} else if !gone {
		p.unmark(at)
	}
	at.shard.mu.Unlock()
	left := p.blocks
	if done {
		left = p.oldBlocks()
		t.indexBytes.Add(p.growth())
	}
	backlog := t.retireBlocks(left[:])
	e.Unpin()
	t.drain(backlog)
	return done || gone, nil
}

// fits reports whether the segments of the plan are still there and hold what they are to hold. The
// shard is locked.
func (t *core) fits(at place, p *plan) bool {
	const almost = 60 // of loadUnit
	d := at.shard.dir.Load()
	if d.load(at.filed) != p.word || p.merge && d.load(at.filed^1<<(filedBits-p.word.depth())) != p.buddy {
		return false // purged meanwhile
	}
	used := int(d.info(at.filed).used)
	counts := [2]int{used}
	switch {
	case p.merge:
		counts[0] += int(d.info(at.filed ^ 1<<(filedBits-p.word.depth())).used)
	case p.split:
		counts[1] = t.countOnes(p.word)
		counts[0] -= counts[1]
	}
	for i, n := range counts {
		if n*loadUnit > int(p.sizes[i])*bucketCells*almost {
			return false
		}
	}
	return true
}

// oldBlocks returns the blocks that the plan leaves behind.
func (p *plan) oldBlocks() (old [2]pile.BlockAddress) {
	if p.word != 0 {
		old[0] = p.word.block()
	}
	if p.merge {
		old[1] = p.buddy.block()
	}
	return old
}

// growth returns by how many bytes the plan changes the index.
func (p *plan) growth() (n int64) {
	for _, b := range p.sizes {
		if b != 0 {
			n += int64(pile.BlockSlotSize(int(b)))
		}
	}
	for _, w := range [...]segmentWord{p.word, p.buddy} {
		if w != 0 {
			n -= int64(pile.BlockSlotSize(int(w.buckets())))
		}
	}
	return n
}
