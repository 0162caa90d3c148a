package cache

import "fmt"

// check compares counts, places and due times of the index with its cells.
func (t *core) check() error {
	e, err := t.p.Pin(0)
	if err != nil {
		return nil
	}
	defer e.Unpin()
	for i := range t.shards {
		if err := t.checkShard(&t.shards[i]); err != nil {
			return fmt.Errorf("shard %d: %w", i, err)
		}
	}
	return nil
}

func (t *core) checkShard(sh *shard) error {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	d := sh.dir.Load()
	total, bytes := 0, 0
	for i := uint32(0); i < uint32(len(d.words)); {
		w := segmentWord(d.words[i].Load())
		n := uint32(1) << (d.depth - w.depth())
		if w.depth() > d.depth || i&(n-1) != 0 {
			return fmt.Errorf("entry %d: a segment of depth %d in a directory of %d", i, w.depth(), d.depth)
		}
		for k := i; k < i+n; k++ {
			if segmentWord(d.words[k].Load()) != w {
				return fmt.Errorf("entry %d is not as entry %d", k, i)
			}
		}
		u, b, err := t.checkSegment(d, i, w)
		if err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
		total, bytes = total+u, bytes+b
		if sh.due.Load() > d.infos[i].due {
			return fmt.Errorf("entry %d is due at %d, the shard at %d", i, d.infos[i].due, sh.due.Load())
		}
		i += n
	}
	if int64(total) != sh.count.Load() || int64(bytes) != sh.bytes.Load() {
		return fmt.Errorf("%d entries of %d bytes, counted %d of %d", total, bytes, sh.count.Load(), sh.bytes.Load())
	}
	return nil
}

func (t *core) checkSegment(d *directory, first uint32, w segmentWord) (used, bytes int, err error) {
	if w == 0 {
		return 0, 0, nil
	}
	lines := t.p.Lines(w.block())
	info := &d.infos[first]
	tombs := 0
	seen := map[string]bool{}
	for i := range w.cells() {
		c := cell(lines.Load(i))
		if c == tombstone {
			tombs++
		}
		if !c.isEntry() {
			continue
		}
		var f found
		t.entry(&f, c.location())
		used++
		bytes += len(f.payload)
		if seen[string(f.key())] {
			return 0, 0, fmt.Errorf("key %q is there twice", f.key())
		}
		seen[string(f.key())] = true
		at := t.place(t.hash(f.key()))
		if at.filed != c.filed() || d.load(at.filed) != w {
			return 0, 0, fmt.Errorf("key %q is in the wrong segment", f.key())
		}
		var g found
		if !t.lookup(&g, at, f.key()) || g.index != i {
			return 0, 0, fmt.Errorf("key %q is not found where it is", f.key())
		}
		l := f.life()
		if due := l.due(t.age); due < info.due {
			return 0, 0, fmt.Errorf("key %q is due at %d, its segment at %d", f.key(), due, info.due)
		}
	}
	if int(info.used) != used || int(info.tombs) != tombs {
		return 0, 0, fmt.Errorf("%d entries and %d tombstones, counted %d and %d", used, tombs, info.used, info.tombs)
	}
	return used, bytes, nil
}
