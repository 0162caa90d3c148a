package pile_test

import (
	"testing"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/require"
)

// runProgram decodes bytes as a list of commands, runs each on the pile and on a Go map and compares the two
// every so many commands and at the end. Commands that mean nothing are skipped, so every input is a program.
func runProgram(t *testing.T, p *pile.Pile, program []byte, every int) {
	t.Helper()
	m := newModel(p)
	next := func() int {
		if len(program) == 0 {
			return 0
		}
		b := program[0]
		program = program[1:]
		return int(b)
	}
	size := func() int { return modelSizes[next()%len(modelSizes)] }
	victim := func() (int, bool) {
		b := next()
		if len(m.keys) == 0 {
			return 0, false
		}
		return (b | next()<<8) % len(m.keys), true
	}
	for step := 1; len(program) > 0; step++ {
		var err error
		switch op := next() % 32; op {
		case 0, 1, 2, 3, 4:
			err = m.put(pattern(size(), uint64(step)), op == 0)
		case 5, 6, 7:
			if i, ok := victim(); ok {
				err = m.remove(i)
			}
		case 8, 9, 10:
			if i, ok := victim(); ok {
				err = m.update(i, pattern(size(), uint64(step)), op == 8)
			}
		case 11:
			err = m.reserve(pattern(size(), uint64(step)), size())
		case 12:
			values := make([][]byte, next()%32)
			for j := range values {
				values[j] = pattern(size(), uint64(step)<<8|uint64(j))
			}
			err = m.putMany(values)
		case 13:
			if i, ok := victim(); ok {
				err = m.removeMany(i, min(next()%32, len(m.keys)-i))
			}
		case 14:
			if i, ok := victim(); ok {
				err = m.view(i)
			}
		case 15:
			if next()%4 == 0 {
				err = m.getMany()
			}
		case 16:
			if next()%64 == 0 {
				err = m.purge()
			}
		case 17:
			err = m.compact()
		}
		require.NoErrorf(t, err, "command %d", step)
		if step%every == 0 {
			require.NoErrorf(t, m.verify(), "after command %d", step)
		}
	}
	require.NoError(t, m.verify(), "at the end")
}

// FuzzCommands looks for a list of commands after which the pile and a Go map differ.
// The first byte picks the options, the rest is the program.
func FuzzCommands(f *testing.F) {
	f.Add([]byte{0})
	f.Add([]byte{1, 0, 5, 0, 6, 8, 0, 0, 19, 5, 1, 0})                              // put, put, grow, delete
	f.Add([]byte{2, 1, 0, 1, 0, 1, 0, 13, 0, 0, 3, 17, 1, 18, 14, 0, 0, 15, 0})     // class change through compact
	f.Add([]byte{3, 11, 1, 15, 9, 0, 0, 14, 9, 0, 0, 2, 9, 0, 0, 19, 9, 0, 0, 2})   // reserve, in and out of the room
	f.Add([]byte{4, 12, 30, 1, 2, 3, 4, 5, 6, 7, 16, 0, 12, 30, 1, 2, 3, 15, 0, 0}) // purge and refill
	f.Add([]byte{5, 255, 254, 253, 250, 200, 1, 19, 1, 18, 10, 1, 0, 0, 5, 0, 0, 1, 19})
	all := variants()
	f.Fuzz(func(t *testing.T, input []byte) {
		if len(input) == 0 || len(input) > 4*kiB {
			t.Skip()
		}
		o := all[int(input[0])%len(all)].opts
		if o.SegmentSize == 0 {
			o.SegmentSize = miB
		}
		runProgram(t, open(t, o), input[1:], 1)
	})
}
