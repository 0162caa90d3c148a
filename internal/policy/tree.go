package policy

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// textSizeMax bounds what is read of a file: a data file somebody left in the
// working tree must not turn the policy test into a reading of gigabytes.
const textSizeMax = 1 << 20

// File is one text file of the tree.
type File struct {
	// Path is relative to the root of the tree and separated by slashes.
	Path string
	// Text is the content.
	Text string
	// Syntax is nil unless the file is Go source that the go command builds.
	Syntax *ast.File
}

// Tree is everything the rules look at.
type Tree struct {
	// Files holds the text files, sorted by path.
	Files []*File

	fset  *token.FileSet
	paths map[string]bool // files (binary ones too) and directories
}

// Finding is one breach of a rule.
type Finding struct {
	// Path and Line say where; line 0 means the file as a whole.
	Path string
	Line int
	// Text says what is wrong and, where it is not obvious, what to do.
	Text string
}

// String gives the form editors jump to.
func (f Finding) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s", f.Path, f.Text)
	}
	return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.Text)
}

// Load reads a tree. Hidden directories are skipped but for the two that hold
// our own automation.
func Load(fsys fs.FS) (*Tree, error) {
	t := &Tree{fset: token.NewFileSet(), paths: map[string]bool{}}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			err = t.visit(fsys, name, d)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // other packages' tests run at the same time and clean up
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("policy: load: %w", err)
	}
	slices.SortFunc(t.Files, func(a, b *File) int { return cmp.Compare(a.Path, b.Path) })
	return t, nil
}

func (t *Tree) visit(fsys fs.FS, name string, d fs.DirEntry) error {
	if skipped(d) {
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	t.paths[name] = true
	if !d.Type().IsRegular() {
		return nil
	}
	return t.read(fsys, name, d)
}

// Has reports whether there is a file or directory of that path.
func (t *Tree) Has(path string) bool { return t.paths[path] }

func skipped(d fs.DirEntry) bool {
	name := d.Name()
	if name == ".git" { // a directory in a clone, a file in a work tree
		return true
	}
	hidden := strings.HasPrefix(name, ".") && name != "."
	return d.IsDir() && (name == "vendor" || hidden && name != ".ci" && name != ".github")
}

func (t *Tree) read(fsys fs.FS, name string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil || info.Size() > textSizeMax {
		return err
	}
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	text := string(data)
	if strings.Contains(text, "\x00") {
		return nil
	}
	f := &File{Path: name, Text: text}
	if built(name) {
		const mode = parser.ParseComments | parser.SkipObjectResolution
		if f.Syntax, err = parser.ParseFile(t.fset, name, text, mode); err != nil {
			return err
		}
	}
	t.Files = append(t.Files, f)
	return nil
}

// built reports whether the go command takes the file for source.
func built(name string) bool {
	if path.Ext(name) != ".go" {
		return false
	}
	for elem := range strings.SplitSeq(name, "/") {
		if elem == "testdata" || elem[0] == '_' || elem[0] == '.' {
			return false
		}
	}
	return true
}

// sources returns the Go files that keep accepts, or all of them.
func (t *Tree) sources(keep ...func(*File) bool) []*File {
	var out []*File
	for _, f := range t.Files {
		ok := f.Syntax != nil
		for _, k := range keep {
			ok = ok && k(f)
		}
		if ok {
			out = append(out, f)
		}
	}
	return out
}

// markdown returns the documents, without those that are test data.
func (t *Tree) markdown() []*File {
	var out []*File
	for _, f := range t.Files {
		if path.Ext(f.Path) == ".md" && !strings.Contains("/"+f.Path, "/testdata/") {
			out = append(out, f)
		}
	}
	return out
}

func (t *Tree) line(pos token.Pos) int { return t.fset.Position(pos).Line }

// find makes a finding at a position in a Go file.
func (t *Tree) find(f *File, pos token.Pos, format string, args ...any) Finding {
	return Finding{Path: f.Path, Line: t.line(pos), Text: fmt.Sprintf(format, args...)}
}

// top is the first element of the path, or "." for files at the root.
func (f *File) top() string {
	top, _, below := strings.Cut(f.Path, "/")
	if !below {
		return "."
	}
	return top
}

func (f *File) isTest() bool { return strings.HasSuffix(f.Path, "_test.go") }

// shipped accepts what a user of the module may compile.
func shipped(f *File) bool { return !f.isTest() }

// written accepts what a person wrote; generators have their own style.
func written(f *File) bool { return !ast.IsGenerated(f.Syntax) }
