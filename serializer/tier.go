package serializer

import "strconv"

// Code is what a stored value's header says about its type: 16 bits. A code stands for one version of one type in one registry
// and is never reused for another.
type Code uint16

const (
	// CodeBytes marks a []byte, stored as it is.
	CodeBytes Code = 0
	// CodeString marks a string, stored as it is.
	CodeString Code = 1

	// firstRegistered is the first code a registry hands out. The codes below are fixed for all registries, so that predeclared
	// types in interfaces take one byte; see builtinTypes.
	firstRegistered Code = 64
)

// Tier is the way a type's values become bytes. It is chosen once per type; docs/SERIALIZATION.md gives the rule.
type Tier uint8

const (
	// Raw is for strings, byte slices and types whose kind they are: the bytes themselves. Nil and empty are not told apart.
	Raw Tier = iota + 1
	// Plain is for pointer-free types: a copy of the memory with padding zeroed, readable in place.
	Plain
	// Msgp is for types with MarshalMsg, UnmarshalMsg and Msgsize, as github.com/tinylib/msgp generates them.
	Msgp
	// Graph is for everything else: any graph of values, identity kept.
	Graph
	// Custom is for types registered with a Codec.
	Custom
)

// String returns the tier's name in lower case.
func (t Tier) String() string {
	switch t {
	case Raw:
		return "raw"
	case Plain:
		return "plain"
	case Msgp:
		return "msgp"
	case Graph:
		return "graph"
	case Custom:
		return "custom"
	}
	return "tier(" + strconv.Itoa(int(t)) + ")"
}
