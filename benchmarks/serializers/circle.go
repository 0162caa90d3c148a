package main

import "strconv"

// Member is one of a circle of friends, which is a graph with cycles: everybody knows the next, their mother, who is a
// member too, and through an interface somebody else.
type Member struct {
	Number  int64
	Name    string
	Next    *Member
	Friends []*Member
	Contact any
	Home    *Club
}

// Club is what all members of a circle share; it knows them by name.
type Club struct {
	Title   string
	Members map[string]*Member
}

// circleSize is the members of a circle.
const circleSize = 8

// NewCircle makes circle i and returns its first member.
func NewCircle(i int64) *Member {
	club := &Club{Title: "Club " + strconv.FormatInt(i, 10), Members: make(map[string]*Member, circleSize)}
	members := make([]*Member, circleSize)
	for k := range members {
		members[k] = &Member{Number: i + int64(k), Name: "Member " + strconv.Itoa(k), Home: club}
		club.Members[members[k].Name] = members[k]
	}
	for k, m := range members {
		m.Next = members[(k+1)%circleSize]
		m.Friends = []*Member{m, members[(k+3)%circleSize], members[(k+5)%circleSize]}
		m.Contact = members[(k+2)%circleSize]
	}
	return members[0]
}

// IsCircle reports whether first is the first member of circle i: the names and every identity.
func IsCircle(first *Member, i int64) bool {
	var members [circleSize]*Member
	at := first
	for k := range members {
		if at == nil || at.Number != i+int64(k) || at.Name != "Member "+strconv.Itoa(k) {
			return false
		}
		members[k], at = at, at.Next
	}
	if at != first || first.Home == nil || first.Home.Title != "Club "+strconv.FormatInt(i, 10) ||
		len(first.Home.Members) != circleSize {
		return false
	}
	for k, m := range members {
		if m.Home != first.Home || m.Home.Members[m.Name] != m || len(m.Friends) != 3 || m.Friends[0] != m ||
			m.Friends[1] != members[(k+3)%circleSize] || m.Friends[2] != members[(k+5)%circleSize] ||
			m.Contact != any(members[(k+2)%circleSize]) {
			return false
		}
	}
	return true
}
