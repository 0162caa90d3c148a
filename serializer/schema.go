package serializer

import "reflect"

// kind is how a value is written: docs/SERIALIZATION.md draws the bytes of each. The numbers are part of the stored format.
type kind uint8

const (
	kindBool       kind = 1
	kindInt8       kind = 2
	kindInt16      kind = 3
	kindInt32      kind = 4
	kindInt64      kind = 5 // int too
	kindUint8      kind = 6
	kindUint16     kind = 7
	kindUint32     kind = 8
	kindUint64     kind = 9 // uint too
	kindFloat32    kind = 10
	kindFloat64    kind = 11
	kindComplex64  kind = 12
	kindComplex128 kind = 13
	kindString     kind = 14
	kindTime       kind = 15
	kindBigInt     kind = 16
	kindLocation   kind = 17 // *time.Location
	kindBinary     kind = 18 // encoding.BinaryMarshaler
	kindCustom     kind = 19 // a registered Codec
	kindSlice      kind = 20
	kindArray      kind = 21
	kindMap        kind = 22
	kindPointer    kind = 23
	kindInterface  kind = 24
	kindStruct     kind = 25
)

// kindNames are the names of kinds in messages. Read-only.
var kindNames = [...]string{"", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
	"complex64", "complex128", "string", "time.Time", "big.Int", "*time.Location", "binary", "custom", "slice", "array", "map",
	"pointer", "interface", "struct"}

// String names the kind in messages.
func (k kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "?"
}

// schema describes everything that values of one type are made of, as far as it is known before there is a value: what an
// interface holds says so itself. It is a graph: nodes[0] is the type, nodes name each other by index, one node for each type.
type schema struct {
	nodes []node
}

// node is one type in a schema.
type node struct {
	kind   kind
	shared bool    // slice, map, pointer: a value may be met twice, so it gets a number and later meetings refer to it
	empty  bool    // slice, pointer: the elements have no size, so their addresses say nothing and they are never shared
	name   string  // struct, binary, custom, interface
	elem   int     // slice, array, map, pointer
	key    int     // map
	n      int     // array
	fields []field // struct

	typ     reflect.Type // only in the schema of a Go type
	min     int          // the fewest bytes a value takes
	bounded bool         // nothing below is recursive or an interface: nests only as deep as the type
	boxes   bool         // holds an interface, not counting what it refers to
	height  int          // how deep a bounded node nests
}

// field is one field of a struct node.
type field struct {
	name string
	node int
}

// reference reports whether the value refers to others rather than containing them.
func (n *node) reference() bool {
	return n.kind == kindSlice || n.kind == kindMap || n.kind == kindPointer
}

// tracked reports whether values of n get numbers: the shared ones, or all in what an interface holds.
func (n *node) tracked(all bool) bool { return n.shared || all && n.reference() && !n.empty }

// children calls f with every node that a value of n contains or refers to, and how often at most (2 for more than once).
func (n *node) children(f func(child, times int)) {
	switch n.kind {
	case kindSlice:
		f(n.elem, 2)
	case kindArray:
		f(n.elem, min(n.n, 2))
	case kindPointer:
		f(n.elem, 1)
	case kindMap:
		f(n.key, 2)
		f(n.elem, 2)
	case kindStruct:
		for i := range n.fields {
			f(n.fields[i].node, 1)
		}
	}
}
