package serializer

import (
	"encoding/binary"
	"fmt"
	"math"
)

// decoder holds what is known while one value is read. Like encoder it is recycled unless foreign code panics.
//
// Positions in src stand for success; a negative one means that err is set.
type decoder struct {
	reg     *Registry
	src     []byte
	objects []object // by id
	queue   []deferred
	pending int // the fewest bytes that what is in the queue, and elements still to be read, take
	depth   int
	keys    int
	err     error
	dropped int   // above 0: in a field that is gone
	hole    error // there, an interface held a type that is not known: it was left nil
	reused  bool  // something first met there was referred to from elsewhere
	budget  int   // memory that may still be allocated for elements that take no bytes

	window      string // a copy of src[windowStart:windowEnd], which short strings are parts of
	windowStart int
	windowEnd   int

	header sliceHeader // for makeSlice
}

// object is a reference that later ones can refer to: a pointer, a map, or the first of n elements of a slice.
type object struct {
	p     pointer
	class uint32 // 0: passed over, cannot be referred to
	gone  bool   // met in a field that is gone
	n     int
}

// freeBytes is what a value may allocate for elements without bytes, besides 256 times the length of src.
const freeBytes = 1 << 16

// decodeGraph sets the value of b's type at p, which is zero, from src, which was written as v.
func (r *Registry) decodeGraph(v *version, b *binding, src []byte, p pointer) error {
	prog := v.programs[asRoot].Load()
	if prog == nil {
		var err error
		if prog, err = r.programFor(v, b, asRoot); err != nil {
			return err
		}
	}
	d, _ := r.decoders.Get().(*decoder)
	if d == nil {
		d = &decoder{reg: r}
	}
	d.src = src
	pos := d.run(0, prog.ops, p)
	if len(d.queue) > 0 {
		pos = d.finish(pos)
	}
	if pos >= 0 && pos != len(src) {
		d.corrupt("%d bytes left over", len(src)-pos)
	}
	if d.reused && d.hole != nil {
		d.fail(d.hole)
	}
	err := d.err
	d.reset()
	r.decoders.Put(d)
	if err != nil {
		return fmt.Errorf("%w (reading %s)", err, b.name)
	}
	return nil
}

// finish reads what was put off.
func (d *decoder) finish(pos int) int {
	for i := 0; i < len(d.queue) && pos >= 0; i++ {
		w := d.queue[i]
		d.queue[i] = deferred{}
		d.pending -= w.min()
		d.dropped = w.dropped
		switch {
		case w.skip != nil:
			pos = d.skipContents(pos, w.link, w.skip, w.n)
		case w.maps != nil:
			pos = d.mapEntries(pos, w.maps, w.p, w.n)
		default:
			pos = d.elems(pos, w.elem, w.p, w.n)
		}
		if i > len(d.queue)/2 && i > 1024 {
			d.queue = append(d.queue[:0], d.queue[i+1:]...)
			i = -1
		}
	}
	return pos
}

// min is the fewest bytes that w takes.
func (w *deferred) min() int {
	switch {
	case w.skip != nil:
		return 0
	case w.maps != nil:
		return w.n * (w.maps.key.min + w.maps.elem.min)
	}
	return w.n * w.elem.min
}

// reset drops every reference to the value and to src.
func (d *decoder) reset() {
	d.src, d.err, d.window = nil, nil, ""
	d.dropped, d.hole, d.reused = 0, nil, false
	d.windowStart, d.windowEnd, d.depth, d.keys, d.pending, d.budget = 0, 0, 0, 0, 0, 0
	if len(d.objects)|cap(d.queue) == 0 {
		return
	}
	clear(d.objects)
	clear(d.queue)
	d.objects, d.queue = d.objects[:0], d.queue[:0]
	if cap(d.objects) > keepEntries {
		d.objects = nil
	}
	if cap(d.queue) > keepEntries {
		d.queue = nil
	}
}

// putOff queues w, to be read when the present object is done.
func (d *decoder) putOff(pos int, w deferred) int {
	d.pending += w.min()
	w.dropped = d.dropped
	d.queue = append(d.queue, w)
	return pos
}

// fail records the first error and returns a negative position.
func (d *decoder) fail(err error) int {
	if d.err == nil {
		d.err = err
	}
	return -1
}

// corrupt is fail with ErrCorrupt.
func (d *decoder) corrupt(format string, args ...any) int {
	return d.fail(fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...)))
}

// short is fail for bytes that end too early.
func (d *decoder) short() int { return d.corrupt("cut short") }

// uvarint reads a number.
func (d *decoder) uvarint(pos int) (uint64, int) {
	x, next := uvarint(d.src, pos)
	if next < 0 {
		d.short()
	}
	return x, next
}

// run reads a value to p.
func (d *decoder) run(pos int, ops []op, p pointer) int {
	for i := range ops {
		o := &ops[i]
		q := add(p, o.off)
		switch o.code {
		case opString, opInt64, opUint64:
			x, next := uvarint(d.src, pos)
			if next < 0 {
				return d.short()
			}
			switch pos = next; o.code {
			case opInt64:
				store(q, unzigzag(x))
			case opUint64:
				store(q, x)
			default:
				if pos = d.text(pos, x, q); pos < 0 {
					return pos
				}
			}
		case opByte:
			if uint(pos) >= uint(len(d.src)) {
				return d.short()
			}
			store(q, d.src[pos])
			pos++
		case opSlice:
			pos = d.slice(pos, o.ref, q)
		case opPointer:
			pos = d.pointer(pos, o.ref, q)
		case opFloat64:
			if len(d.src)-pos < 8 {
				return d.short()
			}
			store(q, math.Float64frombits(binary.LittleEndian.Uint64(d.src[pos:])))
			pos += 8
		default:
			pos = d.other(pos, o, q)
		}
		if pos < 0 {
			return pos
		}
	}
	return pos
}

// other is run for the less frequent steps.
func (d *decoder) other(pos int, o *op, q pointer) int {
	switch o.code {
	case opMap:
		return d.mapping(pos, o.ref, q)
	case opInterface:
		return d.iface(pos, o.ref, q)
	case opBool:
		return d.boolean(pos, q)
	case opInt16, opInt32, opUint16, opUint32:
		return d.narrow(pos, o.code, q)
	case opFloat32:
		if len(d.src)-pos < 4 {
			return d.short()
		}
		store(q, math.Float32frombits(binary.LittleEndian.Uint32(d.src[pos:])))
		return pos + 4
	case opTime:
		return d.time(pos, q)
	case opBigInt:
		return d.bigInt(pos, q)
	case opLocation:
		return d.location(pos, q)
	case opBytes, opArray:
		return d.elems(pos, o.ref.elem, q, o.ref.n)
	case opConvert:
		return d.convert(pos, o.ref, q)
	case opSkip:
		d.dropped++
		pos = d.skip(pos, o.ref.link, o.ref.node)
		d.dropped--
		return pos
	}
	return d.foreign(pos, o, q)
}
