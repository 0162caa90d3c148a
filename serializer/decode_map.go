package serializer

// mapEntries reads n entries into m.
func (d *decoder) mapEntries(pos int, r *ref, m pointer, n int) int {
	each := r.key.min + r.elem.min
	d.pending += n * each
	switch r.maps {
	case mapStringString:
		return d.stringStrings(pos, load[map[string]string](addressOf(&m)), n)
	case mapStringAny:
		return readStringKeys[any](d, pos, r, m, n)
	case mapStringInt:
		return readStringKeys[int](d, pos, r, m, n)
	case mapStringInt64:
		return readStringKeys[int64](d, pos, r, m, n)
	case mapStringFloat64:
		return readStringKeys[float64](d, pos, r, m, n)
	case mapStringBool:
		return readStringKeys[bool](d, pos, r, m, n)
	}
	s := r.takeScratch(m)
	for range n {
		d.pending -= each
		s.key.SetZero()
		s.elem.SetZero()
		if pos = d.key(pos, r, s.keyAt); pos < 0 {
			break
		}
		if pos = d.run(pos, r.elem.ops, s.elemAt); pos < 0 {
			break
		}
		s.m.SetMapIndex(s.key, s.elem)
	}
	r.putScratch(s)
	return pos
}

// key reads a map key to q, completely: the map hashes it next.
func (d *decoder) key(pos int, r *ref, q pointer) int {
	if r.key.bounded {
		return d.run(pos, r.key.ops, q)
	}
	keys := d.keys
	d.keys = 1
	pos = d.run(pos, r.key.ops, q)
	d.keys = keys
	return pos
}

// stringStrings reads n entries into m.
func (d *decoder) stringStrings(pos int, m map[string]string, n int) int {
	d.pending -= 2 * n // nothing in it asks for room
	for range n {
		var k, v string
		if k, pos = d.str(pos); pos < 0 {
			return pos
		}
		if v, pos = d.str(pos); pos < 0 {
			return pos
		}
		m[k] = v
	}
	return pos
}

// readStringKeys reads n entries into the map m from string to V.
func readStringKeys[V any](d *decoder, pos int, r *ref, m pointer, n int) int {
	into := load[map[string]V](addressOf(&m))
	each := r.key.min + r.elem.min
	s := r.takeScratch(m)
	var zero V
	for range n {
		d.pending -= each
		var k string
		if k, pos = d.str(pos); pos < 0 {
			break
		}
		store(s.elemAt, zero)
		if pos = d.run(pos, r.elem.ops, s.elemAt); pos < 0 {
			break
		}
		into[k] = load[V](s.elemAt)
	}
	r.putScratch(s)
	return pos
}
