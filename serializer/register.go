package serializer

import (
	"fmt"
	"reflect"
	"strings"
)

// Codec stores the values of one type in the user's own way. Both methods get a pointer to a value of the type registered.
// They may be called by several goroutines at once, may call the registry, and may panic: the panic reaches the caller.
type Codec interface {
	// Append appends the encoding of *v to dst and returns the longer slice. It must not change what was in dst.
	Append(dst []byte, v any) ([]byte, error)
	// Decode sets *v, which is zero, from src: exactly what Append appended. It must neither change src nor keep any part of it.
	// An error is returned to the caller wrapped in ErrCorrupt.
	Decode(src []byte, v any) error
}

// Register gives the type of sample a stable name, so that it keeps its stored values when it is moved or renamed. Types that are
// not registered are known by their name with the full package path. sample may be a nil pointer or a zero value: only its type
// counts. Registering the same again is no error. ErrName: the name is another type's, or the type has another name;
// ErrInUse: the type, or one that contains it, was used before; ErrUnsupported: sample is nil.
func (r *Registry) Register(name string, sample any) error {
	return r.register(sample, registration{name: name})
}

// RegisterTier is Register with the tier chosen by the caller instead of by rule: Graph for a pointer-free type or one with msgp
// methods, or Msgp for a pointer-free type that has them. ErrUnsupported: the type cannot be stored that way.
func (r *Registry) RegisterTier(name string, sample any, tier Tier) error {
	if sample != nil && !tierPossible(reflect.TypeOf(sample), tier) {
		return fmt.Errorf("%w: %s as %v", ErrUnsupported, reflect.TypeOf(sample), tier)
	}
	return r.register(sample, registration{name: name, tier: tier})
}

// RegisterCodec is Register for a type whose values c stores, at the root of a value as well as inside others.
func (r *Registry) RegisterCodec(name string, sample any, c Codec) error {
	if c == nil {
		return fmt.Errorf("%w: nil codec for %q", ErrCodec, name)
	}
	return r.register(sample, registration{name: name, tier: Custom, codec: c})
}

func (r *Registry) register(sample any, reg registration) error {
	t := reflect.TypeOf(sample)
	if t == nil {
		return fmt.Errorf("%w: nil sample for %q", ErrUnsupported, reg.name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if reg.name == "" || strings.HasPrefix(reg.name, "*") || strings.HasPrefix(reg.name, "[") || strings.HasPrefix(reg.name, "map[") {
		return fmt.Errorf("%w: %q for %s reads as the name of a pointer, slice or map", ErrName, reg.name, t)
	}
	if other, taken := r.named[reg.name]; taken && other != t {
		return fmt.Errorf("%w: %q is %s already", ErrName, reg.name, other)
	}
	if old, ok := r.registered[t]; ok {
		if old.name == reg.name && old.tier == reg.tier && sameCodec(old.codec, reg.codec) {
			return nil
		}
		return fmt.Errorf("%w: %s is registered as %q already, or in another way", ErrName, t, old.name)
	}
	if _, fixed := builtinCode(t); fixed {
		return fmt.Errorf("%w: %s is predeclared", ErrName, t)
	}
	if r.compiled[t] { // used, or looked into as a part of another type under its default name
		return fmt.Errorf("%w: %s", ErrInUse, t)
	}
	r.registered[t] = reg
	r.named[reg.name] = t
	return nil
}

// sameCodec compares two codecs; those of types that cannot be compared count as different.
func sameCodec(a, b Codec) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.TypeOf(a).Comparable() && a == b
}

// nameOf returns the registered or default name of t. The name of a pointer, slice or map is made of its parts' names, so that it
// follows when they are registered. r.mu is held.
func (r *Registry) nameOf(t reflect.Type) string {
	if reg, ok := r.registered[t]; ok {
		return reg.name
	}
	if t.Name() == "" {
		switch t.Kind() {
		case reflect.Pointer:
			return "*" + r.nameOf(t.Elem())
		case reflect.Slice:
			return "[]" + r.nameOf(t.Elem())
		case reflect.Map:
			return "map[" + r.nameOf(t.Key()) + "]" + r.nameOf(t.Elem())
		}
	}
	return typeName(t)
}
