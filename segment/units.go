package segment

import "math/bits"

// unitMap knows which units are handed out and which are committed. Its methods, and those of
// Segment that change it, need the exclusion of the pile's unit space.
type unitMap struct {
	free      []uint64 // bit set: the unit may be handed out
	committed []uint64 // bit set: the unit is resident and counted
	freeN     int
	committN  int // committed units, handed out or not
	readyN    int // committed and free
	lostN     int // worn or reserved
	low       int // no free unit lies below this word
}

func (m *unitMap) init(n int) {
	words := (n + 63) / 64
	*m = unitMap{free: make([]uint64, words), committed: make([]uint64, words), freeN: n}
	for i := range n {
		m.free[i/64] |= 1 << (i % 64)
	}
}

// lose takes unit out for good. It was free, or handed out and is given back this way.
func (m *unitMap) lose(unit int) {
	if m.free[unit/64]&(1<<(unit%64)) != 0 {
		m.take(unit, 1)
	}
	m.lostN++
}

// find returns the first run of n free units. When ready is set, n must be 1 and the unit is one
// that is committed already.
func (m *unitMap) find(n int, ready bool) (int, bool) {
	if n == 1 {
		return m.findOne(ready)
	}
	run := 0
	for i := m.low * 64; i < len(m.free)*64; i++ {
		w := m.free[i/64] >> (i % 64)
		switch {
		case w == 0: // nothing more in this word
			run, i = 0, i|63
		case w&1 == 0:
			run = 0
		default:
			if run++; run == n {
				return i - n + 1, true
			}
		}
	}
	return 0, false
}

func (m *unitMap) findOne(ready bool) (int, bool) {
	for i := m.low; i < len(m.free); i++ {
		w := m.free[i]
		if w == 0 && i == m.low {
			m.low++
		}
		if ready {
			w &= m.committed[i]
		}
		if w != 0 {
			return i*64 + bits.TrailingZeros64(w), true
		}
	}
	return 0, false
}

func (m *unitMap) take(unit, n int) {
	for u := unit; u < unit+n; u++ {
		bit := uint64(1) << (u % 64)
		m.free[u/64] &^= bit
		if m.committed[u/64]&bit != 0 {
			m.readyN--
		}
	}
	m.freeN -= n
}

func (m *unitMap) give(unit, n int) {
	for u := unit; u < unit+n; u++ {
		bit := uint64(1) << (u % 64)
		m.free[u/64] |= bit
		if m.committed[u/64]&bit != 0 {
			m.readyN++
		}
	}
	m.freeN += n
	m.low = min(m.low, unit/64)
}

// setCommitted records that the taken units are resident, or that the free units are not.
func (m *unitMap) setCommitted(unit, n int, on bool) {
	for u := unit; u < unit+n; u++ {
		bit := uint64(1) << (u % 64)
		was := m.committed[u/64]&bit != 0
		if was == on {
			continue
		}
		m.committed[u/64] ^= bit
		free := m.free[u/64]&bit != 0
		if on {
			m.committN++
		} else {
			m.committN--
			if free {
				m.readyN--
			}
		}
	}
}

// TakeUnits hands out n adjacent units and counts them as committed; the caller then makes them
// resident with Commit. With ready, n is 1 and only a unit that is committed already will do.
func (s *Segment) TakeUnits(n int, ready bool) (unit int, ok bool) {
	if s.units.freeN < n || ready && s.units.readyN == 0 {
		return 0, false
	}
	unit, ok = s.units.find(n, ready)
	if ok {
		s.units.take(unit, n)
		s.units.setCommitted(unit, n, true)
		if s.units.freeN == 0 {
			s.full.CompareAndSwap(0, 1)
		}
	}
	return unit, ok
}

// GiveUnits takes units back that nobody can reach any more; their descriptors are empty. They stay
// committed.
func (s *Segment) GiveUnits(unit, n int) { s.units.give(unit, n) }

// SetCold notes that free units are not resident after all.
func (s *Segment) SetCold(unit, n int) { s.units.setCommitted(unit, n, false) }

// UncommitFree gives the committed units that are free back to the system, at most steps units in
// one call, starting the search at unit from. It returns where to go on, -1 at the end, and the
// bytes given back.
func (s *Segment) UncommitFree(from, steps int) (next int, freed int64, err error) {
	for u := from; u < len(s.pages); {
		n := s.readyRun(u, steps)
		if n == 0 {
			u++
			continue
		}
		done, err := s.mem.Uncommit(u*UnitSize, n*UnitSize)
		if err != nil || !done {
			return -1, 0, err
		}
		s.units.setCommitted(u, n, false)
		return u + n, int64(n) * UnitSize, nil
	}
	return -1, 0, nil
}

func (s *Segment) readyRun(unit, limit int) int {
	n := 0
	for u := unit; u < len(s.pages) && n < limit; u, n = u+1, n+1 {
		if s.units.free[u/64]&s.units.committed[u/64]&(1<<(u%64)) == 0 {
			break
		}
	}
	return n
}

// ReserveUnit takes a unit that is never to be handed out.
func (s *Segment) ReserveUnit(unit int) { s.units.lose(unit) }

// AllEmpty reports whether no unit is handed out.
func (s *Segment) AllEmpty() bool { return s.units.freeN+s.units.lostN == len(s.pages) }

// Commit makes n units resident.
func (s *Segment) Commit(unit, n int) error { return s.mem.Commit(unit*UnitSize, n*UnitSize) }

// FreeUnits returns the units that may be handed out.
func (s *Segment) FreeUnits() int { return s.units.freeN }

// ReadyUnits returns the free units that are committed.
func (s *Segment) ReadyUnits() int { return s.units.readyN }

// CommittedUnits returns the units that are committed, handed out or not.
func (s *Segment) CommittedUnits() int { return s.units.committN }
