package samples

// PlainPerson is Person without a pointer: names of up to 16 and 22 bytes in place, the date as days. It has no room for
// the two slices, which are nil in every Person that is measured, and so it is not the same record but a variant.
type PlainPerson struct {
	ID        uint64
	Balance   int64
	Born      int32 // days since 1970, notBorn for none
	Scale     int8
	FirstLen  uint8
	LastLen   uint8
	FirstName [16]byte
	LastName  [22]byte
}

// PlainPersonMax is the largest number whose names fit.
const PlainPersonMax = 999_999_999

const notBorn = -1 << 31

// NewPlainPerson makes person i.
func NewPlainPerson(i int64) (p PlainPerson) {
	p.ID, p.Balance, p.Scale, p.Born = uint64(i), balance(i), balanceScale, notBorn
	if i%7 != 0 {
		p.Born = int32(birthDay(i))
	}
	p.FirstLen = uint8(len(appendFirst(p.FirstName[:0], i)))
	p.LastLen = uint8(len(appendLast(p.LastName[:0], i)))
	return p
}

// Is reports whether p is person i.
func (p *PlainPerson) Is(i int64) bool { return *p == NewPlainPerson(i) }
