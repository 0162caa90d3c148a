package serializer

import (
	"fmt"
	"reflect"
)

// Append appends the encoding of v to dst and returns the code of v's type with the longer slice; on an error, dst unchanged.
// A pointer is stored as a pointer: what Decode returns is a *T for a *T, nil for a nil *T. Untyped nil has no type to be
// stored as: ErrUnsupported. Otherwise as Typed.Append, which costs less.
func (r *Registry) Append(dst []byte, v any) (Code, []byte, error) {
	switch x := v.(type) {
	case nil:
		return 0, dst, fmt.Errorf("%w: nil", ErrUnsupported)
	case []byte:
		return CodeBytes, append(dst, x...), nil
	case string:
		return CodeString, append(dst, x...), nil
	}
	b, err := r.bind(reflect.TypeOf(v))
	if err != nil {
		return 0, dst, err
	}
	out, err := r.appendBoxed(dst, b, v)
	if err != nil {
		return 0, dst, err
	}
	return b.current.code, out, nil
}

// appendBoxed appends v, whose type is b's.
func (r *Registry) appendBoxed(dst []byte, b *binding, v any) ([]byte, error) {
	p := valueInside(addressOf(&v), b.direct)
	switch b.tier {
	case Raw:
		if b.typ.Kind() == reflect.String {
			return append(dst, load[string](p)...), nil
		}
		return append(dst, load[[]byte](p)...), nil
	case Plain:
		return appendPlain(dst, b.plain, sliceAt[byte](p, int(b.plain.size))), nil
	case Graph:
		if b.encode[asRoot].foreign {
			p = copyOf(v).UnsafePointer()
		}
		return r.appendGraph(dst, b.encode[asRoot], p)
	case Custom:
		return appendCustom(dst, b.codec, copyOf(v).Interface())
	}
	if !b.pointee {
		return appendMsgp(dst, copyOf(v).Interface().(msgpValue))
	}
	if reflect.ValueOf(v).IsNil() {
		return dst, nil
	}
	return appendMsgp(dst, v.(msgpValue))
}

// copyOf returns a pointer to a copy of v for foreign code, which may change what it gets: the value in an interface must not.
func copyOf(v any) reflect.Value {
	p := reflect.New(reflect.TypeOf(v))
	p.Elem().Set(reflect.ValueOf(v))
	return p
}

// Decode returns the value that Append stored under code: of the same type, a pointer for a pointer. It keeps no reference to src.
// Errors: ErrUnknownType when no Go type is known for code; otherwise as Typed.Decode.
func (r *Registry) Decode(code Code, src []byte) (any, error) {
	switch code {
	case CodeBytes:
		return append(make([]byte, 0, len(src)), src...), nil
	case CodeString:
		return string(src), nil
	}
	v, b, err := r.resolve(code)
	if err != nil {
		return nil, err
	}
	if v != b.current && v.tier != Graph && (v.tier != b.tier || v.tier == Plain) {
		return nil, r.mismatch(code, b)
	}
	p := newObject(b.typ)
	if err := r.decodeBoxed(v, b, src, p); err != nil {
		return nil, err
	}
	return anyOf(b.word, b.direct, p), nil
}

// decodeBoxed sets the value of b's type at p, which is zero, from src, which was written as v.
func (r *Registry) decodeBoxed(v *version, b *binding, src []byte, p pointer) error {
	switch v.tier {
	case Raw:
		if b.typ.Kind() == reflect.String {
			store(p, string(src))
		} else {
			store(p, append(make([]byte, 0, len(src)), src...))
		}
		return nil
	case Plain:
		if err := b.plain.check(src, b.name); err != nil {
			return err
		}
		copy(sliceAt[byte](p, len(src)), src)
		return nil
	case Graph:
		return r.decodeGraph(v, b, src, p)
	case Custom:
		return decodeCustom(src, b.codec, reflect.NewAt(b.typ, p).Interface())
	}
	if !b.pointee {
		return decodeMsgp(src, reflect.NewAt(b.typ, p).Interface().(msgpValue))
	}
	if len(src) == 0 {
		return nil
	}
	store(p, newObject(b.typ.Elem()))
	return decodeMsgp(src, reflect.NewAt(b.typ, p).Elem().Interface().(msgpValue))
}
