package serializer

import "reflect"

// mapForm names the map types that are walked and filled as such rather than through reflect.
type mapForm uint8

const (
	mapGeneral mapForm = iota
	mapStringString
	mapStringAny
	mapStringInt
	mapStringInt64
	mapStringFloat64
	mapStringBool
)

// mapFormOf returns the form of t. A named map type has the same form as the type it is of.
func mapFormOf(t reflect.Type) mapForm {
	switch reflect.MapOf(t.Key(), t.Elem()) {
	case reflect.TypeFor[map[string]string]():
		return mapStringString
	case reflect.TypeFor[map[string]any]():
		return mapStringAny
	case reflect.TypeFor[map[string]int]():
		return mapStringInt
	case reflect.TypeFor[map[string]int64]():
		return mapStringInt64
	case reflect.TypeFor[map[string]float64]():
		return mapStringFloat64
	case reflect.TypeFor[map[string]bool]():
		return mapStringBool
	}
	return mapGeneral
}

// mapScratch is what a walk over a general map needs: one for each walk in progress, recycled.
type mapScratch struct {
	slot      pointer       // the map being walked
	m         reflect.Value // the map in slot
	iter      reflect.MapIter
	key, elem reflect.Value
	keyAt     pointer
	elemAt    pointer
}

func newMapScratch(t reflect.Type) *mapScratch {
	s := &mapScratch{}
	s.m = reflect.NewAt(t, addressOf(&s.slot)).Elem()
	key, elem := reflect.New(t.Key()), reflect.New(t.Elem())
	s.key, s.keyAt = key.Elem(), key.UnsafePointer()
	s.elem, s.elemAt = elem.Elem(), elem.UnsafePointer()
	return s
}

// takeScratch returns a scratch for the map m.
func (r *ref) takeScratch(m pointer) *mapScratch {
	s := r.pool.Get().(*mapScratch)
	s.slot = m
	return s
}

// putScratch recycles s, emptied.
func (r *ref) putScratch(s *mapScratch) {
	s.slot = nil
	s.key.SetZero()
	s.elem.SetZero()
	s.iter.Reset(reflect.Value{})
	r.pool.Put(s)
}

// mapLen returns the number of entries of m.
func (r *ref) mapLen(m pointer) int {
	switch r.maps {
	case mapStringString:
		return len(load[map[string]string](addressOf(&m)))
	case mapStringAny:
		return len(load[map[string]any](addressOf(&m)))
	}
	s := r.takeScratch(m)
	n := s.m.Len()
	r.putScratch(s)
	return n
}

// mapping appends the map at q.
func (e *encoder) mapping(b []byte, r *ref, q pointer) []byte {
	m := load[pointer](q)
	if m == nil {
		return append(b, tagNil)
	}
	if r.shared {
		if seen := e.refs.find(uintptr(m), r.class); seen != nil {
			return appendUvarint(append(b, tagSeenMap), uint64(seen.id))
		}
		e.refs.insert(refEntry{key: uintptr(m), class: r.class, id: e.nextID()})
	}
	b = appendUvarint(b, uint64(r.mapLen(m))+tagMap)
	switch {
	case r.key.bounded && r.elem.bounded:
		return e.mapEntries(b, r, m)
	case e.depth >= maxDepth || e.keys > 0:
		e.queue = append(e.queue, deferred{maps: r, p: m})
		return b
	}
	e.depth++
	b = e.mapEntries(b, r, m)
	e.depth--
	return b
}

// mapEntries appends the entries of m, in Go's random order.
func (e *encoder) mapEntries(b []byte, r *ref, m pointer) []byte {
	switch r.maps {
	case mapStringString:
		for k, v := range load[map[string]string](addressOf(&m)) {
			b = append(appendUvarint(b, uint64(len(k))), k...)
			b = append(appendUvarint(b, uint64(len(v))), v...)
		}
		return b
	case mapStringAny:
		return appendStringKeys[any](e, b, r, m)
	case mapStringInt:
		return appendStringKeys[int](e, b, r, m)
	case mapStringInt64:
		return appendStringKeys[int64](e, b, r, m)
	case mapStringFloat64:
		return appendStringKeys[float64](e, b, r, m)
	case mapStringBool:
		return appendStringKeys[bool](e, b, r, m)
	}
	s := r.takeScratch(m)
	s.iter.Reset(s.m)
	for s.iter.Next() && e.err == nil {
		s.key.SetIterKey(&s.iter)
		s.elem.SetIterValue(&s.iter)
		if r.key.bounded {
			b = e.run(b, r.key.ops, s.keyAt)
		} else {
			keys := e.keys
			e.keys = 1
			b = e.run(b, r.key.ops, s.keyAt)
			e.keys = keys
		}
		b = e.run(b, r.elem.ops, s.elemAt)
	}
	r.putScratch(s)
	return b
}

// appendStringKeys appends the entries of a map from string to V.
func appendStringKeys[V any](e *encoder, b []byte, r *ref, m pointer) []byte {
	s := r.takeScratch(m)
	for k, v := range load[map[string]V](addressOf(&m)) {
		b = append(appendUvarint(b, uint64(len(k))), k...)
		store(s.elemAt, v)
		b = e.run(b, r.elem.ops, s.elemAt)
		if e.err != nil {
			break
		}
	}
	r.putScratch(s)
	return b
}
