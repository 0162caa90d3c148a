package serializer

import (
	"reflect"
	"time"
)

// Types that are compared with. Read-only.
var (
	anyType      = reflect.TypeFor[any]()
	timeType     = reflect.TypeFor[time.Time]()
	locationType = reflect.TypeFor[*time.Location]()
)

// skip passes over a stored value of node i that the type has no field for any more. References are numbered as when they are
// read; those that another field may refer to again are read after all, and dropped.
func (d *decoder) skip(pos int, l *linker, i int) int {
	n := &l.sch.nodes[i]
	if prog := l.known[i]; prog != nil {
		return d.run(pos, prog.ops, newObject(prog.typ))
	}
	switch n.kind {
	case kindBool, kindInt8, kindUint8:
		return d.skipBytes(pos, 1)
	case kindFloat32, kindFloat64, kindComplex64, kindComplex128:
		return d.skipBytes(pos, uint64(fixedMin[n.kind]))
	case kindString, kindBinary, kindCustom:
		x, pos := d.uvarint(pos)
		return d.skipBytes(pos, x)
	case kindBigInt:
		x, pos := d.uvarint(pos)
		return d.skipBytes(pos, x>>1)
	case kindTime:
		return d.time(pos, newObject(timeType))
	case kindLocation:
		return d.location(pos, newObject(locationType))
	case kindInterface:
		return d.iface(pos, &ref{typ: anyType}, newObject(anyType))
	case kindStruct:
		for _, f := range n.fields {
			if pos = d.skip(pos, l, f.node); pos < 0 {
				break
			}
		}
		return pos
	case kindArray:
		return d.skipValues(pos, l, n.elem, n.n)
	case kindSlice, kindMap, kindPointer:
		return d.skipReference(pos, l, n)
	}
	_, pos = d.uvarint(pos)
	return pos
}

func (d *decoder) skipBytes(pos int, n uint64) int {
	if pos >= 0 && n > uint64(len(d.src)-pos) {
		return d.short()
	}
	if pos < 0 {
		return pos
	}
	return pos + int(n)
}

// skipValues passes over count values of node i.
func (d *decoder) skipValues(pos int, l *linker, i, count int) int {
	if l.sch.nodes[i].min == 0 {
		return pos // nothing but empty structs and arrays
	}
	for range count {
		if pos = d.skip(pos, l, i); pos < 0 {
			break
		}
	}
	return pos
}

// skipReference passes over a slice, map or pointer.
func (d *decoder) skipReference(pos int, l *linker, n *node) int {
	tag, pos := d.uvarint(pos)
	if pos < 0 || tag == tagNil {
		return pos
	}
	count, parts := uint64(1), 0
	switch {
	case n.kind == kindPointer && tag >= tagSeen:
		return pos
	case n.kind == kindMap && tag == tagSeenMap:
		parts = 1
	case n.kind == kindMap:
		count = tag - tagMap
	case n.kind == kindSlice && tag == tagPart:
		parts = 3
	case n.kind == kindSlice && tag == tagArray:
		if count, pos = d.uvarint(pos); pos >= 0 {
			_, pos = d.uvarint(pos)
		}
		if pos >= 0 {
			_, pos = d.uvarint(pos)
		}
	case n.kind == kindSlice:
		count = tag - tagSlice
	}
	for range parts {
		if _, pos = d.uvarint(pos); pos < 0 {
			return pos
		}
	}
	if pos < 0 || parts > 0 {
		return pos
	}
	return d.skipNew(pos, l, n, count)
}

// skipNew numbers a reference as it was when written, and passes over what it refers to or puts that off.
func (d *decoder) skipNew(pos int, l *linker, n *node, count uint64) int {
	each := l.sch.nodes[n.elem].min
	bounded := l.sch.nodes[n.elem].bounded
	if n.kind == kindMap {
		each += l.sch.nodes[n.key].min
		bounded = bounded && l.sch.nodes[n.key].bounded
	}
	if !d.room(pos, count, each) || each == 0 && count > 1<<31 {
		return d.short()
	}
	if n.tracked(l.all) && (count > 0 || n.kind == kindMap) {
		d.objects = append(d.objects, object{})
	}
	switch {
	case bounded:
		return d.skipContents(pos, l, n, int(count))
	case d.depth >= maxDepth || d.keys > 0:
		return d.putOff(pos, deferred{skip: n, link: l, n: int(count)})
	}
	d.depth++
	pos = d.skipContents(pos, l, n, int(count))
	d.depth--
	return pos
}

// skipContents passes over what the reference n refers to.
func (d *decoder) skipContents(pos int, l *linker, n *node, count int) int {
	if n.kind != kindMap {
		return d.skipValues(pos, l, n.elem, count)
	}
	for range count {
		if pos = d.skipKey(pos, l, n.key); pos < 0 {
			break
		}
		if pos = d.skip(pos, l, n.elem); pos < 0 {
			break
		}
	}
	return pos
}

// skipKey passes over a map key, in which nothing is put off but what pointers refer to.
func (d *decoder) skipKey(pos int, l *linker, i int) int {
	if l.sch.nodes[i].bounded {
		return d.skip(pos, l, i)
	}
	keys := d.keys
	d.keys = 1
	pos = d.skip(pos, l, i)
	d.keys = keys
	return pos
}

// skipVersion passes over the value in an interface by its stored schema, as its type is not known.
func (d *decoder) skipVersion(pos int, v *version) int {
	s, err := parseSchema(v.schema)
	if err != nil {
		return d.fail(err)
	}
	l := &linker{sch: s, all: true}
	switch {
	case !s.nodes[0].boxes:
		return d.skip(pos, l, 0)
	case d.keys > maxKeyDepth:
		return d.corrupt("a map key nests deeper than %d", maxKeyDepth)
	case d.keys > 0:
		d.keys++
		pos = d.skip(pos, l, 0)
		d.keys--
		return pos
	case d.depth >= maxDepth:
		return d.putOff(pos, deferred{skip: &node{kind: kindPointer, elem: 0}, link: l, n: 1}) // as a pointer's object would be
	}
	d.depth++
	pos = d.skip(pos, l, 0)
	d.depth--
	return pos
}
