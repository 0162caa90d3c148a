package serializer

import (
	"reflect"
	"strconv"
	"strings"
)

// typeName returns the name a type is known by when none is registered: as in Go source, but with full package paths. Two types
// declared in different functions of one package share it; the second to come must be registered under a name of its own.
func typeName(t reflect.Type) string {
	if t.Name() != "" {
		if t.PkgPath() == "" {
			return t.Name()
		}
		return t.PkgPath() + "." + t.Name()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + typeName(t.Elem())
	case reflect.Slice:
		return "[]" + typeName(t.Elem())
	case reflect.Array:
		return "[" + strconv.Itoa(t.Len()) + "]" + typeName(t.Elem())
	case reflect.Map:
		return "map[" + typeName(t.Key()) + "]" + typeName(t.Elem())
	case reflect.Struct:
		return structName(t)
	}
	return t.String()
}

// structName spells out an unnamed struct type.
func structName(t reflect.Type) string {
	var b strings.Builder
	b.WriteString("struct{")
	for i := range t.NumField() {
		if i > 0 {
			b.WriteString("; ")
		}
		f := t.Field(i)
		b.WriteString(f.Name + " " + typeName(f.Type))
	}
	b.WriteString("}")
	return b.String()
}

// noteCompiled remembers that some program looks into t. r.mu is held.
func (r *Registry) noteCompiled(t reflect.Type) {
	if !r.compiled[t] {
		r.compiled[t] = true
		if name := r.nameOf(t); r.reachable[name] == nil {
			r.reachable[name] = t
		}
	}
}

// typeNamed returns the type with the name: registered, used, part of one that was, or made of such; or nil. r.mu is held.
func (r *Registry) typeNamed(name string) reflect.Type {
	if t := r.named[name]; t != nil {
		return t
	}
	if t := r.reachable[name]; t != nil {
		return t
	}
	switch {
	case strings.HasPrefix(name, "*"):
		if t := r.typeNamed(name[1:]); t != nil {
			return reflect.PointerTo(t)
		}
	case strings.HasPrefix(name, "[]"):
		if t := r.typeNamed(name[2:]); t != nil {
			return reflect.SliceOf(t)
		}
	case strings.HasPrefix(name, "map["):
		return r.mapNamed(name[len("map["):])
	}
	return nil
}

// mapNamed returns the map type for "key]elem". r.mu is held.
func (r *Registry) mapNamed(name string) reflect.Type {
	depth := 1
	for i, c := range name {
		switch c {
		case '[':
			depth++
		case ']':
			depth--
		}
		if depth == 0 {
			key, elem := r.typeNamed(name[:i]), r.typeNamed(name[i+1:])
			if key != nil && elem != nil && key.Comparable() {
				return reflect.MapOf(key, elem)
			}
			return nil
		}
	}
	return nil
}
