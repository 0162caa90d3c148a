package main

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/bigpile/bigpile/pile"
)

// values is the workloads strings, bytes and mixed, and any of them with the
// lines of a file: plain values, made by number, no codec in between.
type values struct {
	b          *bench
	source     source
	inputBytes int64
	closeInput func() error
	form       form

	pile    *pile.Pile // holds all n values, from fill to remove
	handles *numbers   // of these values
	resting int64      // the resident memory before they were put
}

// longStringsGOGC keeps the collector from running hundreds of times a second
// for the strings that are made, which would slow both sides of a comparison.
const longStringsGOGC = 800

// newValues opens any of the three.
func newValues(c *config) (workload, error) {
	v := &values{closeInput: func() error { return nil }}
	p := newPattern(c.seed, c.workload == "strings")
	switch {
	case c.input != "":
		lines, err := readLines(c.input, allowedMemory()/4)
		if err != nil {
			return nil, err
		}
		v.source, v.inputBytes, v.closeInput = lines, lines.bytes(), lines.close
	case c.workload == "mixed":
		v.source = newMixedSource(p)
	default:
		v.source = &fixedSource{p, c.size}
	}
	switch {
	case c.workload != "strings":
	case c.input == "" && c.size <= shortString:
		v.form = asShortString
	default:
		v.form = asLongString
		debug.SetGCPercent(longStringsGOGC)
	}
	return v, nil
}

func (v *values) plan(c *config, allowed int64) (plan, error) {
	p, err := makePlan(c, v.source, v.inputBytes, allowed)
	if lines, ok := v.source.(*lineSource); ok {
		p.notes = append(p.notes, lines.notes(p.n)...)
	}
	if v.form == asLongString {
		p.notes = append(p.notes, fmt.Sprintf("GOGC is %d, for making strings of more than %d bytes leaves garbage",
			longStringsGOGC, shortString))
	}
	return p, err
}

func (v *values) steps(b *bench) []step {
	v.b = b
	return []step{
		{"settle", func() error { return settle(b) }},
		{"make values", v.makeAlone},
		{"put-batch", v.putBatches},
		{"put", v.fill},
		{"collect", v.collect},
		{"read back", v.readBack},
		{"reads", v.randomReads},
		{"hot get", v.hotReads},
		{"delete", v.remove},
		{"chase", v.chase},
	}
}

func (v *values) close() {
	// All of this is given back by the end of the process in any case.
	_ = errors.Join(closePile(v.pile), v.handles.close(), v.closeInput())
}
