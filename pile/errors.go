package pile

import "errors"

// Errors of calls on a pile. They are matched with errors.Is; the returned error says more.
var (
	// ErrClosed is returned by every call on a pile that is closed or closing.
	ErrClosed = errors.New("pile: closed")
	// ErrReadOnly is returned by calls that would change a pile opened read-only.
	ErrReadOnly = errors.New("pile: read-only")
)

// Errors of handles.
var (
	// ErrInvalidPointer is returned for a handle that this pile cannot have given out.
	ErrInvalidPointer = errors.New("pile: invalid pointer")
	// ErrStalePointer is returned for a handle whose value is gone: deleted, purged or compacted
	// away. What was put in its place later is never returned instead.
	ErrStalePointer = errors.New("pile: stale pointer")
)

// Errors of values.
var (
	// ErrNil is returned for a nil value, which has no type and so cannot be stored.
	ErrNil = errors.New("pile: nil value")
	// ErrTooLarge is returned for a value longer than MaxValueSize.
	ErrTooLarge = errors.New("pile: value too large")
	// ErrWrongType is returned when a value is asked for as a type it does not have.
	ErrWrongType = errors.New("pile: wrong type")
	// ErrCorrupt is returned when stored bytes are not what was stored.
	ErrCorrupt = errors.New("pile: corrupt")
)

// Errors of room.
var (
	// ErrOutOfSpace is returned when a value does not fit within MaxMemory and MaxSegments, or
	// when the system has no memory left, also after everything reclaimable was reclaimed.
	ErrOutOfSpace = errors.New("pile: out of space")
	// ErrLocked is returned when a directory is in use by another pile.
	ErrLocked = errors.New("pile: locked")
)
