package policy

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// Go code in documents is one of two things:
//
//   - a file, if its first word other than comments is "package": it is
//     compiled;
//   - otherwise a quotation: the same text, blanks and line breaks aside,
//     stands in an example*_test.go file or in a shipped Go file. A line
//     "// …" means that something is left out: what stands before it and behind
//     it is looked for in that order, in one file.
//
// Either way the compiler has seen it. What is neither (a sketch, another
// language, a list of signatures) goes into a block marked text.

// snippetPackage begins a block that is a whole file.
var snippetPackage = regexp.MustCompile(`(?m)^package\s+\w+`) // Read-only.

// snippetDocuments are those whose code is ours to compile; the comparison with
// other systems is a module of its own.
func (t *Tree) snippetDocuments() []document {
	var out []document
	for _, f := range t.markdown() {
		if f.top() != "benchmarks" {
			out = append(out, parseMarkdown(f))
		}
	}
	return out
}

// isGo reports whether a block is highlighted as Go.
func (b block) isGo() bool {
	lang := strings.ToLower(strings.TrimLeft(b.info, "{. "))
	return lang == "go" || strings.HasPrefix(lang, "golang") ||
		strings.HasPrefix(lang, "go ") || strings.HasPrefix(lang, "go,") || strings.HasPrefix(lang, "go{")
}

func (b block) isFile() bool { return b.isGo() && snippetPackage.MatchString(b.text) }

// Quotes checks the blocks that are quotations.
func Quotes(t *Tree, _ House) []Finding {
	quotable := t.sources(func(f *File) bool {
		return !f.isTest() || strings.HasPrefix(path.Base(f.Path), "example")
	})
	sources := make([]string, len(quotable))
	for i, f := range quotable {
		sources[i] = normal(f.Text)
	}
	var out []Finding
	for _, d := range t.snippetDocuments() {
		for _, b := range d.blocks {
			switch {
			case !b.isGo():
			case b.info != "go":
				out = append(out, Finding{d.file.Path, b.line - 1, fmt.Sprintf("fence marked %q: write go, or text if it is not to be checked", b.info)})
			case !b.isFile() && !quoted(b.text, sources):
				out = append(out, Finding{d.file.Path, b.line, "this code is neither a whole file nor quoted from an example or a source file"})
			}
		}
	}
	return out
}

// quoted reports whether one source holds all pieces of a quotation in order.
func quoted(text string, sources []string) bool {
	var pieces []string
	var piece strings.Builder
	for line := range strings.SplitSeq(text+"\n// …", "\n") {
		if s := strings.TrimSpace(line); s != "// …" && s != "// ..." {
			piece.WriteString(line + "\n")
			continue
		}
		if strings.TrimSpace(piece.String()) != "" {
			pieces = append(pieces, normal(piece.String()))
		}
		piece.Reset()
	}
	for _, src := range sources {
		if holds(src, pieces) {
			return true
		}
	}
	return false
}

func holds(src string, pieces []string) bool {
	for _, p := range pieces {
		at := strings.Index(src, p)
		if at < 0 {
			return false
		}
		src = src[at+len(p)-1:] // the blank at the end may begin the next one
	}
	return len(pieces) > 0
}

// normal makes all white space one blank, and puts one at either end so that
// a match begins and ends between words.
func normal(text string) string { return " " + strings.Join(strings.Fields(text), " ") + " " }

// Programs compiles every block that is a whole file, within the module at root.
// The files exist only as an overlay, so nothing is written to the tree. The
// result depends on no file that Load has not read.
func Programs(t *Tree, root string) ([]Finding, error) {
	dir, err := os.MkdirTemp("", "snippets")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	replace := map[string]string{}
	var pkgs []string
	for _, d := range t.snippetDocuments() {
		for _, b := range d.blocks {
			if !b.isFile() {
				continue
			}
			pkg := fmt.Sprintf("internal/snippets/s%d", len(pkgs))
			pkgs = append(pkgs, "./"+pkg)
			real := filepath.Join(dir, fmt.Sprintf("s%d.go", len(pkgs)))
			replace[filepath.Join(root, filepath.FromSlash(pkg), "snippet.go")] = real
			// The compiler then speaks of the document, not of a file nobody has.
			text := fmt.Sprintf("//line %s:%d\n%s\n", filepath.Join(root, d.file.Path), b.line, b.text)
			if err := os.WriteFile(real, []byte(text), 0o600); err != nil {
				return nil, err
			}
		}
	}
	if len(pkgs) == 0 {
		return nil, nil
	}
	return build(root, dir, replace, pkgs)
}

func build(root, dir string, replace map[string]string, pkgs []string) ([]Finding, error) {
	overlay := filepath.Join(dir, "overlay.json")
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(overlay, data, 0o600); err != nil {
		return nil, err
	}
	// Not go vet: it wants to enter the directory, which exists only in the overlay.
	cmd := exec.Command("go", append([]string{"build", "-overlay", overlay, "-o", os.DevNull}, pkgs...)...)
	cmd.Dir = root
	said, err := cmd.CombinedOutput()
	if err == nil {
		return nil, nil
	}
	if _, ran := err.(*exec.ExitError); !ran {
		return nil, err
	}
	return []Finding{{Path: "documents", Text: "go build of the programs in them:\n" + string(said)}}, nil
}
