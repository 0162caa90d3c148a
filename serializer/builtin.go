package serializer

import (
	"reflect"
	"time"
)

// builtinTypes lists the types with fixed codes, from CodeBytes up. The order is part of the stored format: only append to it.
func builtinTypes() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[[]byte](), reflect.TypeFor[string](),
		reflect.TypeFor[bool](),
		reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
		reflect.TypeFor[uint](), reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](),
		reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[complex64](), reflect.TypeFor[complex128](),
		reflect.TypeFor[time.Time](), reflect.TypeFor[time.Duration](),
		reflect.TypeFor[[]any](), reflect.TypeFor[map[string]any](), reflect.TypeFor[map[string]string](),
		reflect.TypeFor[[]string](), reflect.TypeFor[[]int](), reflect.TypeFor[[]int64](), reflect.TypeFor[[]float64](),
	}
}

// builtinByCode and builtinByType index builtinTypes; made once. Read-only.
var (
	builtinByCode = builtinTypes()
	builtinByType = func() map[reflect.Type]Code {
		m := map[reflect.Type]Code{}
		for i, t := range builtinByCode {
			m[t] = Code(i)
		}
		return m
	}()
)

// builtinType returns the type with the fixed code, or nil.
func builtinType(code Code) reflect.Type {
	if int(code) < len(builtinByCode) {
		return builtinByCode[code]
	}
	return nil
}

// builtinCode returns t's fixed code.
func builtinCode(t reflect.Type) (Code, bool) {
	code, ok := builtinByType[t]
	return code, ok
}
