// Command piletorture works a pile hard from many goroutines and compares every value it reads with what it wrote.
//
// Each value names its owner, its version and its length and ends in a checksum. A table on the Go heap says which
// handle belongs to which owner and which versions it may hold at the moment. Readers, viewers, updaters, deleters,
// batches and Compact run at once, with yields at random points between their steps and inside callbacks; sizes
// shift from phase to phase, so that pages change their class. At intervals all stop, and Check, the counters, the
// whole table and All are compared; now and then the pile is purged.
//
// It exits with 1 when a value was wrong, and prints the seed first.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"time"

	"github.com/bigpile/bigpile/pile"
)

// config is what the flags say.
type config struct {
	duration    time.Duration
	seed        uint64
	backing     pile.Backing
	goroutines  int
	objects     int
	maxMemory   int64
	segmentSize int
	checksums   bool
	debug       bool
	json        bool
	out         io.Writer
}

func parseFlags(args []string, out io.Writer) (config, error) {
	c := config{out: out}
	flags := flag.NewFlagSet("piletorture", flag.ContinueOnError)
	flags.SetOutput(out)
	backing := flags.String("backing", "anonymous", "memory of the pile: anonymous or heap")
	flags.DurationVar(&c.duration, "duration", time.Minute, "how long to run")
	flags.Uint64Var(&c.seed, "seed", 0, "seed of all random numbers; 0 draws one")
	flags.IntVar(&c.goroutines, "goroutines", 4*runtime.GOMAXPROCS(0), "goroutines at work, at least 2")
	flags.IntVar(&c.objects, "objects", 4000, "objects alive at most")
	flags.Int64Var(&c.maxMemory, "max-memory", 0, "bytes the pile may map; 0 is unlimited")
	flags.IntVar(&c.segmentSize, "segment-size", 4<<20, "bytes of a segment")
	flags.BoolVar(&c.checksums, "checksums", false, "let the pile keep checksums")
	flags.BoolVar(&c.debug, "debug", false, "turn on the pile's Debug option")
	flags.BoolVar(&c.json, "json", false, "print JSON, one object a line")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	switch *backing {
	case "anonymous":
		c.backing = pile.Anonymous
	case "heap":
		c.backing = pile.Heap
	default:
		return c, fmt.Errorf("-backing %s: want anonymous or heap", *backing)
	}
	if c.goroutines < 2 || c.objects < 1 || c.duration <= 0 {
		return c, fmt.Errorf("-goroutines %d, -objects %d, -duration %v: want at least 2, at least 1, more than 0", c.goroutines, c.objects, c.duration)
	}
	if c.seed == 0 {
		c.seed = rand.Uint64()
	}
	return c, nil
}

func main() {
	c, err := parseFlags(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "piletorture:", err)
		os.Exit(2)
	}
	c.out = os.Stdout
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	result, err := run(ctx, c)
	if err != nil {
		fmt.Fprintln(os.Stderr, "piletorture:", err)
		os.Exit(2)
	}
	if result.Wrong > 0 {
		os.Exit(1)
	}
}

// result is what the last line says.
type result struct {
	Seed       uint64           `json:"seed"`
	Seconds    float64          `json:"seconds"`
	Ops        map[string]int64 `json:"ops"`
	Checks     int64            `json:"checks"`
	OutOfSpace int64            `json:"out_of_space"`
	Stale      int64            `json:"stale"`
	Wrong      int64            `json:"wrong"`
	Details    []string         `json:"details,omitempty"`
}

func run(ctx context.Context, c config) (result, error) {
	p, err := pile.New(pile.Options{
		Backing: c.backing, SegmentSize: c.segmentSize, MaxMemory: c.maxMemory, Checksums: c.checksums, Debug: c.debug,
	})
	if err != nil {
		return result{}, err
	}
	t := newTorture(p, c)
	t.say("start", map[string]any{"seed": c.seed, "goroutines": c.goroutines, "duration": c.duration.String()},
		"seed %d, %d goroutines, %v", c.seed, c.goroutines, c.duration)
	start := time.Now()
	t.work(ctx)
	t.inspect(true)
	t.finish()
	r := t.result(time.Since(start))
	t.report(r)
	return r, nil
}

// say prints one line: text, or an object with -json.
func (t *torture) say(kind string, fields map[string]any, format string, args ...any) {
	t.printing.Lock()
	defer t.printing.Unlock()
	if !t.c.json {
		fmt.Fprintf(t.c.out, format+"\n", args...)
		return
	}
	fields["line"] = kind
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err) // fields are made above, of plain values
	}
	fmt.Fprintf(t.c.out, "%s\n", b)
}

func (t *torture) report(r result) {
	if t.c.json {
		b, err := json.Marshal(r)
		if err != nil {
			panic(err) // a struct of plain values
		}
		fmt.Fprintf(t.c.out, "%s\n", b)
		return
	}
	for _, op := range opNames {
		fmt.Fprintf(t.c.out, "%-12s %12d\n", op, r.Ops[op])
	}
	fmt.Fprintf(t.c.out, "%-12s %12d\n%-12s %12d\n%-12s %12d\n", "checks", r.Checks, "out of space", r.OutOfSpace, "stale reads", r.Stale)
	for _, d := range r.Details {
		fmt.Fprintln(t.c.out, "WRONG", d)
	}
	fmt.Fprintf(t.c.out, "%d wrong values in %.0f s, seed %d\n", r.Wrong, r.Seconds, r.Seed)
}
