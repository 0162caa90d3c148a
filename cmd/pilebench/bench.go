package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"sync/atomic"

	"github.com/bigpile/bigpile/pile"
)

// bench is one run of the program: what it is to do, and what it found.
type bench struct {
	config
	plan     plan
	progress *progress
	verdict  verdict
	report   report
	log      io.Writer // for -v; nil: nothing
	stopped  atomic.Bool
}

// run is the program but for its process: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c, err := parseFlags(args)
	switch {
	case isHelp(err):
		printUsage(stdout)
		return exitFine
	case err != nil:
		return complain(stderr, err, exitUsage)
	}
	stopProfile, err := startProfile(c.cpuProfile)
	if err != nil {
		return complain(stderr, err, exitUsage)
	}
	defer stopProfile()
	w, err := openWorkload(&c)
	if err != nil {
		return complain(stderr, err, exitUsage)
	}
	defer w.close()
	b := &bench{config: c}
	if b.plan, err = w.plan(&c, allowedMemory()); err != nil {
		return complain(stderr, err, exitUsage)
	}
	if !c.json {
		b.progress = newProgress(stderr, c.goroutines)
		fmt.Fprintf(stderr, "pilebench: %s values, takes %s of the %s it may use\n",
			formatCount(b.plan.n), formatSize(b.plan.need), formatSize(b.plan.allowed))
	} else {
		b.progress = newProgress(nil, c.goroutines)
	}
	if c.verbose && !c.json {
		b.log = stderr
	}
	defer context.AfterFunc(ctx, func() { b.stopped.Store(true) })()
	return b.finish(b.runSteps(w.steps(b)), stdout, stderr)
}

// step is a part of a workload, with a name for messages.
type step struct {
	name string
	run  func() error
}

// runSteps runs them in order until one fails; the report keeps what was
// measured until then.
func (b *bench) runSteps(steps []step) error {
	b.report.begin(b)
	defer b.progress.end()
	for _, s := range steps {
		if b.stopped.Load() {
			return errInterrupted
		}
		if err := s.run(); err != nil {
			if errors.Is(err, errInterrupted) {
				return errInterrupted
			}
			return fmt.Errorf("%s: %w%s", s.name, err, advice(err))
		}
	}
	return nil
}

// advice says what to do about an error that the user can do something about.
func advice(err error) string {
	if errors.Is(err, pile.ErrOutOfSpace) {
		return " (the machine has less memory than it seemed: take a smaller -n)"
	}
	return ""
}

// finish prints the report and returns the exit code.
func (b *bench) finish(err error, stdout, stderr io.Writer) int {
	b.report.end(b, errors.Is(err, errInterrupted))
	print := b.report.table
	if b.json {
		print = b.report.jsonLines
	}
	if printErr := print(stdout); printErr != nil {
		return complain(stderr, printErr, exitFailed)
	}
	for _, fault := range b.verdict.faults() {
		fmt.Fprintln(stderr, "pilebench: wrong:", fault)
	}
	switch {
	case err != nil && !errors.Is(err, errInterrupted):
		return complain(stderr, err, exitFailed)
	case !b.verdict.ok():
		return exitFailed
	case err != nil:
		return exitInterrupted
	}
	return exitFine
}

func complain(w io.Writer, err error, code int) int {
	fmt.Fprintln(w, "pilebench:", err)
	if code == exitUsage {
		fmt.Fprintln(w, "pilebench -h lists the flags")
	}
	return code
}

// logRound prints a single round, for who asked for it.
func (b *bench) logRound(round int, name string, s sample) {
	if b.log != nil {
		fmt.Fprintf(b.log, "pilebench: round %2d %-14s %10s ops in %7.1f ms: %8s/s\n",
			round, name, formatCount(s.ops), s.seconds*1e3, formatRate(s.rate()))
	}
}

// startProfile profiles into a file until the function it returns is called.
func startProfile(name string) (func(), error) {
	if name == "" {
		return func() {}, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("-cpuprofile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(fmt.Errorf("-cpuprofile: %w", err), file.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close() // nothing is left to do about it
	}, nil
}
