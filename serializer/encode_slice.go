package serializer

// Slices of one array.
//
// Two slices are known to be of one array when their capacities end at the same address, which is so unless one was cut with a
// third index. The first that is met writes its elements; another that lies within those elements is written as part of it. When
// another reaches beyond them, the encoder notes the extent of both and, at the end, starts over: now the first meeting writes the
// whole extent, including elements in between that no slice shows. That is rare and costs a second pass; what it buys is that
// aliasing is preserved in all cases without looking at every slice twice in the usual one.

// arrayKey identifies an array by where it ends and what it holds.
type arrayKey struct {
	end   uintptr
	class uint32
}

// extent is a range of addresses.
type extent struct{ from, to uintptr }

// slice appends the slice at q.
func (e *encoder) slice(b []byte, r *ref, q pointer) []byte {
	h := load[sliceHeader](q)
	if h.data == nil {
		return append(b, tagNil)
	}
	if !r.shared || h.len == 0 {
		return e.contents(appendUvarint(b, uint64(h.len)+tagSlice), r.elem, h.data, h.len)
	}
	size := r.elem.size
	from := uintptr(h.data)
	to := from + uintptr(h.len)*size
	key := arrayKey{from + uintptr(h.cap)*size, r.class}
	if seen := e.refs.find(key.end, key.class); seen != nil {
		if from < seen.from || to > seen.to {
			e.again = true
			e.noteExtent(key, extent{min(from, seen.from), max(to, seen.to)})
			from = seen.from // whatever: this pass is dropped
		}
		b = appendUvarint(append(b, tagPart), uint64(seen.id))
		return appendUvarint(appendUvarint(b, uint64((from-seen.from)/size)), uint64(h.len))
	}
	whole, wide := e.widen[key]
	if !wide {
		whole = extent{from, to}
	}
	e.refs.insert(refEntry{key: key.end, class: r.class, id: e.nextID(), from: whole.from, to: whole.to})
	if whole == (extent{from, to}) {
		return e.contents(appendUvarint(b, uint64(h.len)+tagSlice), r.elem, h.data, h.len)
	}
	n := int((whole.to - whole.from) / size)
	b = appendUvarint(append(b, tagArray), uint64(n))
	b = appendUvarint(appendUvarint(b, uint64((from-whole.from)/size)), uint64(h.len))
	return e.contents(b, r.elem, add(h.data, -(from-whole.from)), n)
}

// noteExtent makes the next pass write at least x for the array.
func (e *encoder) noteExtent(key arrayKey, x extent) {
	if e.widen == nil {
		e.widen = map[arrayKey]extent{}
	}
	if old, ok := e.widen[key]; ok {
		x = extent{min(x.from, old.from), max(x.to, old.to)}
	}
	e.widen[key] = x
}
