package serializer

import (
	"fmt"
	"math"
	"reflect"
	"time"
	"unsafe"
)

// same walks two graphs side by side, by reflection and independently of the package, and checks that they have the same shape:
// the same values, and a reference met again in one is met again in the other.
type same struct {
	forward, back map[sameKey]sameKey
}

type sameKey struct {
	p uintptr
	t reflect.Type
}

// sameGraph returns the first difference between two addressable values, or nil.
func sameGraph(a, b reflect.Value) error {
	return (&same{map[sameKey]sameKey{}, map[sameKey]sameKey{}}).value(a, b, "")
}

// pair enters that p in one graph is q in the other. It reports whether the two were paired before.
func (s *same) pair(p, q uintptr, t reflect.Type, path string) (bool, error) {
	x, y := sameKey{p, t}, sameKey{q, t}
	fx, okx := s.forward[x]
	fy, oky := s.back[y]
	if okx != oky || okx && (fx != y || fy != x) {
		return false, fmt.Errorf("%s: identity differs", path)
	}
	s.forward[x], s.back[y] = y, x
	return okx, nil
}

func (s *same) value(a, b reflect.Value, path string) error {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return fmt.Errorf("%s: %v and %v", path, a, b)
	}
	if !a.IsValid() {
		return nil
	}
	a, b = readable(a), readable(b)
	if t, ok := a.Interface().(time.Time); ok {
		if u := b.Interface().(time.Time); !t.Equal(u) || t.Location().String() != u.Location().String() {
			return fmt.Errorf("%s: %v and %v", path, t, u)
		}
		return nil
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		return s.reference(a, b, path)
	case reflect.Interface:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return fmt.Errorf("%s: nil and not", path)
			}
			return nil
		}
		return s.value(a.Elem(), b.Elem(), path)
	case reflect.Struct:
		for i := range a.NumField() {
			if f := a.Type().Field(i); f.Name == "_" || isLock(f.Type) {
				continue
			}
			if err := s.value(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name); err != nil {
				return err
			}
		}
		return nil
	case reflect.Array:
		return s.elements(a, b, path)
	case reflect.Float32, reflect.Float64:
		if math.Float64bits(a.Float()) == math.Float64bits(b.Float()) || a.Float() != a.Float() && b.Float() != b.Float() {
			return nil
		}
		return fmt.Errorf("%s: %v and %v", path, a, b)
	}
	if !a.Equal(b) {
		return fmt.Errorf("%s: %v and %v", path, a, b)
	}
	return nil
}

func (s *same) elements(a, b reflect.Value, path string) error {
	for i := range a.Len() {
		if err := s.value(a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	return nil
}

func (s *same) reference(a, b reflect.Value, path string) error {
	if a.IsNil() || b.IsNil() {
		if a.IsNil() != b.IsNil() {
			return fmt.Errorf("%s: nil and not", path)
		}
		return nil
	}
	if a.Kind() != reflect.Pointer && a.Len() != b.Len() {
		return fmt.Errorf("%s: length %d and %d", path, a.Len(), b.Len())
	}
	if a.Kind() == reflect.Slice {
		// Elements rather than slices are paired, so that slices of one array are compared wherever they overlap.
		for i := range a.Len() {
			if a.Type().Elem().Size() == 0 {
				break
			}
			p, q := a.Index(i).Addr().Pointer(), b.Index(i).Addr().Pointer()
			again, err := s.pair(p, q, a.Type(), fmt.Sprintf("%s[%d]", path, i))
			if err != nil {
				return err
			}
			if again {
				continue
			}
			if err := s.value(a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		return nil
	}
	if a.Kind() == reflect.Map || a.Type().Elem().Size() > 0 {
		if again, err := s.pair(a.Pointer(), b.Pointer(), a.Type(), path); again || err != nil {
			return err
		}
	}
	if a.Kind() == reflect.Pointer {
		return s.value(a.Elem(), b.Elem(), path+".*")
	}
	return s.entries(a, b, path)
}

// entries compares maps whose keys are comparable without identity: keys that are pointers are found by what they point to.
func (s *same) entries(a, b reflect.Value, path string) error {
	for it := a.MapRange(); it.Next(); {
		k := it.Key()
		v := b.MapIndex(k)
		if !v.IsValid() {
			return fmt.Errorf("%s: no key %v", path, k)
		}
		if err := s.value(it.Value(), v, fmt.Sprintf("%s[%v]", path, k)); err != nil {
			return err
		}
	}
	return nil
}

// readable returns v without the mark that makes reflect refuse unexported fields.
func readable(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
	}
	c := reflect.New(v.Type())
	if v.CanInterface() {
		c.Elem().Set(v)
	}
	return c.Elem()
}
