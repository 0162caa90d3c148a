package serializer

import (
	"encoding/binary"
	"fmt"
)

// A stored schema:
//
//	count uvarint | nodes
//	node = kind byte | flags byte (bit 0: shared, bit 1: empty) | by kind:
//	  struct                     name, count uvarint, then per field: name, node uvarint
//	  binary, custom, interface  name
//	  slice, pointer             elem uvarint
//	  array                      elem uvarint, length uvarint
//	  map                        key uvarint, elem uvarint
//	name = length uvarint | bytes
//
// (uvarint as in encoding/binary).

const (
	flagShared = 1
	flagEmpty  = 2
)

// maxNodes bounds what is believed of stored bytes.
const maxNodes = 1 << 16

// encode returns the stored form of s.
func (s *schema) encode() []byte {
	b := binary.AppendUvarint(nil, uint64(len(s.nodes)))
	for i := range s.nodes {
		b = s.nodes[i].append(b)
	}
	return b
}

func (n *node) append(b []byte) []byte {
	flags := byte(0)
	if n.shared {
		flags |= flagShared
	}
	if n.empty {
		flags |= flagEmpty
	}
	b = append(b, byte(n.kind), flags)
	switch n.kind {
	case kindBinary, kindCustom, kindInterface:
		b = appendName(b, n.name)
	case kindSlice, kindPointer:
		b = binary.AppendUvarint(b, uint64(n.elem))
	case kindArray:
		b = binary.AppendUvarint(b, uint64(n.elem))
		b = binary.AppendUvarint(b, uint64(n.n))
	case kindMap:
		b = binary.AppendUvarint(b, uint64(n.key))
		b = binary.AppendUvarint(b, uint64(n.elem))
	case kindStruct:
		b = appendName(b, n.name)
		b = binary.AppendUvarint(b, uint64(len(n.fields)))
		for _, f := range n.fields {
			b = appendName(b, f.name)
			b = binary.AppendUvarint(b, uint64(f.node))
		}
	}
	return b
}

func appendName(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// schemaReader takes a stored schema apart. After an error it returns zeros.
type schemaReader struct {
	b     []byte
	nodes int
	bad   bool
}

// parseSchema reads what encode wrote. It allocates no more than a fixed multiple of len(b) and returns ErrCorrupt for anything
// else.
func parseSchema(b []byte) (*schema, error) {
	r := &schemaReader{b: b}
	r.nodes = r.number(min(maxNodes, len(b)))
	s := &schema{}
	for i := 0; i < r.nodes && !r.bad; i++ {
		s.nodes = append(s.nodes, r.node())
	}
	if r.bad || len(r.b) > 0 || len(s.nodes) == 0 {
		return nil, fmt.Errorf("%w: stored schema", ErrCorrupt)
	}
	return s, s.derive()
}

func (r *schemaReader) node() (n node) {
	n.kind = kind(r.byte())
	flags := r.byte()
	n.shared, n.empty = flags&flagShared != 0, flags&flagEmpty != 0
	switch n.kind {
	case kindBinary, kindCustom, kindInterface:
		n.name = r.name()
	case kindSlice, kindPointer:
		n.elem = r.number(r.nodes - 1)
	case kindArray:
		n.elem = r.number(r.nodes - 1)
		n.n = r.number(1 << 30)
	case kindMap:
		n.key = r.number(r.nodes - 1)
		n.elem = r.number(r.nodes - 1)
	case kindStruct:
		n.name = r.name()
		for range r.number(len(r.b)) {
			if r.bad {
				break
			}
			n.fields = append(n.fields, field{name: r.name(), node: r.number(r.nodes - 1)})
		}
	case 0:
		r.bad = true
	default:
		r.bad = r.bad || n.kind > kindStruct
	}
	return n
}

func (r *schemaReader) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

// number reads a number of at most limit.
func (r *schemaReader) number(limit int) int {
	x, n := binary.Uvarint(r.b)
	if n <= 0 || limit < 0 || x > uint64(limit) {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return int(x)
}

func (r *schemaReader) name() string {
	n := r.number(len(r.b))
	if n > len(r.b) { // the number itself took some of the bytes it was compared with
		r.bad = true
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}
