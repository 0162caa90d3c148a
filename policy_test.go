package bigpile_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/bigpile/bigpile/internal/policy"
)

// house is the law of this repository, as tables. CONTRIBUTING.md puts the
// same in words; change both in one commit and say why in its message.
func house() policy.House {
	everything := []string{"segment", "serializer", "pile", "cache"}
	dependencies := []string{
		"github.com/edsrzf/mmap-go",
		"github.com/tinylib/msgp",
		"github.com/cespare/xxhash/v2",
		"golang.org/x/sys",
	}
	anybody := []string{"*"}
	return policy.House{
		Module:  "github.com/bigpile/bigpile",
		Library: everything,
		Layers: map[string]policy.Layer{
			"segment":    {Modules: dependencies},
			"serializer": {Modules: dependencies},
			"pile":       {Imports: []string{"segment", "serializer"}, Modules: dependencies},
			"cache":      {Imports: []string{"pile", "serializer"}, Modules: dependencies},
			"cmd":        {Imports: append(everything, "internal"), Modules: anybody},
			"benchmarks": {Imports: append(everything, "internal"), Modules: anybody},
			"internal":   {Imports: everything}, // helpers of tests and programs
			".":          {},                    // tests of the repository as a whole
		},
		TestOnly: []string{"github.com/stretchr/testify", "pgregory.net/rapid", "github.com/anishathalye/porcupine"},
		Unsafe: map[string]string{
			"segment/unsafe.go":          "atomic access to header words and payload within a segment's bytes",
			"segment/memory.go":          "a field holds where the bytes of a region begin",
			"serializer/unsafe.go":       "values of pointer-free types seen as the bytes they consist of",
			"serializer/unsafe_iface.go": "the two words of an interface, taken apart and put together",
			"cache/unsafe.go":            "the fields of keys at the offsets that reflect gave; the bytes of a string in place",
			"pile/unsafe.go":             "the bytes of a string in place; the address of a stack as a hint for stripes",
		},
		Mutable: map[string]string{},
		Words: []policy.Word{
			{
				Pattern: regexp.MustCompile("(^|[\\s\"'`(=:])/(home|root|work|workspace|Users)/"),
				Why:     "a path of one machine; write it relative to the repository",
			},
			{
				Pattern: regexp.MustCompile(`\b(proxy|sum)\.golang\.org\b|\bregistry\.npmjs\.org\b|\bpypi\.org/simple\b`),
				Why:     "where modules come from is the reader's configuration",
			},
		},
	}
}

// TestPolicy holds the tree against every house rule.
func TestPolicy(t *testing.T) {
	tree := load(t)
	for _, rule := range policy.Rules() {
		t.Run(rule.Name, func(t *testing.T) { report(t, rule.Check(tree, house())) })
	}
}

// TestPolicyPrograms compiles every complete program and file shown
// in a document.
func TestPolicyPrograms(t *testing.T) {
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	found, err := policy.Programs(load(t), root)
	if err != nil {
		t.Fatal(err)
	}
	report(t, found)
}

// TestPolicyWords proves that the patterns match. The samples are put together
// here because this file obeys the rule, too.
func TestPolicyWords(t *testing.T) {
	slash := "/"
	samples := []string{
		"see " + slash + "home/me/x",
		"(" + slash + "root/go)",
		slash + "work/tree",
		"GOPROXY=https://proxy." + "golang.org",
		"sum." + "golang.org",
	}
	for _, s := range samples {
		matched := false
		for _, w := range house().Words {
			matched = matched || w.Pattern.MatchString(s)
		}
		if !matched {
			t.Errorf("no pattern matches %q", s)
		}
	}
}

// load reads the tree with this process, so that the test cache knows every
// file and directory the result depends on.
func load(t *testing.T) *policy.Tree {
	t.Helper()
	tree, err := policy.Load(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if !tree.Has("go.mod") {
		t.Fatal("no go.mod: the rules would pass for want of anything to read")
	}
	return tree
}

func report(t *testing.T, found []policy.Finding) {
	t.Helper()
	for _, f := range found {
		t.Error(f)
	}
}
