package cache

import "errors"

// Errors of calls on a table. They are matched with errors.Is; the returned error says more. Those of
// the pile, pile.ErrClosed, pile.ErrOutOfSpace and pile.ErrTooLarge, come through.
var (
	// ErrTableFull is returned when a table that rejects is at its limit.
	ErrTableFull = errors.New("cache: table full")
	// ErrTableMismatch is returned when a table exists with another key or value type, or another
	// FoldID; the message names both.
	ErrTableMismatch = errors.New("cache: table has another type")
	// ErrKey is returned for a key type that cannot be stored, naming what is in the way, and for
	// a key that is not equal to itself (NaN).
	ErrKey = errors.New("cache: impossible key")
	// ErrNotStored is returned with Collision, when a speculative table had no place for an entry.
	ErrNotStored = errors.New("cache: not stored")
	// ErrNotFound is what a loader returns when there is no value for the key. It comes back
	// from GetOrPut.
	ErrNotFound = errors.New("cache: not found")
	// ErrCycle is returned when a loader waits for itself, through however many other loads.
	ErrCycle = errors.New("cache: loads wait for each other")
	// ErrConflict is returned when the function of a Compute changes the same key itself.
	ErrConflict = errors.New("cache: the function changed its own key")
	// ErrDropped is returned for a table that was dropped, and for one whose cache is closed.
	ErrDropped = errors.New("cache: table dropped")
	// ErrOption is returned for an option that is out of bounds, or contradicts another one; the
	// message names it.
	ErrOption = errors.New("cache: invalid option")
	// ErrUnsupported is returned for options that this version does not have yet.
	ErrUnsupported = errors.New("cache: not in this version")
	// ErrLoader is returned to everybody who waited for a loader that panicked or exited its
	// goroutine.
	ErrLoader = errors.New("cache: loader did not return")
)
