package segment

// A Descriptor says what a unit is.
//
//	 63     61 60     52 51               29 28        15 14       0
//	+---------+---------+-------------------+------------+---------+
//	| role 3  | class 9 | base 23           | length 14  | spare 15|
//	+---------+---------+-------------------+------------+---------+
//
// base is the generation base (I11). length counts the units of a page or run on its head, and on a
// continuation the distance to the head. One word, so that a role changes by one store; the zero
// word is an empty unit that was never used.
type Descriptor uint64

// Role is the role of a unit (I2).
type Role uint8

// The roles of a unit.
const (
	Empty        Role = iota // may be handed out
	Open                     // head of a page or run whose slots may be read
	Closed                   // head of a page whose slots may not be read: it is changing class
	Continuation             // belongs to the page or run whose head is length units before
	Worn                     // its generations are used up
)

const (
	spareBits      = 15
	descLengthBits = 14
	classBits      = 9

	descLengthShift = spareBits
	descBaseShift   = descLengthShift + descLengthBits
	descClassShift  = descBaseShift + generationBits
	descRoleShift   = descClassShift + classBits
)

const (
	_ = uint(descRoleShift+3-64) + uint(64-descRoleShift-3)
	_ = uint(1<<classBits - ClassCount)
	_ = uint(1<<descLengthBits - UnitsMax)
)

// Describe packs a descriptor.
func Describe(r Role, c Class, base uint32, length int) Descriptor {
	return Descriptor(r)<<descRoleShift | Descriptor(c)<<descClassShift |
		Descriptor(base)<<descBaseShift | Descriptor(length)<<descLengthShift
}

// Role returns the role of the unit.
func (d Descriptor) Role() Role { return Role(d >> descRoleShift) }

// Class returns the size class of the page that the unit heads.
func (d Descriptor) Class() Class { return Class(d >> descClassShift & (1<<classBits - 1)) }

// Base returns the generation base.
func (d Descriptor) Base() uint32 { return uint32(d>>descBaseShift) & GenerationMax }

// Length returns the units of the page or run, or the distance of a continuation to its head.
func (d Descriptor) Length() int { return int(d >> descLengthShift & (1<<descLengthBits - 1)) }
