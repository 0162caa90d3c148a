package policy

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// document is a Markdown file cut in what is prose and what is code.
type document struct {
	file *File
	// prose has as many lines as the file; those of fenced blocks are empty.
	prose  []string
	blocks []block
}

// block is a fenced code block.
type block struct {
	info string // what follows the opening fence
	line int    // of the first line of the text
	text string
	open bool // the closing fence is missing
}

var (
	fence      = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})(.*)$")        // Read-only.
	title      = regexp.MustCompile(`^#\s+\S`)                          // Read-only.
	heading    = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)            // Read-only.
	codeSpan   = regexp.MustCompile("`+[^`]*`+")                        // Read-only.
	inlineLink = regexp.MustCompile(`\]\(\s*<?([^)\s>]*)>?[^)]*\)`)     // Read-only.
	linkTarget = regexp.MustCompile(`^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)`) // Read-only.
	anchorID   = regexp.MustCompile(`<[^>]*\b(?:id|name)="([^"]+)"`)    // Read-only.
	linkScheme = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)        // Read-only.
	linkedText = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)          // Read-only.
	htmlRemark = regexp.MustCompile(`<!--.*?-->`)                       // Read-only.
)

func parseMarkdown(f *File) document {
	d := document{file: f}
	var cur *block
	var closing string
	var body []string
	end := func() {
		cur.text = strings.Join(body, "\n")
		d.blocks = append(d.blocks, *cur)
		cur, body = nil, nil
	}
	for i, line := range strings.Split(f.Text, "\n") {
		m := fence.FindStringSubmatch(line)
		switch {
		case cur == nil && m != nil:
			cur = &block{info: strings.TrimSpace(m[2]), line: i + 2}
			closing = m[1]
		case cur == nil:
			d.prose = append(d.prose, htmlRemark.ReplaceAllString(line, ""))
			continue
		case m != nil && strings.HasPrefix(m[1], closing) && strings.TrimSpace(m[2]) == "":
			end()
		default:
			body = append(body, line)
		}
		d.prose = append(d.prose, "")
	}
	if cur != nil {
		cur.open = true
		end()
	}
	return d
}

// Titles asks for exactly one "# Title" in each document, and for every fence
// to be closed.
func Titles(t *Tree, _ House) []Finding {
	var out []Finding
	for _, f := range t.markdown() {
		d := parseMarkdown(f)
		n := 0
		for _, line := range d.prose {
			if title.MatchString(line) {
				n++
			}
		}
		if n != 1 {
			out = append(out, Finding{Path: f.Path, Text: fmt.Sprintf("%d titles, want one line \"# Title\"", n)})
		}
		for _, b := range d.blocks {
			if b.open {
				out = append(out, Finding{f.Path, b.line - 1, "fence without an end"})
			}
		}
	}
	return out
}

// Links asks every relative link to lead to a file of the tree and, where it
// names a heading, to one that exists.
func Links(t *Tree, _ House) []Finding {
	anchors := map[string]map[string]bool{}
	for _, f := range t.markdown() {
		anchors[f.Path] = parseMarkdown(f).anchors()
	}
	var out []Finding
	for _, f := range t.markdown() {
		for i, line := range parseMarkdown(f).prose {
			for _, target := range targets(line) {
				if why := t.broken(f, target, anchors); why != "" {
					out = append(out, Finding{f.Path, i + 1, fmt.Sprintf("link to %q: %s", target, why)})
				}
			}
		}
	}
	return out
}

// targets returns where the links of a line of prose lead.
func targets(line string) []string {
	line = codeSpan.ReplaceAllString(line, "code")
	var out []string
	for _, m := range inlineLink.FindAllStringSubmatch(line, -1) {
		out = append(out, m[1])
	}
	if m := linkTarget.FindStringSubmatch(line); m != nil {
		out = append(out, m[1])
	}
	return out
}

// broken says what is wrong with a link, or nothing.
func (t *Tree) broken(f *File, target string, anchors map[string]map[string]bool) string {
	if linkScheme.MatchString(target) {
		return ""
	}
	name, anchor, _ := strings.Cut(target, "#")
	dest := f.Path
	if name != "" {
		dest = path.Join(path.Dir(f.Path), name)
	}
	switch {
	case target == "":
		return "it is empty"
	case path.IsAbs(name):
		return "write it relative to this file"
	case !t.paths[dest]:
		return "no such file"
	case anchor != "" && anchors[dest] != nil && !anchors[dest][anchor]:
		return "no such heading"
	}
	return ""
}

// anchors returns the names under which GitHub can be sent to a place in the
// document.
func (d document) anchors() map[string]bool {
	out := map[string]bool{}
	count := map[string]int{}
	for _, line := range d.prose {
		for _, m := range anchorID.FindAllStringSubmatch(line, -1) {
			out[m[1]] = true
		}
		m := heading.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		s := slug(m[1])
		if n := count[s]; n > 0 {
			out[fmt.Sprintf("%s-%d", s, n)] = true
		} else {
			out[s] = true
		}
		count[s]++
	}
	return out
}

// slug derives the anchor of a heading: lower case, blanks to hyphens, and of
// the rest only letters, digits, hyphens and underscores.
func slug(text string) string {
	text = linkedText.ReplaceAllString(text, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// Words forbids certain texts in every file, test data included.
func Words(t *Tree, h House) []Finding {
	var out []Finding
	for _, f := range t.Files {
		for i, line := range strings.Split(f.Text, "\n") {
			for _, w := range h.Words {
				if m := w.Pattern.FindString(line); m != "" {
					out = append(out, Finding{f.Path, i + 1, fmt.Sprintf("%q: %s", m, w.Why)})
				}
			}
		}
	}
	return out
}
