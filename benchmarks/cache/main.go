// Command cache compares a table of package cache with other caches that keep many entries out of sight
// of the garbage collector, and with Go maps:
//
//	go run ./cache -n 10000000
//
// Every value that is read is compared with what was put; a wrong or lost one makes the exit code 1.
// Each store lives in a process of its own, so that none inherits another's memory or pays for its
// collector; they take turns step by step. Run it with -h for the flags.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

// config is what the flags said.
type config struct {
	n             int
	repeats       int
	latencyRounds int
	idleMillis    int
	only, rows    []string
	json, smoke   bool
	profile       string
}

func main() { os.Exit(program(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// program returns the exit code: 0 all values right, 1 not, or the run failed or was interrupted, 2 bad
// flags. What was measured is printed in any case.
func program(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 2 && args[0] == "-child" {
		signal.Ignore(os.Interrupt) // it is the parent's to obey: it ends the children
		if err := serve(args[1], stdin, stdout); err != nil {
			fmt.Fprintln(stderr, "cache: child:", err)
			return 1
		}
		return 0
	}
	c, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "cache:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // from now on a second Ctrl-C kills
	r := &run{config: c, report: newReport(&c), log: stderr, ctx: ctx}
	if err = r.all(); err != nil {
		fmt.Fprintln(stderr, "cache:", err)
	}
	print := r.report.table
	if c.json {
		print = r.report.jsonLines
	}
	if printErr := print(stdout); printErr != nil || err != nil || r.report.wrong+r.report.lost > 0 {
		return 1
	}
	return 0
}

// The bounds of the flags stop mistakes.
const (
	entriesMin = 1_000
	entriesMax = 1_000_000_000
	repeatsMax = 100
)

func parse(args []string, out io.Writer) (c config, err error) {
	fs := flag.NewFlagSet("cache", flag.ContinueOnError)
	fs.SetOutput(out)
	fs.IntVar(&c.n, "n", 1_000_000, "`entries`")
	fs.IntVar(&c.repeats, "repeats", 5, "rounds; medians are of these")
	fs.IntVar(&c.latencyRounds, "latency-rounds", 1, "rounds in which the latency of every put is taken")
	only := fs.String("only", "", "only these `sides`, with commas: "+strings.Join(sideNames(), ", "))
	rows := fs.String("rows", "", "only these `rows` of the table, with commas")
	fs.BoolVar(&c.json, "json", false, "print JSON, one object a line")
	fs.BoolVar(&c.smoke, "smoke", false, "a run of some seconds, to see that all values are right")
	fs.StringVar(&c.profile, "profile", "", "write CPU profiles of each of our steps to files that begin with this `name`")
	if err := fs.Parse(args); err != nil {
		return c, err
	}
	c.idleMillis = 10_000
	if c.smoke {
		c.n, c.repeats, c.idleMillis = min(c.n, 100_000), 1, 500
	}
	c.only, c.rows = list(*only), list(*rows)
	switch {
	case fs.NArg() > 0:
		return c, fmt.Errorf("argument %q: there are flags only", fs.Arg(0))
	case c.n < entriesMin || c.n > entriesMax:
		return c, fmt.Errorf("-n %d: must be between %d and %d", c.n, entriesMin, entriesMax)
	case c.repeats < 1 || c.repeats > repeatsMax:
		return c, fmt.Errorf("-repeats %d: must be between 1 and %d", c.repeats, repeatsMax)
	}
	for _, name := range c.only {
		if _, ok := sideOf(name); !ok {
			return c, fmt.Errorf("-only %s: must be of %s", name, strings.Join(sideNames(), ", "))
		}
	}
	return c, nil
}

func list(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

func sideNames() (names []string) {
	for _, s := range sides() {
		names = append(names, s.name)
	}
	return names
}
