package pile

import (
	"fmt"
	"strconv"

	"github.com/bigpile/bigpile/segment"
)

// A PilePointer is a handle to a value in a pile: a plain integer that the garbage collector does
// not follow. It is valid until the value is deleted; after that every call with it fails with
// ErrStalePointer, whatever has been stored in the same place since. The zero handle is never valid.
//
//	 63 62                    40 39                       12 11        0
//	+--+------------------------+---------------------------+-----------+
//	| 0| generation ^ salt   23 | page 28                   | slot 12   |
//	+--+------------------------+---------------------------+-----------+
//
// The salt is random for each pile, so that a handle of another pile is refused like a stale one,
// except with probability 2⁻²³ if it happens to name a live slot. Handles may be stored anywhere,
// also in the pile, and are compared with ==.
type PilePointer uint64

const generationShift = segment.LocationBits

const _ = uint(63 - generationShift - segment.GenerationBits) // the top bit is never set

func pack(l segment.Location, generation, salt uint32) PilePointer {
	return PilePointer(generation^salt)<<generationShift | PilePointer(l)
}

func (ptr PilePointer) location() segment.Location {
	return segment.Location(ptr & (1<<generationShift - 1))
}

func (ptr PilePointer) generation(salt uint32) uint32 {
	return (uint32(ptr>>generationShift) ^ salt) & segment.GenerationMax
}

// Valid reports whether ptr could be a handle at all. It says nothing about whether the value still
// exists; only the pile knows.
func (ptr PilePointer) Valid() bool {
	return ptr>>63 == 0 && ptr.location().Page() != 0
}

// String returns the handle as 16 hexadecimal digits, or "nil" for the zero handle.
func (ptr PilePointer) String() string {
	if ptr == 0 {
		return "nil"
	}
	return fmt.Sprintf("%016x", uint64(ptr))
}

// MarshalText returns what String returns. So JSON has handles as strings: numbers there are exact
// only up to 2⁵³.
func (ptr PilePointer) MarshalText() ([]byte, error) { return []byte(ptr.String()), nil }

// UnmarshalText accepts what MarshalText wrote. Anything else is ErrInvalidPointer, and ptr is not
// changed.
func (ptr *PilePointer) UnmarshalText(text []byte) error {
	s := string(text)
	if s == "nil" {
		*ptr = 0
		return nil
	}
	v, err := strconv.ParseUint(s, 16, 64)
	if err != nil || len(s) != 16 || !PilePointer(v).Valid() {
		return fmt.Errorf("%w: text %q is not 16 hexadecimal digits of a handle", ErrInvalidPointer, s)
	}
	*ptr = PilePointer(v)
	return nil
}
