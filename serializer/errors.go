package serializer

import "errors"

// Errors about a type, returned before any byte is written.
var (
	// ErrUnsupported is returned when a type, or a value met in an interface, holds something that has no meaning outside the
	// running program: a channel, a function, an unsafe.Pointer, an operating system resource. The message names the path to it.
	ErrUnsupported = errors.New("serializer: type cannot be stored")

	// ErrName is returned when a name is empty, or already stands for another Go type in the same registry.
	ErrName = errors.New("serializer: type name is taken or invalid")

	// ErrInUse is returned when a registration or an import comes too late: values were already stored under what it would change.
	ErrInUse = errors.New("serializer: type is already in use")

	// ErrTooManyTypes is returned when all 65,536 codes of a registry are assigned.
	ErrTooManyTypes = errors.New("serializer: registry is full")
)

// Errors about stored bytes.
var (
	// ErrWrongType is returned when bytes of one type are read as another, or were written by a version of the type that the
	// present one cannot take over. The message names both sides.
	ErrWrongType = errors.New("serializer: wrong type")

	// ErrUnknownType is returned when bytes belong to a type that this process has neither registered nor used yet, so that no Go
	// type is known to make a value of. Register it, or use For, before reading.
	ErrUnknownType = errors.New("serializer: unknown type")

	// ErrCorrupt is returned when bytes cannot have been written by this package for the type: cut short, too long, or damaged.
	ErrCorrupt = errors.New("serializer: corrupt bytes")

	// ErrOverflow is returned when a stored number does not fit the Go type it is read into: an int beyond 32 bits on a 32-bit
	// platform, or a field that was made narrower.
	ErrOverflow = errors.New("serializer: number does not fit")
)

// ErrCodec is returned when a user's own marshal code breaks its contract: it returned fewer bytes than it was given, other bytes
// than it was given, or left bytes unread.
var ErrCodec = errors.New("serializer: codec broke its contract")
