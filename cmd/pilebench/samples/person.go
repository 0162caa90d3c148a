package samples

import (
	"time"

	"github.com/tinylib/msgp/msgp"
)

//go:generate go run github.com/tinylib/msgp@v1.6.5 -file person.go -o person_gen.go -tests=false -io=false

// Person is the record of the ancestor's benchmark, with its seven fields.
//
//msgp:tuple Person
type Person struct {
	ID        uint64
	FirstName string
	LastName  string
	DOB       *time.Time
	Balance   Decimal
	Data      []float32
	BinData   []byte
}

// Decimal is an amount: Value times ten to the power of -Scale.
//
//msgp:tuple Decimal
type Decimal struct {
	Value int64
	Scale int8
}

// NewPerson makes person i afresh: two strings and, for most, a date are allocated.
func NewPerson(i int64) Person {
	var first, last [40]byte
	p := Person{
		ID: uint64(i), FirstName: string(appendFirst(first[:0], i)), LastName: string(appendLast(last[:0], i)),
		Balance: Decimal{balance(i), balanceScale},
	}
	if at, ok := born(i); ok {
		p.DOB = &at
	}
	return p
}

// Is reports whether p is person i, every field of it. Msgp does not keep whether an empty slice was nil.
func (p *Person) Is(i int64) bool {
	at, ok := born(i)
	return p.ID == uint64(i) && isNamed(p.FirstName, p.LastName, i) && p.Balance == Decimal{balance(i), balanceScale} &&
		(p.DOB != nil) == ok && (!ok || p.DOB.Equal(at)) && len(p.Data)+len(p.BinData) == 0
}

func isNamed(first, last string, i int64) bool {
	var buf [40]byte
	return first == string(appendFirst(buf[:0], i)) && last == string(appendLast(buf[:0], i))
}

// IsPersonMsgp reports whether b is what MarshalMsg makes of person i, without building one.
func IsPersonMsgp(b []byte, i int64) bool {
	fields, b, err := msgp.ReadArrayHeaderBytes(b)
	if err != nil || fields != 7 {
		return false
	}
	id, b, err := msgp.ReadUint64Bytes(b)
	if err != nil || id != uint64(i) {
		return false
	}
	first, b, err := msgp.ReadStringZC(b)
	if err != nil {
		return false
	}
	last, b, err := msgp.ReadStringZC(b)
	if err != nil || !isNamed(string(first), string(last), i) {
		return false
	}
	var rest [64]byte
	want := rest[:0]
	if at, ok := born(i); ok {
		want = msgp.AppendTime(want, at)
	} else {
		want = msgp.AppendNil(want)
	}
	want, _ = (&Decimal{balance(i), balanceScale}).MarshalMsg(want) // never fails
	want = msgp.AppendArrayHeader(want, 0)
	want = msgp.AppendBytes(want, nil)
	return string(b) == string(want)
}
