package serializer

import (
	"fmt"
	"reflect"
	"sync"
)

// Typed stores and reads values of T: the way is chosen once, and no value is boxed per call. It is safe for concurrent use.
// For makes one.
type Typed[T any] struct {
	reg     *Registry
	bind    *binding
	code    Code
	tier    Tier
	text    bool      // Raw: T's kind is string
	program *program  // Graph: what Append runs
	boxes   sync.Pool // of *T: heap memory for AppendValue and DecodeValue
}

// For returns the way T is stored in r, and gives T a code. It refuses a type that cannot be stored, naming the path to what
// cannot (ErrUnsupported), a name that is another type's (ErrName), and a full registry (ErrTooManyTypes). The first call for
// a type compiles it; keep the result.
func For[T any](r *Registry) (*Typed[T], error) {
	typ := reflect.TypeFor[T]()
	if typ.Kind() == reflect.Interface {
		// An interface has no values of its own: wrap it, so that a T is stored as the interface field it would be.
		return nil, fmt.Errorf("%w: interface type %s; use Registry.Append", ErrUnsupported, typ)
	}
	b, err := r.bind(typ)
	if err != nil {
		return nil, err
	}
	t := &Typed[T]{reg: r, bind: b, code: b.current.code, tier: b.tier, text: typ.Kind() == reflect.String}
	if b.tier == Graph {
		t.program = b.encode[asRoot]
	}
	t.boxes.New = func() any { return new(T) }
	return t, nil
}

// Code returns what a header says about values that Append writes.
func (t *Typed[T]) Code() Code { return t.code }

// Tier returns the tier of T.
func (t *Typed[T]) Tier() Tier { return t.tier }

// Append appends the encoding of *v to dst, growing it when needed, and returns the longer slice; on an error, dst unchanged.
// It makes no other allocation. Errors: ErrUnsupported for a value in an interface that cannot be stored, ErrCodec, and what the
// user's own marshal code returns. *v must not change meanwhile. See AppendValue for values that are not on the heap anyway.
func (t *Typed[T]) Append(dst []byte, v *T) ([]byte, error) {
	switch t.tier {
	case Raw:
		return t.appendRaw(dst, v), nil
	case Plain:
		return appendPlain(dst, t.bind.plain, bytesOf(v)), nil
	case Msgp:
		return appendMsgp(dst, t.msgpOf(v))
	case Custom:
		return appendCustom(dst, t.bind.codec, v)
	}
	return t.reg.appendGraph(dst, t.program, addressOf(v))
}

// AppendValue is Append for a value that is not on the heap: it need not be moved there. Tiers whose programs or foreign code need
// it on the heap get a copy in a recycled box.
func (t *Typed[T]) AppendValue(dst []byte, v T) ([]byte, error) {
	switch {
	case t.tier == Raw:
		return t.appendRaw(dst, &v), nil
	case t.tier == Plain:
		return appendPlain(dst, t.bind.plain, bytesOf(&v)), nil
	}
	box := t.boxes.Get().(*T)
	*box = v
	dst, err := t.Append(dst, box)
	t.putBox(box)
	return dst, err
}

// Decode sets *dst from src, the bytes of a value whose header says code. It keeps no reference to src. It allocates what the
// value itself needs. On an error *dst is zero. Errors: ErrWrongType when code is another type's or of a version of T that the
// present one cannot take over; ErrCorrupt; ErrOverflow; ErrUnknownType for a value in an interface.
func (t *Typed[T]) Decode(code Code, src []byte, dst *T) error {
	var zero T
	*dst = zero
	var err error
	if t.flat(code) {
		err = t.decodeFlat(src, dst)
	} else {
		err = t.decodeInto(code, src, dst)
	}
	if err != nil {
		*dst = zero
	}
	return err
}

// DecodeValue is Decode for a result that need not be on the heap; see AppendValue.
func (t *Typed[T]) DecodeValue(code Code, src []byte) (v T, err error) {
	switch {
	case t.flat(code):
		err = t.decodeFlat(src, &v)
	default:
		box := t.boxes.Get().(*T)
		err = t.Decode(code, src, box)
		v = *box
		t.putBox(box)
	}
	return v, err
}

// putBox recycles a box, so emptied that it keeps nothing alive. A box that foreign code panicked on is not recycled.
func (t *Typed[T]) putBox(box *T) {
	var zero T
	*box = zero
	t.boxes.Put(box)
}

func (t *Typed[T]) appendRaw(dst []byte, v *T) []byte {
	if t.text {
		return append(dst, *as[string](v)...)
	}
	return append(dst, *as[[]byte](v)...)
}

// flat reports whether bytes of code are a T as it is now, in the Raw or Plain tier. Bytes and strings are each other's.
func (t *Typed[T]) flat(code Code) bool {
	switch t.tier {
	case Plain:
		return code == t.code
	case Raw:
		return code == t.code || t.code <= CodeString && code <= CodeString
	}
	return false
}

// decodeFlat is Decode for Raw and Plain. dst does not escape.
func (t *Typed[T]) decodeFlat(src []byte, dst *T) error {
	switch {
	case t.tier == Plain:
		if err := t.bind.plain.check(src, t.bind.name); err != nil {
			return err
		}
		copy(bytesOf(dst), src)
	case t.text:
		*as[string](dst) = string(src)
	default:
		*as[[]byte](dst) = append(make([]byte, 0, len(src)), src...)
	}
	return nil
}

// decodeInto is Decode for the other tiers.
func (t *Typed[T]) decodeInto(code Code, src []byte, dst *T) error {
	v := t.bind.current
	if code != t.code {
		v = t.reg.version(code)
		if v == nil || v.name != t.bind.name {
			return t.reg.mismatch(code, t.bind)
		}
	}
	switch {
	case v.tier == Graph:
		return t.reg.decodeGraph(v, t.bind, src, addressOf(dst))
	case v.tier != t.tier || v.tier == Plain:
		return t.reg.mismatch(code, t.bind)
	case v.tier == Raw:
		return t.decodeFlat(src, dst)
	case v.tier == Custom:
		return decodeCustom(src, t.bind.codec, dst)
	case t.bind.pointee && len(src) == 0:
		return nil // a nil pointer
	case t.bind.pointee:
		store(addressOf(dst), newObject(t.bind.typ.Elem()))
	}
	return decodeMsgp(src, t.msgpOf(dst))
}

// msgpOf returns the pointer with msgp's methods for v, nil for a nil pointer.
func (t *Typed[T]) msgpOf(v *T) msgpValue {
	if !t.bind.pointee {
		return any(v).(msgpValue)
	}
	if load[pointer](addressOf(v)) == nil {
		return nil
	}
	return any(*v).(msgpValue)
}
