package policy

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
)

// DocComments asks for a comment on everything a user of a library package
// can name. On a declaration it begins with the name; a constant or variable
// within a group, a field and an interface method may have theirs at the end
// of the line instead.
func DocComments(t *Tree, h House) []Finding {
	c := &docChecker{tree: t, packages: map[string]bool{}}
	for _, f := range t.sources(shipped, written, h.library) {
		c.file(f)
	}
	for _, dir := range slices.Sorted(maps.Keys(c.packages)) {
		if !c.packages[dir] {
			c.out = append(c.out, Finding{Path: dir, Text: `no package comment "Package …" (or "Command …")`})
		}
	}
	return c.out
}

type docChecker struct {
	tree     *Tree
	packages map[string]bool // directory → has a package comment
	out      []Finding
}

func (c *docChecker) file(f *File) {
	doc := f.Syntax.Doc.Text()
	said := strings.HasPrefix(doc, "Package "+f.Syntax.Name.Name+" ") || strings.HasPrefix(doc, "Command ")
	dir := path.Dir(f.Path)
	c.packages[dir] = c.packages[dir] || said
	for _, decl := range f.Syntax.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
				c.begins(f, d.Doc, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				c.spec(f, d, spec)
			}
		}
	}
}

func (c *docChecker) spec(f *File, d *ast.GenDecl, spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			c.begins(f, first(s.Doc, d.Doc), s.Name)
			c.members(f, s)
		}
	case *ast.ValueSpec:
		if !slices.ContainsFunc(s.Names, (*ast.Ident).IsExported) {
			return
		}
		if d.Lparen == token.NoPos {
			c.begins(f, first(s.Doc, d.Doc), s.Names...)
		} else if s.Comment == nil {
			c.begins(f, s.Doc, s.Names...)
		}
	}
}

// members checks the fields of a struct or the methods of an interface.
func (c *docChecker) members(f *File, s *ast.TypeSpec) {
	var fields *ast.FieldList
	switch typ := s.Type.(type) {
	case *ast.StructType:
		fields = typ.Fields
	case *ast.InterfaceType:
		fields = typ.Methods
	default:
		return
	}
	for _, field := range fields.List {
		named := slices.ContainsFunc(field.Names, (*ast.Ident).IsExported)
		if named && field.Doc == nil && field.Comment == nil {
			c.missing(f, field.Names[0], "has no comment")
		}
	}
}

func (c *docChecker) begins(f *File, doc *ast.CommentGroup, names ...*ast.Ident) {
	word, _, _ := strings.Cut(strings.TrimSpace(doc.Text()), " ")
	word, _, _ = strings.Cut(word, "\n")
	word = strings.TrimRight(word, ",:;")
	if slices.ContainsFunc(names, func(id *ast.Ident) bool { return id.Name == word }) {
		return
	}
	c.missing(f, names[0], "has no comment that begins with its name")
}

func (c *docChecker) missing(f *File, name *ast.Ident, what string) {
	c.out = append(c.out, c.tree.find(f, name.Pos(), "exported %s %s", name.Name, what))
}

func first(groups ...*ast.CommentGroup) *ast.CommentGroup {
	for _, g := range groups {
		if g != nil {
			return g
		}
	}
	return nil
}

// receiver returns the name of the type a method belongs to.
func receiver(d *ast.FuncDecl) string {
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr: // one type parameter
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
