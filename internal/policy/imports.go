package policy

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"
)

// Layers enforces the layer table and the list of dependencies.
func Layers(t *Tree, h House) []Finding {
	var out []Finding
	for _, f := range t.sources() {
		layer, ok := h.Layers[f.top()]
		if !ok {
			out = append(out, Finding{Path: f.Path, Text: "directory " + f.top() + " is not in the layer table"})
			continue
		}
		for _, spec := range f.Syntax.Imports {
			if why := h.refuse(f, layer, importPath(spec)); why != "" {
				out = append(out, t.find(f, spec.Pos(), "%s", why))
			}
		}
	}
	return out
}

// refuse says why a file may not import a path, or nothing if it may.
func (h House) refuse(f *File, layer Layer, imported string) string {
	if target, ours := h.ours(imported); ours {
		switch {
		case target == f.top(), slices.Contains(layer.Imports, target):
			return ""
		case f.isTest() && target == "internal":
			return ""
		}
		return fmt.Sprintf("%s may not import %s", f.top(), target)
	}
	if imported == "C" && h.library(f) {
		return "library packages do without cgo"
	}
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case !strings.Contains(first, "."): // the standard library
		return ""
	case f.isTest() && within(h.TestOnly, imported):
		return ""
	case slices.Contains(layer.Modules, "*"), within(layer.Modules, imported):
		return ""
	}
	return fmt.Sprintf("%s may not depend on %s", f.top(), imported)
}

// ours reports the top-level directory of a package of this module.
func (h House) ours(imported string) (string, bool) {
	if imported == h.Module {
		return ".", true
	}
	rest, ok := strings.CutPrefix(imported, h.Module+"/")
	if !ok {
		return "", false
	}
	top, _, _ := strings.Cut(rest, "/")
	return top, true
}

// within reports whether a package lies in one of the modules.
func within(modules []string, pkg string) bool {
	return slices.ContainsFunc(modules, func(m string) bool {
		return pkg == m || strings.HasPrefix(pkg, m+"/")
	})
}

// TestingImports keeps test code out of shipped files: a file whose name only
// looks like a test once put the testing package into every user's program.
func TestingImports(t *Tree, h House) []Finding {
	var out []Finding
	for _, f := range t.sources(shipped) {
		for _, spec := range f.Syntax.Imports {
			p := importPath(spec)
			if within([]string{"testing"}, p) || within(h.TestOnly, p) {
				out = append(out, t.find(f, spec.Pos(), "%s belongs in _test.go files", p))
			}
		}
	}
	return out
}

// Linkname forbids reaching into the runtime, in tests as well: such code
// stops building with some later Go version.
func Linkname(t *Tree, _ House) []Finding {
	var out []Finding
	for _, f := range t.sources() {
		for _, group := range f.Syntax.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "//go:linkname") {
					out = append(out, t.find(f, c.Pos(), "go:linkname is forbidden"))
				}
			}
		}
	}
	return out
}

// GoMod keeps directives out of the module file that bind or burden users:
// replace and exclude stop "go install module@version", tool puts what only
// we run into everybody's module graph.
func GoMod(t *Tree, _ House) []Finding {
	var out []Finding
	for _, f := range t.Files {
		if f.Path != "go.mod" {
			continue
		}
		for i, line := range strings.Split(f.Text, "\n") {
			word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if slices.Contains([]string{"replace", "exclude", "tool"}, strings.TrimSuffix(word, "(")) {
				out = append(out, Finding{f.Path, i + 1, "the " + word + " directive is forbidden"})
			}
		}
	}
	return out
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil { // the parser has accepted it
		return spec.Path.Value
	}
	return p
}

// imports maps the name by which a file calls each package to its path.
func (f *File) imports() map[string]string {
	out := map[string]string{}
	for _, spec := range f.Syntax.Imports {
		p := importPath(spec)
		name := p[strings.LastIndex(p, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		out[name] = p
	}
	return out
}
