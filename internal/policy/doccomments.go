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
// can name. On a declaration it begins with the name, on a type perhaps with an
// article before it. A constant or variable within a group may have its comment
// at the end of the line instead. So may a field or an interface method; for
// these a comment also covers the lines right below it, and the only method of
// an interface is explained by the type.
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
			c.typ(f, first(s.Doc, d.Doc), s.Name)
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
		if typ.Methods.NumFields() == 1 {
			return
		}
		fields = typ.Methods
	default:
		return
	}
	above, next := false, 0 // whether a comment above covers line next
	for _, field := range fields.List {
		above = field.Doc != nil || above && c.tree.line(field.Pos()) == next
		next = c.tree.line(field.End()) + 1
		named := slices.ContainsFunc(field.Names, (*ast.Ident).IsExported)
		if named && !above && field.Comment == nil {
			c.missing(f, field.Names[0], "has no comment")
		}
	}
}

// typ checks the comment of a type, which may begin with an article.
func (c *docChecker) typ(f *File, doc *ast.CommentGroup, name *ast.Ident) {
	text := doc.Text()
	for _, article := range []string{"A ", "An ", "The "} {
		text = strings.TrimPrefix(text, article)
	}
	if !beginsWith(text, name) {
		c.missing(f, name, "has no comment that begins with its name")
	}
}

func (c *docChecker) begins(f *File, doc *ast.CommentGroup, names ...*ast.Ident) {
	if !beginsWith(doc.Text(), names...) {
		c.missing(f, names[0], "has no comment that begins with its name")
	}
}

func beginsWith(text string, names ...*ast.Ident) bool {
	words := strings.Fields(text)
	return len(words) > 0 && slices.ContainsFunc(names, func(id *ast.Ident) bool {
		return id.Name == strings.TrimRight(words[0], ",:;")
	})
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
