package serializer

import "fmt"

// share marks the references that can be met twice within one value: two places of one class (the same element type), one place
// that is repeated, or anything when there is an interface, as it may hold a reference of any class.
func (s *schema) share() {
	places := s.places()
	classes := map[any]int{}
	all := false
	for i := range s.nodes {
		n := &s.nodes[i]
		all = all || n.kind == kindInterface
		if n.reference() {
			classes[sharingClass(n)] += places[i]
		}
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		n.empty = (n.kind == kindSlice || n.kind == kindPointer) && n.typ.Elem().Size() == 0
		n.shared = n.reference() && !n.empty && (all || classes[sharingClass(n)] > 1)
	}
}

// sharingClass identifies the references that can be one and the same.
func sharingClass(n *node) any { return [3]int{int(n.kind), n.elem, n.key} }

// places counts, up to 2, the places in a value where each node can be: a fixed point, as types are recursive.
func (s *schema) places() []int {
	places := make([]int, len(s.nodes))
	for changed := true; changed; {
		changed = false
		next := make([]int, len(s.nodes))
		next[0] = 1
		for i := range s.nodes {
			s.nodes[i].children(func(child, times int) { next[child] = min(2, next[child]+places[i]*times) })
		}
		for i := range next {
			changed = changed || next[i] != places[i]
		}
		places = next
	}
	return places
}

// maxHeight is how deep a type may nest and still count as bounded.
const maxHeight = 64

// derive computes min, boxes, bounded and height of every node. It fails on a node that contains itself, which no Go type does.
func (s *schema) derive() error {
	state := make([]uint8, len(s.nodes))
	for i := range s.nodes {
		if s.deriveMin(i, state) < 0 {
			return fmt.Errorf("%w: schema node %d contains itself or is too large", ErrCorrupt, i)
		}
	}
	clear(state)
	for i := range s.nodes {
		s.deriveBounded(i, state)
	}
	return nil
}

const (
	visiting = 1
	visited  = 2
	// maxMin caps the fewest bytes of a value, so that no sum overflows 32 bits.
	maxMin = 1 << 28
)

// fixedMin are the bytes of values that always take the same. Read-only.
var fixedMin = map[kind]int{kindFloat32: 4, kindFloat64: 8, kindComplex64: 8, kindComplex128: 16}

// deriveMin computes node i's min and boxes. It returns min, or -1.
func (s *schema) deriveMin(i int, state []uint8) int {
	n := &s.nodes[i]
	switch state[i] {
	case visiting:
		return -1
	case visited:
		return n.min
	}
	state[i] = visiting
	switch n.kind {
	case kindArray:
		m := s.deriveMin(n.elem, state)
		if m < 0 || n.n > 0 && m > maxMin/n.n {
			return -1
		}
		n.min = m * n.n
		n.boxes = s.nodes[n.elem].boxes
	case kindStruct:
		for _, f := range n.fields {
			m := s.deriveMin(f.node, state)
			if m < 0 || n.min+m > maxMin {
				return -1
			}
			n.min += m
			n.boxes = n.boxes || s.nodes[f.node].boxes
		}
	default:
		n.min = max(1, fixedMin[n.kind])
		n.boxes = n.kind == kindInterface
	}
	state[i] = visited
	return n.min
}

// deriveBounded computes node i's bounded and height.
func (s *schema) deriveBounded(i int, state []uint8) {
	n := &s.nodes[i]
	if state[i] != 0 {
		return // a node that is being visited is on a cycle: it is not bounded, nor is who asks
	}
	state[i] = visiting
	n.bounded = n.kind != kindInterface
	n.children(func(child, _ int) {
		s.deriveBounded(child, state)
		c := &s.nodes[child]
		n.bounded = n.bounded && state[child] == visited && c.bounded
		n.height = max(n.height, c.height+1)
	})
	n.bounded = n.bounded && n.height < maxHeight
	state[i] = visited
}
