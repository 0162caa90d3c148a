package serializer

// refTable finds references met before, by address and class. Few values have more than a handful, so it starts as a list that is
// searched in order. Addresses are only compared; nothing moves while a value is being written.
type refTable struct {
	list  []refEntry // in the order met
	index []int32    // hash table of positions in list, plus one; used from maxLinear entries on
}

type refEntry struct {
	key   uintptr
	class uint32
	id    uint32
	from  uintptr // slices: the first address, and behind the last, of the elements written
	to    uintptr
}

const (
	maxLinear = 8
	// keepEntries is the largest table that is kept for the next value.
	keepEntries = 1 << 14
)

// find returns the entry of key and class, or nil. The entry moves at the next insert.
func (t *refTable) find(key uintptr, class uint32) *refEntry {
	if len(t.list) <= maxLinear {
		for i := range t.list {
			if e := &t.list[i]; e.key == key && e.class == class {
				return e
			}
		}
		return nil
	}
	for i := t.slot(key, class); ; i = (i + 1) & (len(t.index) - 1) {
		n := t.index[i]
		if n == 0 {
			return nil
		}
		if e := &t.list[n-1]; e.key == key && e.class == class {
			return e
		}
	}
}

// slot returns where the search for key and class starts.
func (t *refTable) slot(key uintptr, class uint32) int {
	h := (uint64(key) ^ uint64(class)<<56) * 0x9E3779B97F4A7C15
	return int(h>>32) & (len(t.index) - 1)
}

// insert adds an entry that find did not find.
func (t *refTable) insert(e refEntry) {
	t.list = append(t.list, e)
	switch n := len(t.list); {
	case n <= maxLinear:
	case n == maxLinear+1 || n > len(t.index)/2:
		t.rebuild(max(4*maxLinear, 4*n))
	default:
		t.place(n - 1)
	}
}

// rebuild makes the hash table anew with at least size slots.
func (t *refTable) rebuild(size int) {
	n := 1
	for n < size {
		n *= 2
	}
	if cap(t.index) >= n {
		t.index = t.index[:n]
		clear(t.index)
	} else {
		t.index = make([]int32, n)
	}
	for i := range t.list {
		t.place(i)
	}
}

// place enters list[i] in the hash table.
func (t *refTable) place(i int) {
	s := t.slot(t.list[i].key, t.list[i].class)
	for t.index[s] != 0 {
		s = (s + 1) & (len(t.index) - 1)
	}
	t.index[s] = int32(i + 1)
}

// reset forgets everything.
func (t *refTable) reset() {
	if cap(t.list) > keepEntries {
		*t = refTable{}
	}
	t.list = t.list[:0]
}
