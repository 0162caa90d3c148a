package cache

import "fmt"

// limited reports whether the table has a limit, so that totals over its shards are kept.
func (t *core) limited() bool { return t.maxEntries != never || t.maxBytes != never }

// admit counts the draft against the limits, or refuses it with ErrTableFull. The shard is locked, but
// totals are over all of them: each is raised first and then judged, so that no two goroutines can
// both take the last place.
func (t *core) admit(s *spot, d *draft) error {
	if !t.limited() {
		return nil
	}
	entries, bytes := int64(1), int64(t.p.SlotSize(d.size))
	if s.found {
		entries, bytes = 0, bytes-int64(t.p.SlotSize(len(s.old.payload)))
	}
	n := t.entries.Add(entries)
	b := t.payload.Add(bytes)
	if n > t.maxEntries && entries > 0 || bytes > 0 && b > t.maxBytes-t.indexBytes.Load() {
		t.entries.Add(-entries)
		t.payload.Add(-bytes)
		return fmt.Errorf("%w: %q: %d entries of at most %d, %d bytes of at most %d",
			ErrTableFull, t.name, n-entries, t.maxEntries, b-bytes+t.indexBytes.Load(), t.maxBytes)
	}
	return nil
}

// release takes an entry that was removed out of the totals.
func (t *core) release(size int) {
	if t.limited() {
		t.entries.Add(-1)
		t.payload.Add(-int64(t.p.SlotSize(size)))
	}
}
