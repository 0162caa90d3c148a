package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

func isHelp(err error) bool { return errors.Is(err, flag.ErrHelp) }

// printUsage is what -h prints.
func printUsage(w io.Writer) {
	fmt.Fprint(w, `Usage: pilebench [flags]

Fills a pile with values, reads them back, and prints how fast that is, beside
a loop that only copies the same values ("bare copy", measured in the same run)
and the published figures of the ancestor. Without a flag it takes about half of
the memory that it may use, and a minute or two.

Exit codes: 0 all values right, 1 a value wrong or lost, or the run failed,
2 bad flags or too little memory, 130 interrupted (what was measured is printed).

`)
	c := defaults()
	fs := newFlagSet(&c, new(texts))
	fs.SetOutput(w)
	fs.PrintDefaults()
}
