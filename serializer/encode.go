package serializer

import (
	"fmt"
	"math"
	"reflect"
	"runtime"
)

// encoder holds what is known while one value is written. It comes from a pool and goes back only when the value is done: when
// foreign code panics it is left to the collector.
type encoder struct {
	reg   *Registry
	refs  refTable
	ids   uint32 // references numbered so far
	queue []deferred
	depth int // references followed within one another
	keys  int // above 0: inside a map key, so deep
	err   error

	// Slices of one array may overlap in ways that show only when the second is met: see encode_slice.go.
	widen map[arrayKey]extent
	again bool

	lastType    reflect.Type // the last type met in an interface, and its binding
	lastBinding *binding
}

// deferred is what a reference refers to, to be written or read when the present object is done: n values at p, or the entries
// of the map p.
type deferred struct {
	elem *program
	maps *ref
	p    pointer
	n    int
	skip *node // reading: no value, just pass over n values of this node, or the entries of this map
	link *linker

	dropped int // reading: decoder.dropped
}

// appendGraph appends the value at p.
func (r *Registry) appendGraph(dst []byte, prog *program, p pointer) ([]byte, error) {
	e, _ := r.encoders.Get().(*encoder)
	if e == nil {
		e = &encoder{reg: r}
	}
	b := e.run(dst, prog.ops, p)
	if len(e.queue) > 0 || e.again {
		b = e.finish(b, dst, prog, p)
	}
	runtime.KeepAlive(p) // addresses in e.refs stand for objects only as long as these are there
	err := e.err
	e.reset()
	r.encoders.Put(e)
	if err != nil {
		return dst, err
	}
	return b, nil
}

// finish writes what was put off, and starts over for as long as slices turn out to overlap.
func (e *encoder) finish(b, dst []byte, prog *program, p pointer) []byte {
	for {
		for i := 0; i < len(e.queue) && e.err == nil; i++ {
			d := e.queue[i]
			e.queue[i] = deferred{}
			if d.maps != nil {
				b = e.mapEntries(b, d.maps, d.p)
			} else {
				b = e.elems(b, d.elem, d.p, d.n)
			}
			if i > len(e.queue)/2 && i > 1024 { // keep the queue as long as what waits in it
				e.queue = append(e.queue[:0], e.queue[i+1:]...)
				i = -1
			}
		}
		if !e.again || e.err != nil {
			return b
		}
		e.again = false
		e.restart()
		b = e.run(dst, prog.ops, p)
	}
}

// restart forgets what was met, but not how slices overlap.
func (e *encoder) restart() {
	e.refs.reset()
	e.ids = 0
	clear(e.queue)
	e.queue = e.queue[:0]
	if cap(e.queue) > keepEntries {
		e.queue = nil
	}
}

// reset makes e ready for another value.
func (e *encoder) reset() {
	if e.ids|uint32(len(e.queue)) != 0 {
		e.restart()
	}
	e.depth, e.keys, e.err, e.widen, e.again = 0, 0, nil, nil, false
}

// fail records the first error. Writing goes on for a little, into a buffer that will be dropped.
func (e *encoder) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf(format, args...)
	}
}

// run appends the value at p. What fits a byte is appended here, without a call: most lengths, tags and small numbers do.
func (e *encoder) run(b []byte, ops []op, p pointer) []byte {
	for i := range ops {
		o := &ops[i]
		q := add(p, o.off)
		var x uint64
		switch o.code {
		case opString:
			s := load[string](q)
			if len(s) < 1<<7 {
				b = append(b, byte(len(s)))
			} else {
				b = appendUvarint(b, uint64(len(s)))
			}
			b = append(b, s...)
			continue
		case opInt64:
			x = zigzag(load[int64](q))
		case opUint64:
			x = load[uint64](q)
		case opInt32:
			x = zigzag(int64(load[int32](q)))
		case opBool, opByte:
			b = append(b, load[byte](q))
			continue
		case opFloat64:
			b = appendFixed64(b, math.Float64bits(load[float64](q)))
			continue
		case opSlice:
			if load[pointer](q) != nil {
				b = e.slice(b, o.ref, q)
				continue
			}
		case opPointer:
			if to := load[pointer](q); to != nil {
				if r := o.ref; r.inline {
					b = e.run(append(b, tagPointer), r.elem.ops, to)
				} else {
					b = e.pointer(b, r, to)
				}
				continue
			}
		case opTime:
			b = appendTime(b, q)
			continue
		default:
			b = e.other(b, o, q)
			continue
		}
		if x < 1<<7 {
			b = append(b, byte(x))
		} else {
			b = appendUvarint(b, x)
		}
	}
	return b
}

// other is run for the less frequent steps.
func (e *encoder) other(b []byte, o *op, q pointer) []byte {
	switch o.code {
	case opMap:
		return e.mapping(b, o.ref, q)
	case opInterface:
		return e.iface(b, o.ref, q)
	case opInt16:
		return appendVarint(b, int64(load[int16](q)))
	case opUint16:
		return appendUvarint(b, uint64(load[uint16](q)))
	case opUint32:
		return appendUvarint(b, uint64(load[uint32](q)))
	case opFloat32:
		return appendFixed32(b, math.Float32bits(load[float32](q)))
	case opBigInt:
		return appendBigInt(b, q)
	case opLocation:
		return appendLocation(b, q)
	case opBytes:
		return append(b, sliceAt[byte](q, o.ref.n)...)
	case opArray:
		return e.elems(b, o.ref.elem, q, o.ref.n)
	}
	return e.foreign(b, o, q)
}

// elems appends n consecutive values at p.
func (e *encoder) elems(b []byte, elem *program, p pointer, n int) []byte {
	if len(elem.ops) == 1 && elem.ops[0].off == 0 {
		switch elem.ops[0].code {
		case opBool, opByte:
			return append(b, sliceAt[byte](p, n)...)
		case opFloat64:
			return appendFloats64(b, sliceAt[uint64](p, n))
		case opFloat32:
			return appendFloats32(b, sliceAt[uint32](p, n))
		case opInt64:
			for _, x := range sliceAt[int64](p, n) {
				b = appendUvarint(b, zigzag(x))
			}
			return b
		}
	}
	if len(elem.ops) == 0 {
		return b
	}
	for i := range n {
		b = e.run(b, elem.ops, add(p, uintptr(i)*elem.size))
		if e.err != nil {
			break
		}
	}
	return b
}

// contents appends the n values at p that a reference refers to, or puts them off.
func (e *encoder) contents(b []byte, elem *program, p pointer, n int) []byte {
	switch {
	case elem.bounded:
		return e.elems(b, elem, p, n)
	case e.depth >= maxDepth || e.keys > 0:
		e.queue = append(e.queue, deferred{elem: elem, p: p, n: n})
		return b
	}
	e.depth++
	b = e.elems(b, elem, p, n)
	e.depth--
	return b
}
