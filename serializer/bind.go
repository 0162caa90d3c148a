package serializer

import (
	"fmt"
	"reflect"
)

// compileBinding decides how b's type is stored, compiles its programs, and returns its stored description. r.mu is held.
func (r *Registry) compileBinding(b *binding) (mem, schema []byte, err error) {
	if b.tier == 0 {
		b.tier = r.chooseTier(b.typ)
	}
	b.pointee = b.tier == Msgp && b.typ.Kind() == reflect.Pointer
	if b.tier == Plain {
		b.plain, mem = newPlainPlan(b.typ), layout(b.typ)
	}
	sch, err := r.schemaOf(b.typ)
	for i := range b.encode {
		if err == nil {
			b.encode[i], err = r.link(sch, b.typ, i == inInterface)
		}
	}
	if err != nil && b.tier == Msgp {
		b.encode = [2]*program{}
		return nil, nil, nil // its own methods know what to do; only as part of another value it is refused
	}
	if err != nil {
		return nil, nil, err
	}
	return mem, sch.encode(), nil
}

// chooseTier is the rule, but a pointer goes the way that its element was registered to go.
func (r *Registry) chooseTier(t reflect.Type) Tier {
	if t.Kind() == reflect.Pointer && r.registered[t.Elem()].tier != 0 {
		if reg := r.registered[t.Elem()]; reg.tier == Msgp && isMsgp(t.Elem()) {
			return Msgp
		}
		return Graph
	}
	return chooseTier(t)
}

// programFor returns the program that reads values of v into b's type, linking it at first use.
func (r *Registry) programFor(v *version, b *binding, mode int) (*program, error) {
	if p := v.programs[mode].Load(); p != nil {
		return p, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := b.encode[mode]
	if v != b.current {
		s, err := parseSchema(v.schema)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.name, err)
		}
		if p, err = r.link(s, b.typ, mode == inInterface); err != nil {
			return nil, err
		}
	}
	if p == nil {
		return nil, fmt.Errorf("%w: %s inside another value", ErrUnsupported, v.name)
	}
	v.programs[mode].Store(p)
	return p, nil
}

// mismatch says that bytes of code cannot become b's type.
func (r *Registry) mismatch(code Code, b *binding) error {
	v := r.version(code)
	switch {
	case v == nil && builtinType(code) == nil:
		return fmt.Errorf("%w: the value's type, code %d, is not known here; wanted %s", ErrWrongType, code, b.name)
	case v != nil && v.name == b.name:
		return fmt.Errorf("%w: the value is %s as it was stored earlier (%v, code %d), wanted as it is now (%v, code %d)",
			ErrWrongType, v.name, v.tier, code, b.tier, b.current.code)
	}
	return fmt.Errorf("%w: the value is %s, wanted %s", ErrWrongType, r.TypeName(code), b.name)
}
