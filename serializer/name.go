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
