package segment

import (
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The tests of this file hold docs/LAYOUT.md against the code. Each row of a table is compared, and
// each row that the code demands has to be there, so that neither side can change alone.

// layoutTable returns the rows of the table under a heading of docs/LAYOUT.md whose first column is
// headed first: cells trimmed, code quotes removed.
func layoutTable(t *testing.T, heading, first string) [][]string {
	t.Helper()
	text, err := os.ReadFile("../docs/LAYOUT.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	under, table, wanted := false, false, false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			under, table = strings.TrimLeft(line, "# ") == heading, false
		case !strings.HasPrefix(line, "|"):
			table = false
		case !table:
			table, wanted = true, under && strings.HasPrefix(line, "| "+first+" |")
		case wanted && !strings.HasPrefix(line, "|---"):
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for i, c := range cells {
				cells[i] = strings.Trim(strings.TrimSpace(c), "`")
			}
			rows = append(rows, cells)
		}
	}
	if len(rows) == 0 {
		t.Fatalf("docs/LAYOUT.md: no table under %q that begins with %q", heading, first)
	}
	return rows
}

// span returns the bits that are set in mask, as the document writes them: "7", or "4–9".
func span(t *testing.T, mask uint64) string {
	t.Helper()
	low, high := bits.TrailingZeros64(mask), bits.Len64(mask)-1
	if bits.OnesCount64(mask) != high-low+1 {
		t.Fatalf("%#x is not one field", mask)
	}
	if low == high {
		return strconv.Itoa(low)
	}
	return fmt.Sprintf("%d–%d", low, high)
}

// field is the bits that a field occupies, found by setting all of it.
type field struct {
	name string
	mask uint64
}

func compareFields(t *testing.T, heading string, size int, fields []field) {
	t.Helper()
	rows := layoutTable(t, heading, "field")
	if len(rows) != len(fields) {
		t.Fatalf("%s: %d fields in the document, %d in the code", heading, len(rows), len(fields))
	}
	var all uint64
	for i, f := range fields {
		if rows[i][0] != f.name || rows[i][1] != span(t, f.mask) {
			t.Errorf("%s: the document has %q at bits %s, the code %q at %s", heading, rows[i][0], rows[i][1], f.name, span(t, f.mask))
		}
		if all&f.mask != 0 {
			t.Errorf("%s: %s overlaps another field", heading, f.name)
		}
		all |= f.mask
	}
	if all != ^uint64(0)>>(64-size) {
		t.Errorf("%s: the fields cover %#x of %d bits", heading, all, size)
	}
}

// lengthWord returns what the length word of a run is after set.
func lengthWord(t *testing.T, set func(*Segment)) uint64 {
	t.Helper()
	geo, err := NewGeometry(2*UnitSize, true)
	if err != nil {
		t.Fatal(err)
	}
	mem, err := NewMemory(Heap, 2*UnitSize)
	if err != nil {
		t.Fatal(err)
	}
	descs, err := NewMemory(Heap, 2*wordSize)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(mem, descs, geo, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.OpenRun(1, 1)
	set(s)
	return uint64(mem.Load(UnitSize + wordSize))
}

func TestLayoutFields(t *testing.T) {
	const (
		state = State(1<<2 - 1)
		flags = Flags(1<<flagBits - 1)
		role  = Role(1<<3 - 1)
		class = Class(1<<classBits - 1)
		units = 1<<descLengthBits - 1
	)
	compareFields(t, "Location", LocationBits, []field{
		{"page", uint64(At(PageCount-1, 0))},
		{"slot", uint64(At(0, SlotsMax-1))},
	})
	compareFields(t, "Header", 64, []field{
		{"link", uint64(Link(0, 0))},
		{"state", uint64(Header(state, 0, 0, 0, 0))},
		{"flags", uint64(Header(0, flags, 0, 0, 0))},
		{"generation", uint64(Header(0, 0, GenerationMax, 0, 0))},
		{"type", uint64(Header(0, 0, 0, 1<<16-1, 0))},
		{"length", uint64(Header(0, 0, 0, 0, LengthMax))},
	})
	compareFields(t, "Link", 64, []field{
		{"link", uint64(Link(0, 0))},
		{"generation", uint64(Link(GenerationMax, 0) ^ Link(0, 0))},
		{"target", uint64(Link(0, At(PageCount-1, SlotsMax-1)) ^ Link(0, 0))},
	})
	all := Describe(role, class, GenerationMax, units)
	compareFields(t, "Descriptor", 64, []field{
		{"role", uint64(Describe(role, 0, 0, 0))},
		{"class", uint64(Describe(0, class, 0, 0))},
		{"base", uint64(Describe(0, 0, GenerationMax, 0))},
		{"length", uint64(Describe(0, 0, 0, units))},
		{"spare", ^uint64(all)},
	})
	compareFields(t, "Run", 64, []field{
		{"checksum", lengthWord(t, func(s *Segment) { s.SetSum(1, 0, UnitSize, 1<<32-1) })},
		{"length", lengthWord(t, func(s *Segment) { s.mem.SetRunLength(UnitSize, -1) })},
	})
}

// TestLayoutAccessors proves that what reads a field looks where the document says.
func TestLayoutAccessors(t *testing.T) {
	w := Header(Target, Large|Settled, 0x2aaaaa, 0xabcd, 0x2bcde)
	if w.IsLink() || w.State() != Target || !w.Is(Target) || w.Flags() != Large|Settled ||
		w.Generation() != 0x2aaaaa || w.Type() != 0xabcd || w.Length() != 0x2bcde {
		t.Errorf("header %#x reads back as %d %d %#x %#x %#x", uint64(w), w.State(), w.Flags(), w.Generation(), w.Type(), w.Length())
	}
	if l := Link(0x2aaaaa, At(0x1234567, 0xabc)); !l.IsLink() || l.Generation() != 0x2aaaaa || l.Target() != At(0x1234567, 0xabc) {
		t.Errorf("link %#x reads back as %#x %#x", uint64(l), l.Generation(), uint64(l.Target()))
	}
	d := Describe(Worn, 0x155, 0x2aaaaa, 0x1555)
	if d.Role() != Worn || d.Class() != 0x155 || d.Base() != 0x2aaaaa || d.Length() != 0x1555 {
		t.Errorf("descriptor %#x reads back as %d %#x %#x %#x", uint64(d), d.Role(), d.Class(), d.Base(), d.Length())
	}
	if l := At(0x1234567, 0xabc); l.Page() != 0x1234567 || l.Slot() != 0xabc {
		t.Errorf("location %#x reads back as %#x %#x", uint64(l), l.Page(), l.Slot())
	}
}

// number is a row of a table of names and numbers.
type number struct {
	name  string
	value uint64
}

func compareNumbers(t *testing.T, heading, first string, want []number) {
	t.Helper()
	rows := layoutTable(t, heading, first)
	if len(rows) != len(want) {
		t.Fatalf("%s: %d rows in the document, %d in the code", heading, len(rows), len(want))
	}
	for i, w := range want {
		have, err := strconv.ParseUint(rows[i][1], 0, 64)
		if err != nil || rows[i][0] != w.name || have != w.value {
			t.Errorf("%s: the document has %s = %s, the code %s = %#x (%d)", heading, rows[i][0], rows[i][1], w.name, w.value, w.value)
		}
	}
}

func TestLayoutNumbers(t *testing.T) {
	compareNumbers(t, "Sizes", "constant", []number{
		{"UnitSize", UnitSize}, {"UnitsMax", UnitsMax}, {"SlotsMax", SlotsMax}, {"PageCount", PageCount},
		{"ClassMax", uint64(ClassMax)}, {"ClassRun", uint64(ClassRun)},
		{"LengthMax", LengthMax}, {"GenerationMax", GenerationMax},
	})
	compareNumbers(t, "Descriptor", "role", []number{
		{"Empty", uint64(Empty)}, {"Open", uint64(Open)}, {"Closed", uint64(Closed)},
		{"Continuation", uint64(Continuation)}, {"Worn", uint64(Worn)},
	})
	compareNumbers(t, "Header", "state", []number{
		{"Free", uint64(Free)}, {"Value", uint64(Value)}, {"Target", uint64(Target)}, {"Retired", uint64(Retired)},
	})
	compareNumbers(t, "Header", "flag", []number{
		{"Large", uint64(Large)}, {"InTable", uint64(InTable)}, {"Reserve", uint64(Reserve)}, {"Settled", uint64(Settled)},
	})
}

func TestLayoutGoldenWords(t *testing.T) {
	compareNumbers(t, "Golden words", "word", []number{
		{"Header(Free, 0, 0, 0, 0)", uint64(Header(Free, 0, 0, 0, 0))},
		{"FreeWord(7)", uint64(FreeWord(7))},
		{"Header(Value, 0, 5, 1, 32)", uint64(Header(Value, 0, 5, 1, 32))},
		{"Header(Value, Reserve, 1, 0, 100)", uint64(Header(Value, Reserve, 1, 0, 100))},
		{"Header(Value, Large, 0, 0, 5)", uint64(Header(Value, Large, 0, 0, 5))},
		{"Header(Target, Settled, 2, 1, 40)", uint64(Header(Target, Settled, 2, 1, 40))},
		{"Header(Retired, 0, GenerationMax, 0, 0)", uint64(Header(Retired, 0, GenerationMax, 0, 0))},
		{"At(1, 0)", uint64(At(1, 0))},
		{"At(0x1234567, 0xABC)", uint64(At(0x1234567, 0xABC))},
		{"Link(3, At(1, 2))", uint64(Link(3, At(1, 2)))},
		{"Describe(Open, 3, 7, 1)", uint64(Describe(Open, 3, 7, 1))},
		{"Describe(Open, ClassRun, 0, 5)", uint64(Describe(Open, ClassRun, 0, 5))},
		{"Describe(Closed, 3, 7, 1)", uint64(Describe(Closed, 3, 7, 1))},
		{"Describe(Continuation, 0, 9, 4)", uint64(Describe(Continuation, 0, 9, 4))},
		{"Describe(Worn, 0, GenerationMax, 0)", uint64(Describe(Worn, 0, GenerationMax, 0))},
		{`Sum(At(1, 0), 0, "123456789")`, uint64(Sum(At(1, 0), 0, []byte("123456789")))},
	})
}

// TestLayoutClasses compares the table of size classes, and the rule in words above it with every
// class.
func TestLayoutClasses(t *testing.T) {
	for c := Class(1); c <= ClassMax; c++ {
		want := 8 + 8*int(c)
		if c > 15 {
			d, k := (int(c)-16)/8, (int(c)-16)%8+1
			want = 128 << d * (8 + k) / 8
		}
		if slotSize(c) != want || ClassFor(want) != c || ClassFor(want+1) == c || ClassFor(want-1) > c {
			t.Errorf("class %d has %d bytes, by the document %d", c, slotSize(c), want)
		}
	}
	for _, row := range layoutTable(t, "Size classes", "class") {
		n, err := strconv.Atoi(row[0])
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			row[0], strconv.Itoa(slotSize(Class(n))),
			page(t, n, 1<<20, false), page(t, n, 16<<20, false), page(t, n, 256<<20, false),
			page(t, n, 1<<30, false), page(t, n, 256<<20, true),
		}
		if strings.Join(row, "|") != strings.Join(want, "|") {
			t.Errorf("the document has %q, the code %q", row, want)
		}
	}
}

// page returns how a page of class c is cut in segments of size bytes, as the document writes it.
func page(t *testing.T, c, size int, checksums bool) string {
	t.Helper()
	geo, err := NewGeometry(size, checksums)
	if err != nil {
		t.Fatal(err)
	}
	s := geo.Shape(Class(c))
	switch {
	case s.Slots == 0:
		return "run"
	case checksums:
		return fmt.Sprintf("%d × %d at %d", s.Units, s.Slots, s.SumOffset)
	}
	return fmt.Sprintf("%d × %d", s.Units, s.Slots)
}
