package policy

import (
	"regexp"
	"slices"
)

// House holds the tables the rules are given.
type House struct {
	// Module is the module path.
	Module string
	// Library names the top-level directories that users import.
	Library []string
	// Layers says for each top-level directory what it may import.
	Layers map[string]Layer
	// TestOnly names modules which any _test.go file may import and no other
	// file may.
	TestOnly []string
	// Unsafe maps each file that may import unsafe to the reason.
	Unsafe map[string]string
	// Mutable maps each package-level variable which may change, written
	// "dir/file.go:name", to the reason.
	Mutable map[string]string
	// Words are the texts that may stand in no file.
	Words []Word
}

// Layer is a row of the layer table.
type Layer struct {
	// Imports names the top-level directories of ours.
	Imports []string
	// Modules names modules of others; "*" means any.
	Modules []string
}

// Word is a text that may stand in no file.
type Word struct {
	// Pattern matches it; Why is told to whoever wrote it.
	Pattern *regexp.Regexp
	Why     string
}

// Rule is one check over a tree.
type Rule struct {
	// Name is the name of the subtest.
	Name string
	// Check returns every breach.
	Check func(*Tree, House) []Finding
}

// Rules lists all rules. Each needs trees in testdata/<name> which prove that
// it passes and that it fails.
func Rules() []Rule {
	return []Rule{
		{"layers", Layers},
		{"gomod", GoMod},
		{"testing", TestingImports},
		{"linkname", Linkname},
		{"unsafe", UnsafeFiles},
		{"state", State},
		{"init", InitFuncs},
		{"output", Output},
		{"panics", Panics},
		{"size", Size},
		{"doc", DocComments},
		{"titles", Titles},
		{"links", Links},
		{"quotes", Quotes},
		{"words", Words},
	}
}

// library accepts files of the packages users import.
func (h House) library(f *File) bool { return slices.Contains(h.Library, f.top()) }
