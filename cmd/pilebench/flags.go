package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"strings"

	"github.com/bigpile/bigpile/pile"
)

// The bounds of the flags. They are far from what is useful, so that they stop
// mistakes only.
const (
	valuesMin     = 1_000
	valuesMax     = 16_000_000_000
	sizeMin       = 8 // a value holds at least its own number
	sizeMax       = 1 << 20
	goroutinesMax = 1_024
	segmentMin    = 1 << 20
	segmentMax    = 1 << 30
	roundsMin     = 8 // fewer make no median worth printing
	roundsMax     = 1_000
	roundSizeMin  = 64 << 10
	roundSizeMax  = 4 << 30
)

// The two histories of the memory that is written to.
const (
	historyFresh    = "fresh"
	historyRecycled = "recycled"
)

// config is what the flags said, checked.
type config struct {
	workload    string
	n           int64 // 0: as many as suit the machine
	size        int
	sizeSet     bool
	goroutines  int
	backing     string
	segmentSize int
	huge        string
	history     string
	rounds      int
	roundSize   int64
	seed        uint64
	input       string
	json        bool
	verbose     bool
	cpuProfile  string
}

// flagError is a value that a flag does not take.
type flagError struct {
	name, value, bound string
}

func (e *flagError) Error() string {
	return fmt.Sprintf("-%s %s: must be %s", e.name, e.value, e.bound)
}

// hugePages maps the values of -huge.
func hugePages() map[string]pile.HugePages {
	return map[string]pile.HugePages{
		"auto": pile.HugeAuto, "never": pile.HugeNever, "always": pile.HugeAlways,
	}
}

// defaults are the flags' values when none is given.
func defaults() config {
	return config{
		workload: "strings", size: 32, goroutines: runtime.GOMAXPROCS(0), backing: "anonymous",
		huge: "auto", history: historyFresh,
	}
}

// texts are the numbers as they were typed. They are parsed here rather than by
// package flag, so that every complaint names the flag, the value and the bound.
type texts struct {
	n, size, goroutines, segmentSize, rounds, roundSize, seed string
}

// newFlagSet declares the flags over c and t.
func newFlagSet(c *config, t *texts) *flag.FlagSet {
	fs := flag.NewFlagSet("pilebench", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are printed once, by run
	fs.StringVar(&c.workload, "workload", c.workload, "what to put: "+strings.Join(workloadNames(), ", "))
	fs.StringVar(&t.n, "n", "", "`count` of values, as 200000000 or 200M (default: what suits the memory)")
	fs.StringVar(&t.size, "size", "", "`bytes` a value (default 32; mixed and -in have their own)")
	fs.StringVar(&t.goroutines, "goroutines", "", "`count` of goroutines that work at once (default GOMAXPROCS)")
	fs.StringVar(&c.backing, "backing", c.backing, "memory of the pile: "+strings.Join(backingNames(), ", "))
	fs.StringVar(&t.segmentSize, "segment-size", "256MiB", "`size` of the pile's segments")
	fs.StringVar(&c.huge, "huge", c.huge, "huge pages: auto, never, always")
	fs.StringVar(&c.history, "history", c.history,
		"fresh: put into memory just mapped; recycled: into memory used before")
	fs.StringVar(&t.rounds, "rounds", "8", "measured rounds of each comparison, at least this `count`")
	fs.StringVar(&t.roundSize, "round-size", "256MiB", "`size` of one round of puts")
	fs.StringVar(&t.seed, "seed", "1", "seed of everything random, a whole `number`")
	fs.StringVar(&c.input, "in", "", "put the lines of this `file` (gzip too), repeated up to -n")
	fs.BoolVar(&c.json, "json", false, "print JSON, one object a line, and nothing else")
	fs.BoolVar(&c.verbose, "v", false, "print the single rounds, too")
	fs.StringVar(&c.cpuProfile, "cpuprofile", "", "write a CPU profile to this `file`")
	return fs
}

// parseFlags turns the arguments into a checked config.
func parseFlags(args []string) (config, error) {
	c, t := defaults(), texts{}
	fs := newFlagSet(&c, &t)
	if err := fs.Parse(args); err != nil {
		return c, err
	}
	if fs.NArg() > 0 {
		return c, fmt.Errorf("argument %q: pilebench takes flags only", fs.Arg(0))
	}
	return c, errors.Join(c.parseTexts(t), c.validate())
}

// parseTexts reads the numbers; what was not given keeps its default.
func (c *config) parseTexts(t texts) error {
	var seed, size, segment, goroutines, rounds int64 = 0, int64(c.size), 0, int64(c.goroutines), 0
	c.sizeSet = t.size != ""
	err := errors.Join(
		countIn(&c.n, "n", t.n, valuesMin, valuesMax),
		sizeIn(&size, "size", t.size, sizeMin, sizeMax),
		countIn(&goroutines, "goroutines", t.goroutines, 1, goroutinesMax),
		sizeIn(&segment, "segment-size", t.segmentSize, segmentMin, segmentMax),
		countIn(&rounds, "rounds", t.rounds, roundsMin, roundsMax),
		sizeIn(&c.roundSize, "round-size", t.roundSize, roundSizeMin, roundSizeMax),
		countIn(&seed, "seed", t.seed, 0, math.MaxInt64),
	)
	c.size, c.segmentSize, c.seed = int(size), int(segment), uint64(seed)
	c.goroutines, c.rounds = int(goroutines), int(rounds)
	return err
}

// validate checks what is not a number.
func (c *config) validate() error {
	if !slices.Contains(workloadNames(), c.workload) {
		return &flagError{"workload", c.workload, "one of " + strings.Join(workloadNames(), ", ")}
	}
	if !slices.Contains(backingNames(), c.backing) {
		return &flagError{"backing", c.backing, "one of " + strings.Join(backingNames(), ", ")}
	}
	if _, ok := hugePages()[c.huge]; !ok {
		return &flagError{"huge", c.huge, "auto, never or always"}
	}
	if c.history != historyFresh && c.history != historyRecycled {
		return &flagError{"history", c.history, "fresh or recycled"}
	}
	if bits.UintSize == 32 && c.roundSize > 1<<30 {
		return &flagError{"round-size", formatSize(c.roundSize), "at most 1 GiB in a 32-bit program"}
	}
	return c.validateSizes()
}

// typed reports whether the workload puts typed values.
func (c *config) typed() bool { return c.workload == "persons" || c.workload == "objects" }

// validateSizes refuses a -size that would not be obeyed.
func (c *config) validateSizes() error {
	if c.workload == "mixed" && c.input != "" {
		return errors.New("-in and -workload mixed: choose one; with -in the lines have their own sizes")
	}
	if c.sizeSet && (c.workload == "mixed" || c.input != "") {
		return errors.New("-size: has no meaning with -workload mixed or -in, which have their own sizes")
	}
	if c.typed() && (c.sizeSet || c.input != "" || c.history == historyRecycled) {
		return fmt.Errorf("-workload %s: takes no -size, -in or -history recycled: it makes its own values, in fresh memory", c.workload)
	}
	return nil
}

// countIn parses a count with bounds into dst, unless it was not given.
func countIn(dst *int64, name, text string, low, high int64) error {
	if text == "" {
		return nil
	}
	n, err := parseCount(text)
	if err != nil {
		return &flagError{name, text, "a count such as 8, 20000 or 200M"}
	}
	if n < low || n > high {
		return &flagError{name, text, fmt.Sprintf("between %d and %d", low, high)}
	}
	*dst = n
	return nil
}

// sizeIn parses a size with bounds into dst, unless it was not given.
func sizeIn(dst *int64, name, text string, low, high int64) error {
	if text == "" {
		return nil
	}
	n, err := parseSize(text)
	if err != nil {
		return &flagError{name, text, "a size such as 32, 64KiB or 256MiB"}
	}
	if n < low || n > high {
		return &flagError{name, text, fmt.Sprintf("between %s and %s", formatSize(low), formatSize(high))}
	}
	*dst = n
	return nil
}
