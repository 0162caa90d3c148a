package policy

import (
	"maps"
	"slices"
	"strings"
)

// unsafeFilesMax is how many files of one top-level directory may import
// unsafe: one as a rule, two more where a mechanism needs its own.
const unsafeFilesMax = 3

// UnsafeFiles keeps unsafe in named files. The list may not outlive what it
// lists; a directory that does not exist at all is not held against it.
func UnsafeFiles(t *Tree, h House) []Finding {
	var out []Finding
	users := map[string]bool{}
	for _, f := range t.sources(shipped) {
		for _, spec := range f.Syntax.Imports {
			if importPath(spec) != "unsafe" {
				continue
			}
			users[f.Path] = true
			if h.Unsafe[f.Path] == "" {
				out = append(out, t.find(f, spec.Pos(), "unsafe is for listed files only"))
			}
		}
	}
	count := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(h.Unsafe)) {
		top, _, _ := strings.Cut(name, "/")
		count[top]++
		if count[top] == unsafeFilesMax+1 {
			out = append(out, Finding{Path: name, Text: "too many files of " + top + " are listed for unsafe"})
		}
		if t.paths[top] && !users[name] {
			out = append(out, Finding{Path: name, Text: "listed for unsafe, but does not import it"})
		}
	}
	return out
}
