package segment

// A Word is the first word of a slot: a header, or a link.
//
//	header
//	 63 62  61 60   57 56            34 33      18 17          0
//	+--+------+-------+----------------+----------+-------------+
//	| 0| state| flags | generation  23 | type 16  | length 18   |
//	+--+------+-------+----------------+----------+-------------+
//	link
//	 63 62                   40 39                             0
//	+--+-----------------------+--------------------------------+
//	| 1| generation 23         | location of the target 40      |
//	+--+-----------------------+--------------------------------+
//
// One word, so that publishing a value, retiring it and redirecting it are each one store or one
// compare-and-swap (I6). The zero word is a free slot of generation 0: memory that was never used
// needs no formatting.
type Word uint64

// State is the state in a header.
type State uint8

// The states of a slot that is not a link.
const (
	Free    State = iota // nothing here; the generation is the next one to be used
	Value                // a payload that a handle names
	Target               // a payload that a link names
	Retired              // no longer reachable; free after a grace period
)

// Flags are the flags in a header.
type Flags uint8

// The flags of a header.
const (
	Large   Flags = 1 << iota // a run: the length field counts units, the next word bytes
	InTable                   // an entry of a cache table
	Reserve                   // the slot was chosen larger than the value on purpose
	Settled                   // target: the slot that links here has no reader in its own payload
)

const (
	lengthBits     = 18
	typeBits       = 16
	generationBits = 23
	flagBits       = 4

	typeShift       = lengthBits
	generationShift = typeShift + typeBits
	flagShift       = generationShift + generationBits
	stateShift      = flagShift + flagBits
	linkBit         = 1 << 63

	linkGenerationShift = LocationBits

	// LengthMax is the largest length a header holds; longer payloads are runs.
	LengthMax = 1<<lengthBits - 1
	// GenerationMax is the last generation; a slot that reaches it is not used again (I13).
	GenerationMax = 1<<generationBits - 1
	// GenerationBits is the width of a generation.
	GenerationBits = generationBits
)

// The fields fill the word, in both forms.
const (
	_ = uint(stateShift+2-63) + uint(63-stateShift-2)
	_ = uint(linkGenerationShift+generationBits-63) + uint(63-linkGenerationShift-generationBits)
	_ = uint(LengthMax - slotSizeMax + wordSize)
)

// Header packs a header word. length is in bytes, in units for a Large one.
func Header(s State, f Flags, generation uint32, typ uint16, length int) Word {
	return Word(s)<<stateShift | Word(f)<<flagShift | Word(generation)<<generationShift |
		Word(typ)<<typeShift | Word(length)
}

// FreeWord packs the header of a free slot.
func FreeWord(generation uint32) Word { return Word(generation) << generationShift }

// Link packs a link word.
func Link(generation uint32, target Location) Word {
	return linkBit | Word(generation)<<linkGenerationShift | Word(target)
}

// IsLink reports whether w is a link; if so only Generation and Target have a meaning.
func (w Word) IsLink() bool { return w&linkBit != 0 }

// State returns the state in a header.
func (w Word) State() State { return State(w >> stateShift & 3) }

// Flags returns the flags in a header.
func (w Word) Flags() Flags { return Flags(w >> flagShift & (1<<flagBits - 1)) }

// Is reports whether w is a header, not a link, in state s.
func (w Word) Is(s State) bool { return w>>stateShift == Word(s) }

// Generation returns the generation, of a header or a link.
func (w Word) Generation() uint32 {
	if w.IsLink() {
		return uint32(w>>linkGenerationShift) & GenerationMax
	}
	return uint32(w>>generationShift) & GenerationMax
}

// Type returns the type code in a header.
func (w Word) Type() uint16 { return uint16(w >> typeShift) }

// IsShort reports whether w is a value of that generation, at most 64 KiB long, neither large nor in a
// table, of a type whose code is typeMax or below, where typeMax+1 is a power of two. Four tests in one
// comparison.
func (w Word) IsShort(generation uint32, typeMax uint16) bool {
	const flags = Word(Large|InTable) << flagShift
	const long = Word(3) << 16 // the bits of the length above 64 KiB
	mask := linkBit | 3<<stateShift | flags | GenerationMax<<generationShift | long | Word(^typeMax)<<typeShift
	return w&mask == Word(Value)<<stateShift|Word(generation)<<generationShift
}

// Length returns the length in a header: bytes, or units when Large.
func (w Word) Length() int { return int(w & LengthMax) }

// Target returns the location in a link.
func (w Word) Target() Location { return Location(w & locationMask) }

// WithState returns the header with another state.
func (w Word) WithState(s State) Word { return w&^(3<<stateShift) | Word(s)<<stateShift }

// WithFlags returns the header with f set as well.
func (w Word) WithFlags(f Flags) Word { return w | Word(f)<<flagShift }
