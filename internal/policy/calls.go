package policy

import (
	"go/ast"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	// noisy matches what prints or ends the process, as "import path.function".
	// Read-only.
	noisy = regexp.MustCompile(`^(fmt\.Print|log\.(Print|Fatal|Panic)|os\.(Exit|Stdout|Stderr)$)`)
	// noisyBuiltins do the same without an import. Read-only.
	noisyBuiltins = []string{"print", "println"}
)

// Output keeps library packages silent: what they have to say goes into
// errors and to the logger of the options.
func Output(t *Tree, h House) []Finding {
	var out []Finding
	for _, f := range t.sources(shipped, written, h.library) {
		names := f.imports()
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				if ok && noisy.MatchString(names[x.Name]+"."+n.Sel.Name) {
					out = append(out, t.find(f, n.Pos(), "a library does not use %s.%s", x.Name, n.Sel.Name))
				}
			case *ast.CallExpr:
				id, ok := n.Fun.(*ast.Ident)
				if ok && slices.Contains(noisyBuiltins, id.Name) {
					out = append(out, t.find(f, n.Pos(), "a library does not use %s", id.Name))
				}
			}
			return true
		})
	}
	return out
}

// Panics asks every panic of a library package to name the package, so that
// whoever meets one knows whose bug it is. A function that recovers may raise
// again what it caught, unchanged.
func Panics(t *Tree, h House) []Finding {
	var out []Finding
	for _, f := range t.sources(shipped, written, h.library) {
		for _, decl := range f.Syntax.Decls {
			var raised []*ast.CallExpr
			recovers := false
			ast.Inspect(decl, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if id, ok := call.Fun.(*ast.Ident); ok {
					recovers = recovers || id.Name == "recover"
					if id.Name == "panic" && len(call.Args) == 1 {
						raised = append(raised, call)
					}
				}
				return true
			})
			for _, call := range raised {
				_, again := call.Args[0].(*ast.Ident)
				if !f.prefixed(call.Args[0]) && !(again && recovers) {
					out = append(out, t.find(f, call.Pos(), "the text of a panic begins with %q", f.Syntax.Name.Name+": "))
				}
			}
		}
	}
	return out
}

// prefixed reports whether a message begins with the name of the package or
// of the layer it is part of. The message may be a literal, a sum that begins
// with one, or what fmt or errors make of one.
func (f *File) prefixed(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(x.Value)
		return err == nil && (strings.HasPrefix(text, f.Syntax.Name.Name+": ") || strings.HasPrefix(text, f.top()+": "))
	case *ast.BinaryExpr:
		return f.prefixed(x.X)
	case *ast.CallExpr:
		switch pkg, fn := f.callee(x); pkg + "." + fn {
		case "fmt.Sprintf", "fmt.Errorf", "fmt.Sprint", "errors.New":
			return len(x.Args) > 0 && f.prefixed(x.Args[0])
		}
	}
	return false
}

// callee returns the import path and the name of a function called as pkg.fn.
func (f *File) callee(call *ast.CallExpr) (pkg, fn string) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", ""
	}
	return f.imports()[x.Name], sel.Sel.Name
}
