package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lines are awkward on purpose: empty ones, both line ends, no end at the last.
const lines = "first\n\nthird line\r\nnot \xff utf-8\nlast"

func writeInput(t *testing.T, data []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestLinesOfPlainAndZippedFiles(t *testing.T) {
	for name, data := range map[string][]byte{"plain": []byte(lines), "gzip": zipped(t, lines)} {
		t.Run(name, func(t *testing.T) {
			s, err := readLines(writeInput(t, data), 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			want := []string{"first", "", "third line", "not \xff utf-8", "last", "first", ""}
			var c chunk
			s.fill(&c, 0, len(want))
			for i, text := range want {
				if got := string(c.value(i)); got != text || !s.check(int64(i), c.value(i)) {
					t.Errorf("value %d is %q, want %q", i, got, text)
				}
			}
			if s.check(0, []byte("firsT")) {
				t.Error("another line passes")
			}
		})
	}
}

func TestInputThatCannotBeRead(t *testing.T) {
	for name, data := range map[string][]byte{
		"empty":     nil,
		"long line": bytes.Repeat([]byte("x"), lineBytesMax+1),
		"cut gzip":  zipped(t, strings.Repeat(lines, 100))[:40],
	} {
		t.Run(name, func(t *testing.T) {
			s, err := readLines(writeInput(t, data), 64<<20)
			if err == nil {
				t.Fatalf("%d lines, no error", s.lines)
			}
			if !strings.Contains(err.Error(), "-in") {
				t.Errorf("the error does not name the flag: %v", err)
			}
		})
	}
}

func TestInputLargerThanItsRoom(t *testing.T) {
	s, err := readLines(writeInput(t, bytes.Repeat([]byte("line\n"), 100_000)), 256<<10)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if !s.cut || s.lines == 0 || len(s.notes(1000)) != 2 {
		t.Errorf("%d lines, cut %v", s.lines, s.cut)
	}
}
