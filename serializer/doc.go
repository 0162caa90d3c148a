// Package serializer turns Go values into bytes and back: any value, without tags, generated code or a type made for the purpose.
//
// # Terms
//
//   - A tier is a way to store a type's values: Raw, Plain, Msgp, Graph or Custom. It is chosen once per type.
//   - A Code is 16 bits that say which version of which type some bytes are. The pile keeps it in the value's header.
//   - A Registry knows the types of one pile: type to code and back.
//   - A schema describes the fields of one version of a type by name. It is kept in the registry, not with each value.
//   - A program is what a type is compiled to at its first use: a flat list of steps, so that no value is walked by reflection.
//   - A reference is a pointer, slice, map or interface. It is shared when a value can hold it in more than one place.
//   - An object is what a reference refers to.
//
// # Use
//
// For chooses the tier for a type and returns a Typed, which stores and reads values of that type without boxing them.
// Registry.Append and Registry.Decode do the same for any value.
//
// # Guarantees
//
//  1. What is read equals what was written: pointers that were one are one, cycles are cycles, slices of one array are slices of
//     one array, nil is nil and empty is empty, an interface holds the type it held, unexported fields are there.
//  2. What cannot be stored is refused, with the path to it, before anything is written.
//  3. Bytes are never trusted. Whatever they are, reading returns an error or a valid value; it does not panic, allocates at most
//     256 times their length, 64 KiB, and 100 times the size of the largest type, and nests at most 100 references deep. (What a user's own marshal code does is its own.)
//  4. Everything is safe for concurrent use. No lock is held while the user's own code runs.
//
// docs/SERIALIZATION.md draws the bytes and tells what each tier supports and costs.
package serializer
