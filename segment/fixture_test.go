package segment_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/bigpile/bigpile/segment"
)

const (
	kiB      = 1 << 10
	miB      = 1 << 20
	wordSize = 8
)

// backings are the kinds of memory under test. BIGPILE_TEST_BACKING=heap or =anonymous picks one: the
// race detector does not see mapped memory, so -race runs are limited to the Go heap.
func backings() []segment.Backing {
	switch os.Getenv("BIGPILE_TEST_BACKING") {
	case "heap":
		return []segment.Backing{segment.Heap}
	case "anonymous":
		return []segment.Backing{segment.Anonymous}
	}
	return []segment.Backing{segment.Heap, segment.Anonymous, segment.File}
}

func backingName(b segment.Backing) string {
	switch b {
	case segment.Heap:
		return "heap"
	case segment.Anonymous:
		return "anonymous"
	}
	return "file"
}

func forBackings(t *testing.T, test func(t *testing.T, b segment.Backing)) {
	for _, b := range backings() {
		t.Run(backingName(b), func(t *testing.T) { test(t, b) })
	}
}

// needBacking skips the test when the run is limited to another backing.
func needBacking(t *testing.T, b segment.Backing) {
	t.Helper()
	if !slices.Contains(backings(), b) {
		t.Skipf("BIGPILE_TEST_BACKING excludes %s", backingName(b))
	}
}

// tb is a test, a benchmark, or one check of rapid.
type tb interface {
	rapid.TB
	Cleanup(func())
}

// newMemory returns zero bytes that are given back at the end of the test.
func newMemory(t tb, b segment.Backing, size int) *segment.Memory {
	t.Helper()
	var m *segment.Memory
	var err error
	if b == segment.File {
		m, err = segment.MapFile(newFile(t.(testing.TB)), size)
	} else {
		m, err = segment.NewMemory(b, size)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

func newFile(t testing.TB) *os.File {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "segment"), os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// plan says how a segment under test is made; its zero value is a heap segment of 64 units.
type plan struct {
	backing   segment.Backing
	units     int
	checksums bool
	first     uint32
	describe  map[int]segment.Descriptor // what the descriptors of an earlier life say
}

// newSegment returns a segment made to plan; its first unit may be handed out.
func newSegment(t tb, p plan) *segment.Segment {
	t.Helper()
	units := cmp.Or(p.units, 64)
	descs := newMemory(t, segment.Heap, units*wordSize)
	for unit, d := range p.describe {
		descs.Store(unit*wordSize, segment.Word(d))
	}
	s, err := segment.New(newMemory(t, p.backing, units*segment.UnitSize), descs, geometry(t, units, p.checksums), p.first)
	require.NoError(t, err)
	return s
}

func heap(units int) plan { return plan{backing: segment.Heap, units: units} }

func geometry(t tb, units int, checksums bool) *segment.Geometry {
	t.Helper()
	g, err := segment.NewGeometry(units*segment.UnitSize, checksums)
	require.NoError(t, err)
	return g
}

// problems returns what Check reports.
func problems(s *segment.Segment) (found []string) {
	s.Check(func(err error) { found = append(found, err.Error()) })
	return found
}

var ruleOf = regexp.MustCompile(`^(I\d+): `)

// rules returns the numbers of the invariants that Check finds broken, each once, sorted.
func rules(t tb, s *segment.Segment) []string {
	t.Helper()
	var found []string
	for _, p := range problems(s) {
		m := ruleOf.FindStringSubmatch(p)
		require.NotNil(t, m, "a problem that names no invariant: %s", p)
		found = append(found, m[1])
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// take takes n units and makes them resident.
func take(t tb, s *segment.Segment, n int) int {
	t.Helper()
	unit, ok := s.TakeUnits(n, false)
	require.True(t, ok, "no %d units", n)
	require.NoError(t, s.Commit(unit, n))
	return unit
}

// openPage takes units and opens a page of class c.
func openPage(t tb, s *segment.Segment, c segment.Class) int {
	t.Helper()
	unit := take(t, s, int(s.Geometry().Shape(c).Units))
	s.OpenPage(unit, c)
	return unit
}

// offsetOf returns where the slot begins.
func offsetOf(t tb, s *segment.Segment, unit int, slot uint32) int {
	t.Helper()
	offset, ok := s.Locate(uint32(unit), slot)
	require.True(t, ok, "unit %d slot %d is not to be found", unit, slot)
	return offset
}

func wordOf(t tb, s *segment.Segment, unit int, slot uint32) segment.Word {
	t.Helper()
	return s.Memory().Load(offsetOf(t, s, unit, slot))
}

// publish claims the next slot of the page and stores a payload of n bytes in it.
func publish(t tb, s *segment.Segment, unit, n int) (slot uint32, offset int) {
	t.Helper()
	slot, ok := s.ClaimOne(unit)
	require.True(t, ok, "unit %d is full", unit)
	offset = offsetOf(t, s, unit, slot)
	w := s.Memory().Load(offset)
	require.True(t, w.Is(segment.Free), "claimed slot %d holds %#x", slot, uint64(w))
	fill(s.Memory().Room(offset, n, false), slot)
	s.Memory().Store(offset, segment.Header(segment.Value, 0, w.Generation(), 1, n))
	return slot, offset
}

// publishRun opens a run for n bytes and stores them.
func publishRun(t tb, s *segment.Segment, n int) (unit int) {
	t.Helper()
	units := segment.RunUnits(n)
	unit = take(t, s, units)
	s.OpenRun(unit, units)
	offset := offsetOf(t, s, unit, 0)
	m := s.Memory()
	m.SetRunLength(offset, n)
	fill(m.Room(offset, n, true), uint32(n))
	m.Store(offset, segment.Header(segment.Value, segment.Large, m.Load(offset).Generation(), 1, units))
	return unit
}

func fill(b []byte, seed uint32) {
	for i := range b {
		b[i] = byte(seed + uint32(i)*7 + 1)
	}
}

// retire marks the slot retired.
func retire(s *segment.Segment, offset int) {
	m := s.Memory()
	g := m.Load(offset).Generation()
	m.Store(offset, segment.Header(segment.Retired, 0, g, 0, 0))
}

// free retires the slot and frees it.
func free(t tb, s *segment.Segment, unit int, slot uint32) int {
	t.Helper()
	offset := offsetOf(t, s, unit, slot)
	retire(s, offset)
	return s.FreeSlot(unit, slot, offset)
}

// reuse closes and empties the page at unit and gives its units back.
func reuse(t tb, s *segment.Segment, unit int) (units int) {
	t.Helper()
	s.ClosePage(unit)
	units, usable, err := s.EmptyPage(unit)
	require.NoError(t, err)
	require.True(t, usable, "unit %d is worn", unit)
	s.GiveUnits(unit, units)
	return units
}

// emptied is a descriptor as a page leaves it.
func emptied(base uint32) segment.Descriptor {
	return segment.Describe(segment.Empty, 0, base, 0)
}

// classOf returns the class for slots of exactly size bytes.
func classOf(t tb, g *segment.Geometry, size int) segment.Class {
	t.Helper()
	c := g.ClassFor(size)
	require.Equal(t, size, int(g.Shape(c).SlotSize), "no class of %d bytes", size)
	return c
}

func onOff(name string, on bool) string { return fmt.Sprintf("%s=%t", name, on) }
