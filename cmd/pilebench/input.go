package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/edsrzf/mmap-go"
)

// lineSource makes values of the lines of a file: value i is line i, counted
// from 0 and beginning anew after the last. Lines are kept without their line
// ends, outside the Go heap.
type lineSource struct {
	name  string
	text  mmap.MMap
	used  int64
	ends  *numbers // ends[i] is where line i ends
	lines int64
	mean  float64
	cut   bool // the file had more than there was room for
}

// lineBytesMax is the longest line taken, the largest value of a segment of the
// usual size.
const lineBytesMax = 4 << 20

// readLines reads a file, gzip or plain, as far as it fits in limit bytes.
func readLines(name string, limit int64) (_ *lineSource, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("-in: %w", err)
	}
	defer file.Close()
	text, err := decompressed(file)
	if err != nil {
		return nil, fmt.Errorf("-in %s: %w", name, err)
	}
	s := &lineSource{name: name}
	textRoom := limit * 3 / 4
	if s.text, err = mapMemory(textRoom); err != nil {
		return nil, err
	}
	if s.ends, err = newNumbers(limit / 4 / 8); err != nil {
		return nil, err
	}
	if err := s.read(text, textRoom, limit/4/8); err != nil {
		return nil, errors.Join(fmt.Errorf("-in %s: %w", name, err), s.close())
	}
	s.mean = float64(s.used) / float64(s.lines)
	return s, nil
}

// decompressed looks at the first bytes, not at the name.
func decompressed(file io.Reader) (io.Reader, error) {
	r := bufio.NewReaderSize(file, 1<<20)
	if head, err := r.Peek(2); err == nil && bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return gzip.NewReader(r)
	}
	return r, nil
}

func (s *lineSource) read(r io.Reader, textRoom, linesRoom int64) error {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(make([]byte, 64<<10), lineBytesMax)
	for scanner.Scan() {
		line := scanner.Bytes()
		if s.used+int64(len(line)) > textRoom || s.lines == linesRoom {
			s.cut = true
			break
		}
		copy(s.text[s.used:], line)
		s.used += int64(len(line))
		s.ends.set(s.lines, uint64(s.used))
		s.lines++
	}
	switch {
	case errors.Is(scanner.Err(), bufio.ErrTooLong):
		return fmt.Errorf("line %d is longer than %s", s.lines+1, formatSize(lineBytesMax))
	case scanner.Err() != nil:
		return scanner.Err()
	case s.lines == 0:
		return errors.New("no line to put")
	}
	return nil
}

// line returns the bytes of value i.
func (s *lineSource) line(i int64) []byte {
	at, from := i%s.lines, uint64(0)
	if at > 0 {
		from = s.ends.get(at - 1)
	}
	return s.text[from:s.ends.get(at)]
}

func (s *lineSource) fill(c *chunk, first int64, count int) {
	c.reset()
	for i := first; i < first+int64(count); i++ {
		line := s.line(i)
		copy(c.grow(len(line)), line)
	}
}

func (s *lineSource) check(i int64, b []byte) bool { return bytes.Equal(b, s.line(i)) }
func (s *lineSource) size(i int64) int             { return len(s.line(i)) }
func (s *lineSource) meanSize() float64            { return s.mean }
func (s *lineSource) bytes() int64                 { return s.used + s.lines*8 }

// notes says what of the file is put.
func (s *lineSource) notes(n int64) []string {
	notes := []string{fmt.Sprintf("%s: %s lines of %.1f bytes on average, put %.1f times",
		s.name, formatCount(s.lines), s.mean, float64(n)/float64(s.lines))}
	if s.cut {
		notes = append(notes, fmt.Sprintf("%s has more lines; only those above fit in memory beside their copies", s.name))
	}
	return notes
}

func (s *lineSource) close() error {
	if s.text == nil {
		return nil
	}
	return errors.Join(s.text.Unmap(), s.ends.close())
}
