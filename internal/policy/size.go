package policy

import (
	"fmt"
	"go/ast"
	"strings"
)

// A file is read in one sitting and a function on one screen; half of these
// figures is a good size.
const (
	fileLinesMax = 500
	funcLinesMax = 70
)

// Size bounds shipped files, and the functions of library packages.
func Size(t *Tree, h House) []Finding {
	var out []Finding
	for _, f := range t.sources(shipped, written) {
		lines := strings.Count(strings.TrimSuffix(f.Text, "\n"), "\n") + 1
		if lines > fileLinesMax {
			out = append(out, Finding{Path: f.Path, Text: fmt.Sprintf("%d lines, at most %d", lines, fileLinesMax)})
		}
		if !h.library(f) {
			continue
		}
		for _, decl := range f.Syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := t.line(fn.End()) - t.line(fn.Pos()) + 1; n > funcLinesMax {
				out = append(out, t.find(f, fn.Pos(), "%s has %d lines, at most %d", fn.Name.Name, n, funcLinesMax))
			}
		}
	}
	return out
}
