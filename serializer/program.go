package serializer

import (
	"reflect"
	"sync"
)

// opcode says what to do with the memory at an offset. Each stands for a writing and a reading step.
type opcode uint8

const (
	opBool opcode = iota + 1
	opByte        // int8, uint8
	opInt16
	opInt32
	opInt64
	opUint16
	opUint32
	opUint64
	opFloat32
	opFloat64
	opString
	opTime
	opBigInt
	opLocation
	opBinary
	opCustom
	opBytes // the elements of an array of bytes
	opArray
	opSlice
	opMap
	opPointer
	opInterface
	opConvert // reading only: a number stored in another width
	opSkip    // reading only: a field that the type no longer has
)

// op is one step of a program: code applied to the memory off bytes into the value.
type op struct {
	code opcode
	off  uintptr
	ref  *ref
}

// program writes and reads values of one Go type in the form one schema describes. Structs within structs are flattened, so that
// it is a list of the scalars and references in a value. It is compiled once and never changed.
type program struct {
	ops     []op
	typ     reflect.Type
	size    uintptr
	min     int  // the fewest bytes a value takes
	bounded bool // nests only as deep as the type: no depth to count, nothing to put off
	boxes   bool // holds an interface, so that values may nest through what interfaces hold
	foreign bool // calls the user's marshal code
}

// ref is what a step needs to know besides the offset. Which fields count depends on the opcode.
type ref struct {
	typ      reflect.Type // of the value at the offset
	elem     *program     // slice, array, map, pointer
	key      *program     // map
	n        int          // array, bytes: length
	class    uint32       // slice, map, pointer: which others it can be one with
	shared   bool
	inline   bool      // pointer: neither tracked nor put off
	alloc    allocForm // slice
	maps     mapForm
	pool     sync.Pool // map: of *mapScratch
	codec    Codec     // custom
	appender bool      // binary: AppendBinary saves an allocation
	from     kind      // convert: as stored; to: the Go type's kind
	to       reflect.Kind
	link     *linker  // skip: the stored schema,
	node     int      // and the node to skip
	words    sync.Map // interface with methods: reflect.Type to first word
}

// maxDepth is how many references may be followed within one another before what the next one refers to is put off until the
// present object is done. It bounds the stack: a list of any length is written in runs of maxDepth. Part of the format.
const maxDepth = 100

// maxKeyDepth is how deep the value of one map key may nest. A key must be complete before the map can take it, so nothing in it
// is put off.
const maxKeyDepth = 100
