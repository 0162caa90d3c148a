package policy

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	// readOnly in the comment of a package-level variable, as a sentence or
	// clause of its own, promises that nobody writes to it. The rule then looks
	// for writes. Read-only.
	readOnly = regexp.MustCompile(`(?im)(^|[.;]\s+)read-only\s*([.:;,(]|$)`)
	// sentinelName is how errors that callers match are called. Read-only.
	sentinelName = regexp.MustCompile(`^[Ee]rr[A-Z]`)
)

// State forbids package-level variables that change in library packages: two
// piles in one process must not know of each other. Allowed are
//
//   - var _ Interface = …,
//   - sentinels: errX or ErrX = errors.New("package: …"),
//   - tables whose comment says "Read-only." and to which nothing is assigned,
//   - the exceptions in House.Mutable, each with its reason.
func State(t *Tree, h House) []Finding {
	var out []Finding
	seen := map[string]bool{}
	tables := map[string]map[string]bool{} // directory → name of a read-only table
	for _, f := range t.sources(shipped, written, h.library) {
		for _, v := range packageVars(f) {
			key := f.Path + ":" + v.name.Name
			seen[key] = true
			switch {
			case v.name.Name == "_", h.Mutable[key] != "", v.isSentinel(f):
			case !readOnly.MatchString(v.comment):
				out = append(out, t.find(f, v.name.Pos(),
					"package-level variable %s: neither a sentinel (message beginning %q) nor marked \"Read-only.\"",
					v.name.Name, f.Syntax.Name.Name+": "))
			case v.holdsLock():
				out = append(out, t.find(f, v.name.Pos(), "%s is marked read-only, but its type is made to change",
					v.name.Name))
			default:
				dir := path.Dir(f.Path)
				if tables[dir] == nil {
					tables[dir] = map[string]bool{}
				}
				tables[dir][v.name.Name] = true
			}
		}
	}
	out = append(out, writes(t, tables)...)
	for _, key := range slices.Sorted(maps.Keys(h.Mutable)) {
		if name, _, _ := strings.Cut(key, ":"); t.paths[path.Dir(name)] && !seen[key] {
			out = append(out, Finding{Path: name, Text: "listed as mutable, but there is no " + key})
		}
	}
	return out
}

// packageVar is one name of a package-level var declaration.
type packageVar struct {
	name    *ast.Ident
	typ     ast.Expr // nil if inferred
	value   ast.Expr // nil if none, or shared by several names
	comment string
}

func packageVars(f *File) []packageVar {
	var out []packageVar
	for _, decl := range f.Syntax.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR {
			continue
		}
		for _, s := range gen.Specs {
			spec := s.(*ast.ValueSpec)
			comment := gen.Doc.Text() + spec.Doc.Text() + spec.Comment.Text()
			for i, name := range spec.Names {
				v := packageVar{name: name, typ: spec.Type, comment: comment}
				if len(spec.Values) == len(spec.Names) {
					v.value = spec.Values[i]
				}
				out = append(out, v)
			}
		}
	}
	return out
}

// isSentinel accepts errors made on the spot whose text names the package.
func (v packageVar) isSentinel(f *File) bool {
	call, ok := v.value.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || !sentinelName.MatchString(v.name.Name) {
		return false
	}
	pkg, fn := f.callee(call)
	made := pkg == "errors" && fn == "New" || pkg == "fmt" && fn == "Errorf"
	return made && f.prefixed(call.Args[0])
}

// holdsLock looks for types that exist in order to change.
func (v packageVar) holdsLock() bool {
	found := false
	for _, e := range []ast.Expr{v.typ, v.value} {
		if e == nil {
			continue
		}
		ast.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false // what it does inside is its own affair
			case *ast.ChanType:
				found = true
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				found = found || ok && (x.Name == "sync" || x.Name == "atomic")
			}
			return true
		})
	}
	return found
}

// writes finds assignments to tables and addresses taken of them. It goes by
// name, so a local variable should not borrow the name of a table.
func writes(t *Tree, tables map[string]map[string]bool) []Finding {
	var out []Finding
	for _, f := range t.sources(shipped) {
		names := tables[path.Dir(f.Path)]
		if names == nil {
			continue
		}
		report := func(e ast.Expr, verb string) {
			if id := root(e); id != nil && names[id.Name] {
				out = append(out, t.find(f, e.Pos(), "%s is marked read-only, but %s here", id.Name, verb))
			}
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					for _, e := range n.Lhs {
						report(e, "written")
					}
				}
			case *ast.IncDecStmt:
				report(n.X, "written")
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					report(n.X, "its address is taken")
				}
			}
			return true
		})
	}
	return out
}

// root returns the variable an expression such as a.b[i] begins with.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// InitFuncs forbids func init: importing a package must not do anything.
func InitFuncs(t *Tree, _ House) []Finding {
	var out []Finding
	for _, f := range t.sources(shipped, written) {
		for _, decl := range f.Syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if ok && fn.Recv == nil && fn.Name.Name == "init" {
				out = append(out, t.find(f, fn.Pos(), "func init is forbidden"))
			}
		}
	}
	return out
}
