package main

// ListSize is the records of a list that is read in one call.
const ListSize = 4000

//go:generate go run github.com/tinylib/msgp@v1.6.5 -file list.go -o list_gen.go -tests=false -io=false

// List is the records that are read in one call.
type List []Person

// NewList makes list i: persons with consecutive numbers.
func NewList(i int64) List {
	list := make(List, ListSize)
	for k := range list {
		list[k] = NewPerson(i*ListSize + int64(k))
	}
	return list
}

// Is reports whether it is list i, every record of it.
func (list *List) Is(i int64) bool {
	for k := range *list {
		if !(*list)[k].Is(i*ListSize + int64(k)) {
			return false
		}
	}
	return len(*list) == ListSize
}
