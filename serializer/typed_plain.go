package serializer

import "fmt"

// PlainSize returns the size in bytes of every stored T, when T is of the Plain tier.
func (t *Typed[T]) PlainSize() (int, bool) {
	if t.tier != Plain {
		return 0, false
	}
	return int(t.bind.plain.size), true
}

// PutPlain copies *v into dst with padding zeroed. T must be of the Plain tier and dst have PlainSize bytes, or it panics.
// It costs as much as the copy, does not allocate, and *v may be on the stack.
func (t *Typed[T]) PutPlain(dst []byte, v *T) {
	p := t.bind.plain
	dst = dst[:p.size]
	copy(dst, bytesOf(v))
	if len(p.pads)|len(p.loops) != 0 {
		p.zeroPadding(dst)
	}
}

// ViewPlain returns the T that src is, without copying it: valid, and not to be written to, for as long as src is. T must be of
// the Plain tier (ErrWrongType). ErrCorrupt: src has another size, is not aligned for T, or has a bool other than 0 or 1.
// The caller has compared the code with Code.
func (t *Typed[T]) ViewPlain(src []byte) (*T, error) {
	if t.tier != Plain {
		return nil, fmt.Errorf("%w: %s is not plain memory but %v", ErrWrongType, t.bind.name, t.tier)
	}
	p := t.bind.plain
	if uintptr(len(src)) != p.size || len(p.bools)|len(p.loops) != 0 {
		if err := p.check(src, t.bind.name); err != nil {
			return nil, err
		}
	}
	if p.size == 0 {
		return new(T), nil
	}
	v, ok := viewAs[T](src)
	if !ok {
		return nil, fmt.Errorf("%w: %s is not aligned in memory", ErrCorrupt, t.bind.name)
	}
	return v, nil
}

// appendPlain appends the value whose memory is b.
func appendPlain(dst []byte, p *plainPlan, b []byte) []byte {
	n := len(dst)
	dst = append(dst, b...)
	if len(p.pads)|len(p.loops) != 0 {
		p.zeroPadding(dst[n:])
	}
	return dst
}
