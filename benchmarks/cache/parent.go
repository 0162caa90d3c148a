package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// process is a child as the parent sees it.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	enc  *json.Encoder
	dec  *json.Decoder
	side side
}

func start(s side) (*process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(exe, "-child", s.name), side: s}
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.enc, p.dec = in, json.NewEncoder(in), json.NewDecoder(out)
	return p, p.cmd.Start()
}

func (p *process) do(t task) (o outcome, err error) {
	if err := p.enc.Encode(t); err != nil {
		return o, fmt.Errorf("%s: %s: %w", p.side.name, t.Step, err)
	}
	if err := p.dec.Decode(&o); err != nil {
		return o, fmt.Errorf("%s: %s: no answer: %w", p.side.name, t.Step, err)
	}
	if o.Error != "" {
		return o, fmt.Errorf("%s: %s: %s", p.side.name, t.Step, o.Error)
	}
	return o, nil
}

// end ends the child and waits until its memory is free again.
func (p *process) end() error { return errors.Join(p.in.Close(), p.cmd.Wait()) }

// The rows of the report, in its order.
const (
	rowPresized      = "fill presized"
	rowGrowing       = "fill growing"
	rowOverwrite     = "overwrite"
	rowOverwriteMany = "overwrite by 64"
	rowGet           = "get"
	rowGetMany       = "get by 64"
	rowZipf          = "zipf 90/10"
	rowResident      = "resident"
	rowResidentLater = "resident later"
	rowCollect       = "full collection"
	rowLatency       = "put latency"
	rowLatencyCPU    = "put latency CPU"
	rowIdle          = "idle"
)

// run is one run of the comparison.
type run struct {
	config
	report *report
	log    io.Writer
	ctx    context.Context // ends when the run is interrupted, between two steps
}

// all does the rounds.
func (r *run) all() error {
	fmt.Fprintf(r.log, "settle: %d MiB\n", r.settleBytes()>>20)
	settle(r.settleBytes())
	for round := range r.repeats {
		fmt.Fprintf(r.log, "round %d of %d, load %s\n", round+1, r.repeats, load())
		if err := errors.Join(r.growing(round), r.working(round), r.tails(round)); err != nil {
			return err
		}
	}
	return nil
}

// settleBytes is what the sides take together at most: some kilobyte an entry, of what there is.
func (r *run) settleBytes() int64 {
	return min(int64(r.n)*1200+(64<<20), availableBytes()*6/10)
}

// turn returns the sides in the order of a round: it rotates.
func (r *run) turn(round int, memory bool) (turn []side) {
	all := sides()
	for i := range all {
		s := all[(i+round)%len(all)]
		if r.wants(s) && (memory || !s.memoryOnly) {
			turn = append(turn, s)
		}
	}
	return turn
}

// growing fills every store from empty, each in a fresh process, and weighs it.
func (r *run) growing(round int) error {
	if !r.wantsRow(rowGrowing) && !r.wantsRow(rowResident) {
		return nil
	}
	for _, s := range r.turn(round, true) {
		if err := r.alone(s, func(p *process) error {
			if err := r.step(p, rowGrowing, task{Step: "fill", Entries: r.n}); err != nil {
				return err
			}
			return r.step(p, rowResident, task{Step: "resident"})
		}); err != nil {
			return err
		}
	}
	return nil
}

// alone runs work on a child of its own.
func (r *run) alone(s side, work func(p *process) error) error {
	p, err := start(s)
	if err != nil {
		return err
	}
	return errors.Join(work(p), p.end())
}

// working fills presized stores and works on them in turns.
func (r *run) working(round int) (err error) {
	turn := r.turn(round, false)
	var all []*process
	defer func() {
		for _, p := range all {
			err = errors.Join(err, p.end())
		}
	}()
	for _, s := range turn {
		p, err := start(s)
		if err != nil {
			return err
		}
		all = append(all, p)
		if err := r.step(p, rowPresized, task{Step: "fill", Entries: r.n, Presized: true, Ops: r.ops()}); err != nil {
			return err
		}
	}
	for k, one := range r.work(round) {
		for i := range all {
			p := all[(i+k)%len(all)] // who is first changes from step to step, too
			if one.oursOnly && !strings.HasPrefix(p.side.name, ours) || !r.wantsRow(one.row) {
				continue
			}
			if err := r.step(p, one.row, one.task); err != nil {
				return err
			}
		}
	}
	return nil
}

// work is a step of all sides.
type work struct {
	row      string
	task     task
	oursOnly bool
}

func (r *run) work(round int) []work {
	seed := uint64(round + 1)
	steps := []work{
		{row: rowGet, task: task{Step: "get", Ops: r.ops(), Seed: seed}},
		{row: rowGetMany, task: task{Step: "get-many", Ops: r.ops(), Seed: seed}, oursOnly: true},
		{row: rowOverwrite, task: task{Step: "overwrite"}},
		{row: rowOverwriteMany, task: task{Step: "overwrite-many"}, oursOnly: true},
		{row: rowZipf, task: task{Step: "zipf", Ops: r.ops(), Seed: seed}},
		{row: "verify", task: task{Step: "verify"}},
		{row: rowCollect, task: task{Step: "collect"}},
		{row: rowResidentLater, task: task{Step: "resident"}},
	}
	if round == 0 {
		steps = append(steps, work{row: rowIdle, task: task{Step: "idle", Ops: r.idleMillis}, oursOnly: true})
	}
	return steps
}

// ops is the operations of a round of the steps that do not touch everything.
func (r *run) ops() int { return min(r.n, 4_000_000) }

// tails times every put while a store grows from empty, beside the bare loop.
func (r *run) tails(round int) error {
	if round >= r.latencyRounds {
		return nil
	}
	loop, _ := sideOf(bare)
	for _, row := range []string{rowLatency, rowLatencyCPU} {
		step := map[string]string{rowLatency: "latency", rowLatencyCPU: "latency-cpu"}[row]
		if !r.wantsRow(row) {
			continue
		}
		for _, s := range append(r.turn(round, false), loop) {
			if row == rowLatencyCPU && s.name != ours && s.name != bare {
				continue
			}
			err := r.alone(s, func(p *process) error { return r.step(p, row, task{Step: step, Entries: r.n}) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// step lets a child do one thing and keeps what came of it.
func (r *run) step(p *process, row string, t task) error {
	if r.ctx.Err() != nil {
		return errors.New("interrupted")
	}
	if r.profile != "" && p.side.name == ours {
		t.Profile = r.profile + "." + t.Step
		if t.Presized {
			t.Profile += "-presized"
		}
	}
	o, err := p.do(t)
	if err != nil {
		return err
	}
	r.report.add(row, p.side.name, o)
	fmt.Fprintf(r.log, "  %-16s %-16s %8.3f s %s\n", row, p.side.name, o.Wall, shown(o))
	return nil
}

func shown(o outcome) string {
	switch {
	case o.Tail != nil:
		return fmt.Sprintf("p50 %.2f  p99 %.2f  p99.9 %.1f  p99.99 %.1f  worst %.0f µs",
			o.Tail.P50, o.Tail.P99, o.Tail.P999, o.Tail.P9999, o.Tail.Worst)
	case o.Ops > 0:
		return fmt.Sprintf("%6.2f M/s %6.0f ns of CPU an operation", float64(o.Ops)/o.Wall/1e6, o.CPU/float64(o.Ops)*1e9)
	}
	return fmt.Sprintf("%.3f", o.Value)
}

// machine says where this runs.
func machine() string {
	return fmt.Sprintf("%s, %s/%s, %s, GOMAXPROCS %d", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		processorName(), runtime.GOMAXPROCS(0))
}

// wants reports whether a side takes part.
func (c *config) wants(s side) bool {
	if len(c.only) == 0 {
		return !s.onDemand
	}
	return slices.Contains(c.only, s.name)
}

// wantsRow reports whether a row is measured.
func (c *config) wantsRow(row string) bool { return len(c.rows) == 0 || slices.Contains(c.rows, row) }
