package main

import "time"

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
