package main

import (
	"github.com/bigpile/bigpile/cmd/pilebench/samples"
	"github.com/bigpile/bigpile/pile"
	"github.com/bigpile/bigpile/serializer"
)

// newPersons is the ancestor's workload: a fresh Person for each Put, in each
// tier that can hold one.
func newPersons(*config) (workload, error) {
	return openRecords(samples.PlainPersonMax, []kind{
		{"msgp", 88, 1, asChosen, typedSession(samples.NewPerson, (*samples.Person).Is)},
		{"graph", 80, 1, personsAsGraph, typedSession(samples.NewPerson, (*samples.Person).Is)},
		{"raw", 88, 1, asChosen, rawSession},
		{"plain", 80, 1, asChosen, typedSession(samples.NewPlainPerson, (*samples.PlainPerson).Is)},
	})
}

// newObjects is values with an inside: a product, a graph with cycles, and a
// list of thousands of records.
func newObjects(*config) (workload, error) {
	return openRecords(1<<40, []kind{
		{"product", 1400, 1, asChosen, typedSession(samples.NewProduct, (*samples.Product).Is)},
		{"circle", 800, 1, asChosen, typedSession(samples.NewCircle, isCircle)},
		{"list-4000", 360_000, 1000, personsAsGraph, typedSession(samples.NewList, isList)},
	})
}

func isCircle(m **samples.Member, i int64) bool   { return samples.IsCircle(*m, i) }
func isList(list *[]samples.Person, i int64) bool { return samples.IsList(*list, i) }

// asChosen leaves the tier to the rule.
func asChosen() (*serializer.Registry, error) { return serializer.NewRegistry(), nil }

// personsAsGraph keeps persons from their generated methods.
func personsAsGraph() (*serializer.Registry, error) {
	types := serializer.NewRegistry()
	return types, types.RegisterTier("person", samples.Person{}, serializer.Graph)
}

// typedValues is the session of a T.
type typedValues[T any] struct {
	typed *pile.Typed[T]
	fresh func(i int64) T
	is    func(v *T, i int64) bool
	last  T // keeps what was made alone from being made on the stack, or not at all
}

func typedSession[T any](fresh func(i int64) T, is func(v *T, i int64) bool) func(p *pile.Pile) (session, error) {
	return func(p *pile.Pile) (session, error) {
		typed, err := pile.Of[T](p)
		return &typedValues[T]{typed: typed, fresh: fresh, is: is}, err
	}
}

func (s *typedValues[T]) make(i int64) { s.last = s.fresh(i) }

func (s *typedValues[T]) put(i int64) (pile.PilePointer, error) { return s.typed.Put(s.fresh(i)) }

func (s *typedValues[T]) get(handle pile.PilePointer, i int64) (bool, error) {
	var err error
	s.last, err = s.typed.Get(handle)
	return err == nil && s.is(&s.last, i), err
}

// rawPersons is the session of persons that the caller turns into bytes: making
// one is making the bytes, and a get copies them out and does not decode them.
type rawPersons struct {
	pile   *pile.Pile
	person samples.Person
	buf    []byte
}

func rawSession(p *pile.Pile) (session, error) { return &rawPersons{pile: p}, nil }

func (s *rawPersons) make(i int64) {
	s.person = samples.NewPerson(i)
	s.buf, _ = s.person.MarshalMsg(s.buf[:0]) // never fails
}

func (s *rawPersons) put(i int64) (pile.PilePointer, error) {
	s.make(i)
	return s.pile.PutBytes(s.buf)
}

func (s *rawPersons) get(handle pile.PilePointer, i int64) (_ bool, err error) {
	s.buf, err = s.pile.AppendBytes(s.buf[:0], handle)
	return err == nil && samples.IsPersonMsgp(s.buf, i), err
}
