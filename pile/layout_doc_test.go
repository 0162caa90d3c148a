package pile

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bigpile/bigpile/segment"
)

// TestLayoutHandle holds the section on handles of docs/LAYOUT.md against pack and its inverse.
func TestLayoutHandle(t *testing.T) {
	text, err := os.ReadFile("../docs/LAYOUT.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	_, handle, found := strings.Cut(doc, "\n## Handle\n")
	if !found {
		t.Fatal("docs/LAYOUT.md has no section Handle")
	}
	handle, _, _ = strings.Cut(handle, "\n## ")

	// Each field: set all of it and see which bits that are.
	top := PilePointer(1) << 63
	generation := pack(0, segment.GenerationMax, 0)
	page := pack(segment.At(segment.PageCount-1, 0), 0, 0)
	slot := pack(segment.At(0, segment.SlotsMax-1), 0, 0)
	if top|generation|page|slot != ^PilePointer(0) || top^generation^page^slot != ^PilePointer(0) {
		t.Error("the fields do not tile the handle")
	}
	for _, f := range []struct {
		name string
		mask PilePointer
	}{{"zero", top}, {"generation", generation}, {"page", page}, {"slot", slot}} {
		low, high := 0, 63
		for f.mask>>low&1 == 0 {
			low++
		}
		for f.mask>>high&1 == 0 {
			high--
		}
		row := fmt.Sprintf("| %s | %d–%d |", f.name, low, high)
		if low == high {
			row = fmt.Sprintf("| %s | %d |", f.name, low)
		}
		if !strings.Contains(handle, row) {
			t.Errorf("docs/LAYOUT.md: section Handle should have the row %q", row)
		}
	}

	// pack(location, generation, salt), as golden words.
	golden := []struct {
		call  string
		value PilePointer
	}{
		{"pack(At(1, 0), 0, 0)", pack(segment.At(1, 0), 0, 0)},
		{"pack(At(1, 2), 3, 0x2BCDEF)", pack(segment.At(1, 2), 3, 0x2BCDEF)},
		{"pack(At(0xFFFFFFF, 0xFFF), 0x7FFFFF, 0)", pack(segment.At(0xFFFFFFF, 0xFFF), 0x7FFFFF, 0)},
	}
	for _, g := range golden {
		if row := fmt.Sprintf("| `%s` | `0x%016X` |", g.call, uint64(g.value)); !strings.Contains(doc, row) {
			t.Errorf("docs/LAYOUT.md should have the row %q", row)
		}
	}
	if n := strings.Count(doc, "| `pack("); n != len(golden) {
		t.Errorf("docs/LAYOUT.md has %d golden handles, the test %d", n, len(golden))
	}
	ptr := golden[1].value
	if ptr.location() != segment.At(1, 2) || ptr.generation(0x2BCDEF) != 3 || !ptr.Valid() {
		t.Errorf("%v reads back as %#x %d", ptr, uint64(ptr.location()), ptr.generation(0x2BCDEF))
	}
}
