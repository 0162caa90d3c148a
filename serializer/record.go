package serializer

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

// TypeRecord describes one version of a type as stored with the values: everything a later process needs to read them.
type TypeRecord struct {
	Code   Code   // as stored with each value
	Name   string // registered, or the package-qualified name of the type
	Tier   Tier   // how its bytes are laid out
	Layout []byte // Plain: byte order, offsets, sizes and kinds of the memory
	Schema []byte // the fields by name
}

// Types returns the number of codes assigned so far. It only grows: a store that saves the registry does so again, before the
// values become durable, when it has changed.
func (r *Registry) Types() int {
	n := 0
	for _, v := range r.snap.Load().versions {
		if v != nil {
			n++
		}
	}
	return n
}

// Export returns the versions of all types that were given a code, in the order of their codes.
func (r *Registry) Export() []TypeRecord {
	var records []TypeRecord
	for _, v := range r.snap.Load().versions {
		if v != nil {
			records = append(records, TypeRecord{v.code, v.name, v.tier, bytes.Clone(v.layout), bytes.Clone(v.schema)})
		}
	}
	return records
}

// Import takes over what Export returned in an earlier process. Types may be registered before, but not used: ErrInUse when a
// code is assigned here to something else. Which Go type has which name, and whether it can take over stored values, shows at its
// first use; a type that changed gets a new code, and values under the old code are read field by field. ErrCorrupt: records
// that Export cannot have returned. After an error the registry is as before.
func (r *Registry) Import(records []TypeRecord) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.snap.Load()
	next := &snapshot{bindings: maps.Clone(old.bindings), versions: slices.Clone(old.versions)}
	for i, t := range records {
		if i > 0 && t.Code <= records[i-1].Code {
			return fmt.Errorf("%w: type records out of order at code %d", ErrCorrupt, t.Code)
		}
		for len(next.versions) <= int(t.Code) {
			next.versions = append(next.versions, nil)
		}
		if err := r.importRecord(next, t); err != nil {
			return err
		}
	}
	r.snap.Store(next)
	return nil
}

// importRecord enters one record. r.mu is held.
func (r *Registry) importRecord(next *snapshot, t TypeRecord) error {
	if have := next.versions[t.Code]; have != nil {
		if have.name == t.Name && have.tier == t.Tier && bytes.Equal(have.layout, t.Layout) && bytes.Equal(have.schema, t.Schema) {
			return nil
		}
		return fmt.Errorf("%w: code %d is %s here, %s in the import", ErrInUse, t.Code, have.name, t.Name)
	}
	switch fixed := builtinType(t.Code); {
	case t.Name == "" || t.Tier < Raw || t.Tier > Custom:
		return fmt.Errorf("%w: type record for code %d", ErrCorrupt, t.Code)
	case fixed != nil && typeName(fixed) != t.Name, fixed == nil && t.Code < firstRegistered:
		return fmt.Errorf("%w: code %d cannot be %q", ErrCorrupt, t.Code, t.Name)
	case len(t.Schema) > 0:
		if _, err := parseSchema(t.Schema); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	v := &version{code: t.Code, name: t.Name, tier: t.Tier, layout: bytes.Clone(t.Layout), schema: bytes.Clone(t.Schema)}
	if typ := r.named[t.Name]; typ != nil {
		if b := next.bindings[typ]; b != nil {
			v.bound.Store(b)
		}
	}
	next.versions[t.Code] = v
	return nil
}
