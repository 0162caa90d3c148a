package samples

// ListSize is the records of a list that is read in one call.
const ListSize = 4000

// NewList makes list i: persons with consecutive numbers.
func NewList(i int64) []Person {
	list := make([]Person, ListSize)
	for k := range list {
		list[k] = NewPerson(i*ListSize + int64(k))
	}
	return list
}

// IsList reports whether list is list i, every record of it.
func IsList(list []Person, i int64) bool {
	for k := range list {
		if !list[k].Is(i*ListSize + int64(k)) {
			return false
		}
	}
	return len(list) == ListSize
}
