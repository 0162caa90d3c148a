package serializer

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
)

// Registry knows the types of one pile: which code stands for which version of which type, and how its values become bytes.
// The zero value is not usable; NewRegistry makes one. All methods are safe for concurrent use, and two registries are
// independent of each other. Looking up a type that was used before takes no lock; the first use of a type compiles its programs
// under one (some 10 to 100 µs).
type Registry struct {
	snap      atomic.Pointer[snapshot]
	encoders  sync.Pool // of *encoder
	decoders  sync.Pool // of *decoder
	locations locationCache

	mu         sync.Mutex // for what follows, and to replace snap
	registered map[reflect.Type]registration
	named      map[string]reflect.Type
	compiled   map[reflect.Type]bool   // types some program looks into: too late to give them a codec
	reachable  map[string]reflect.Type // their names
	classes    map[reflect.Type]uint32
}

// snapshot is what readers see. It is never changed, only replaced.
type snapshot struct {
	bindings map[reflect.Type]*binding
	versions []*version // by code; nil where none is assigned
}

// registration is what the user said about a type.
type registration struct {
	name  string
	tier  Tier // 0: the rule decides
	codec Codec
}

// version is one version of a type, as values were or are written.
type version struct {
	code   Code
	name   string
	tier   Tier
	layout []byte // Plain: the fingerprint of the memory
	schema []byte // the fields, for the Graph tier and for values inside others; empty when only the root can be stored

	bound    atomic.Pointer[binding] // the Go type of that name in this process, once known
	programs [2]atomic.Pointer[program]
}

// binding is a Go type in use.
type binding struct {
	registration
	typ     reflect.Type
	current *version // as values are written now
	word    pointer  // first word of an any that holds it
	direct  bool
	pointee bool       // Msgp: the type is a pointer to the type with the methods
	plain   *plainPlan // Plain only
	encode  [2]*program
}

// The two ways to compile a type: as the root of a value, where only what can be shared within it is tracked, and as what an
// interface holds, where everything is.
const (
	asRoot = iota
	inInterface
)

// NewRegistry returns a registry that knows the predeclared types.
func NewRegistry() *Registry {
	r := &Registry{
		registered: map[reflect.Type]registration{},
		named:      map[string]reflect.Type{},
		compiled:   map[reflect.Type]bool{},
		reachable:  map[string]reflect.Type{},
		classes:    map[reflect.Type]uint32{},
	}
	for _, t := range builtinTypes() {
		r.named[typeName(t)] = t
	}
	r.snap.Store(&snapshot{bindings: map[reflect.Type]*binding{}, versions: make([]*version, firstRegistered)})
	return r
}

// TypeName returns the name of the type that code stands for, or "" for a code that is not assigned.
func (r *Registry) TypeName(code Code) string {
	if t := builtinType(code); t != nil {
		return typeName(t)
	}
	if v := r.version(code); v != nil {
		return v.name
	}
	return ""
}

// CodeTier returns the tier that values of code are written in, or 0 for a code that is not assigned.
func (r *Registry) CodeTier(code Code) Tier {
	if code == CodeBytes || code == CodeString {
		return Raw
	}
	if v := r.version(code); v != nil {
		return v.tier
	}
	return 0
}

// version returns the version that code stands for, or nil.
func (r *Registry) version(code Code) *version {
	if s := r.snap.Load(); int(code) < len(s.versions) {
		return s.versions[code]
	}
	return nil
}

// bind returns the binding of t, making it at first use.
func (r *Registry) bind(t reflect.Type) (*binding, error) {
	if b := r.snap.Load().bindings[t]; b != nil {
		return b, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bindLocked(t)
}

// bindLocked makes and publishes the binding of t. A type that is refused leaves no trace.
func (r *Registry) bindLocked(t reflect.Type) (*binding, error) {
	if b := r.snap.Load().bindings[t]; b != nil {
		return b, nil
	}
	reg, explicit := r.registered[t]
	if !explicit {
		reg.name = r.nameOf(t)
	}
	if other, taken := r.named[reg.name]; taken && other != t {
		return nil, fmt.Errorf("%w: %q is another type already; Register this one under its own name", ErrName, reg.name)
	}
	b := &binding{registration: reg, typ: t}
	mem, schema, err := r.compileBinding(b)
	if err != nil {
		return nil, err
	}
	b.word, b.direct = typeWord(nil, t)
	v, next, err := r.assign(b, mem, schema)
	if err != nil {
		return nil, err
	}
	b.current = v
	next.bindings[t] = b
	for _, v := range next.versions {
		if v != nil && v.name == b.name {
			v.bound.Store(b)
		}
	}
	r.named[b.name] = t
	r.snap.Store(next)
	return b, nil
}

// assign finds or makes the version that b writes, and returns it with the snapshot to publish.
func (r *Registry) assign(b *binding, mem, schema []byte) (*version, *snapshot, error) {
	old := r.snap.Load()
	next := &snapshot{bindings: maps.Clone(old.bindings), versions: slices.Clone(old.versions)}
	for _, v := range next.versions {
		if v != nil && v.name == b.name && v.tier == b.tier && bytes.Equal(v.layout, mem) && bytes.Equal(v.schema, schema) {
			return v, next, nil
		}
	}
	v := &version{name: b.name, tier: b.tier, layout: mem, schema: schema}
	if code, ok := builtinCode(b.typ); ok && next.versions[code] == nil {
		v.code = code
		next.versions[code] = v
		return v, next, nil
	}
	if len(next.versions) > math.MaxUint16 {
		return nil, nil, fmt.Errorf("%w: no code for %s", ErrTooManyTypes, b.name)
	}
	v.code = Code(len(next.versions))
	next.versions = append(next.versions, v)
	return v, next, nil
}

// resolve returns the version of code with the Go type it is bound to, binding it when the type is registered but was not used.
func (r *Registry) resolve(code Code) (*version, *binding, error) {
	v := r.version(code)
	if v != nil {
		if b := v.bound.Load(); b != nil {
			return v, b, nil
		}
	}
	t := builtinType(code)
	switch {
	case v == nil && t == nil:
		return nil, nil, fmt.Errorf("%w: %w: code %d is not assigned", ErrCorrupt, ErrUnknownType, code)
	case t == nil:
		r.mu.Lock()
		t = r.typeNamed(v.name)
		r.mu.Unlock()
		if t == nil {
			return nil, nil, fmt.Errorf("%w: %q is stored, but no Go type was registered or used under that name", ErrUnknownType, v.name)
		}
	}
	b, err := r.bind(t)
	if err != nil {
		return nil, nil, err
	}
	return r.version(code), b, nil
}
