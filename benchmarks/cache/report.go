package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// report gathers the outcomes of all rounds.
type report struct {
	config      *config
	begun       time.Time
	load        string
	rows        map[string]map[string][]outcome // by row and side, in the order of the rounds
	configs     map[string]string               // how a side was configured, by side and row
	checked     int64
	wrong, lost int64
	faulty      []string
}

func newReport(c *config) *report {
	return &report{
		config: c, begun: time.Now(), load: load(),
		rows: map[string]map[string][]outcome{}, configs: map[string]string{},
	}
}

func (r *report) add(row, side string, o outcome) {
	if r.rows[row] == nil {
		r.rows[row] = map[string][]outcome{}
	}
	r.rows[row][side] = append(r.rows[row][side], o)
	if o.Config != "" && (row == rowPresized || row == rowGrowing) {
		r.configs[side+", "+row] = o.Config
	}
	r.checked, r.wrong, r.lost = r.checked+o.Checked, r.wrong+o.Wrong, r.lost+o.Lost
	if o.Wrong+o.Lost > 0 {
		r.faulty = append(r.faulty, fmt.Sprintf("%s, %s: %d wrong, %d lost of %d", side, row, o.Wrong, o.Lost, o.Checked))
	}
}

// spread is a median and how far the single values lie apart.
type spread struct{ median, low, high float64 }

func spreadOf(v []float64) spread {
	if len(v) == 0 {
		return spread{}
	}
	s := slices.Sorted(slices.Values(v))
	half := len(s) / 2
	m := s[half]
	if len(s)%2 == 0 {
		m = (s[half-1] + s[half]) / 2
	}
	return spread{m, s[0], s[len(s)-1]}
}

// measure takes a number of an outcome.
type measure func(o *outcome) float64

func rate(o *outcome) float64 { return float64(o.Ops) / o.Wall / 1e6 }
func cost(o *outcome) float64 { return o.CPU / float64(o.Ops) * 1e9 }
func size(o *outcome) float64 { return o.Value }

func (r *report) values(row, side string, m measure) (v []float64) {
	for _, o := range r.rows[row][side] {
		v = append(v, m(&o))
	}
	return v
}

func (r *report) spread(row, side string, m measure) spread { return spreadOf(r.values(row, side, m)) }

// The three whose best one the ratios are to.
func rivals() []string { return []string{"bigcache", "freecache", "fastcache"} }

// best returns the rival with the best median: the greatest, or the least if less is better.
func (r *report) best(row string, m measure, less bool) (name string) {
	at := 0.0
	for _, rival := range rivals() {
		s := r.spread(row, rival, m).median
		if s > 0 && (name == "" || s > at != less) {
			name, at = rival, s
		}
	}
	return name
}

// ratio compares ours with the best rival round by round: what shook the machine shook both. Of a cost
// it is theirs to ours, so that more is better in any case.
func (r *report) ratio(row, rivalRow string, m measure, less bool) (name string, s spread) {
	name = r.best(rivalRow, m, less)
	a, b := r.values(row, ours, m), r.values(rivalRow, name, m)
	var v []float64
	for i := range min(len(a), len(b)) {
		if less {
			v = append(v, b[i]/a[i])
		} else {
			v = append(v, a[i]/b[i])
		}
	}
	return name, spreadOf(v)
}

// goal is a row of rates and what it is to reach.
type goal struct {
	row, rivalRow string
	least         float64 // 0: nothing was promised
}

func goals() []goal {
	return []goal{
		{rowPresized, rowPresized, 1.3},
		{rowGrowing, rowGrowing, 1.1},
		{rowOverwrite, rowOverwrite, 1},
		{rowOverwriteMany, rowOverwrite, 0},
		{rowGet, rowGet, 1.4},
		{rowGetMany, rowGet, 3.5},
		{rowZipf, rowZipf, 1.2},
	}
}

// table prints the report for people.
func (r *report) table(w io.Writer) error {
	fmt.Fprintf(w, "\n%d entries of %d + %d bytes, uniform random keys, %d rounds\n%s\nload average %s before, %s after; %v\n\n",
		r.config.n, keySize, valueSize, r.config.repeats, machine(), r.load, load(), time.Since(r.begun).Round(time.Second))
	r.ratesTable(w)
	r.goalsTable(w)
	r.sizesTable(w)
	r.tailsTable(w)
	if o := r.rows[rowIdle][ours]; len(o) > 0 {
		fmt.Fprintf(w, "idle for %v, none due: %.3f %% of a processor (goal < 0.5)\n\n",
			time.Duration(r.config.idleMillis)*time.Millisecond, o[0].Value)
	}
	for _, name := range slices.Sorted(mapKeys(r.configs)) {
		fmt.Fprintf(w, "%s: %s\n", name, r.configs[name])
	}
	fmt.Fprintf(w, "\nverified %d values, %d wrong, %d lost\n", r.checked, r.wrong, r.lost)
	for _, f := range r.faulty {
		fmt.Fprintln(w, " ", f)
	}
	return nil
}

func mapKeys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (r *report) ratesTable(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "row\tside\tM/s\tmin–max\tCPU ns/op\tmin–max")
	for _, g := range goals() {
		for _, side := range sideNames() {
			if len(r.rows[g.row][side]) == 0 {
				continue
			}
			a, b := r.spread(g.row, side, rate), r.spread(g.row, side, cost)
			fmt.Fprintf(t, "%s\t%s\t%.2f\t%.2f–%.2f\t%.0f\t%.0f–%.0f\n",
				g.row, side, a.median, a.low, a.high, b.median, b.low, b.high)
		}
	}
	_ = t.Flush()
	fmt.Fprintln(w)
}

func (r *report) goalsTable(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ours to the best of the three\tgoal\tby the clock\tmin–max\tbest\tby CPU time\tmin–max\tbest")
	for _, g := range goals() {
		if len(r.rows[g.row][ours]) == 0 {
			continue
		}
		name, a := r.ratio(g.row, g.rivalRow, rate, false)
		cheap, b := r.ratio(g.row, g.rivalRow, cost, true)
		want := "–"
		if g.least > 0 {
			want = fmt.Sprintf("%.1f", g.least)
		}
		fmt.Fprintf(t, "%s\t%s\t%.2f\t%.2f–%.2f\t%s\t%.2f\t%.2f–%.2f\t%s\n",
			g.row, want, a.median, a.low, a.high, name, b.median, b.low, b.high, cheap)
	}
	_ = t.Flush()
	fmt.Fprintln(w)
}

func (r *report) sizesTable(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "side\tresident bytes an entry, grown\tpresized, after all steps\tfull collection, ms\tmin–max")
	for _, side := range sideNames() {
		a, b := r.spread(rowResident, side, size), r.spread(rowResidentLater, side, size)
		gc := r.spread(rowCollect, side, size)
		if a.median+b.median+gc.median > 0 {
			fmt.Fprintf(t, "%s\t%.1f\t%.1f\t%.2f\t%.2f–%.2f\n", side, a.median, b.median, gc.median, gc.low, gc.high)
		}
	}
	_ = t.Flush()
	fmt.Fprintln(w)
}

func (r *report) tailsTable(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "growing from empty, µs\tside\tp50\tp99\tp99.9\tp99.99\tworst")
	for _, row := range []string{rowLatency, rowLatencyCPU} {
		for _, side := range append(sideNames(), bare) {
			of := func(m func(*tails) float64) float64 {
				return r.spread(row, side, func(o *outcome) float64 { return m(o.Tail) }).median
			}
			if len(r.rows[row][side]) == 0 {
				continue
			}
			fmt.Fprintf(t, "%s\t%s\t%.2f\t%.2f\t%.1f\t%.1f\t%.0f\n", row, side,
				of(func(t *tails) float64 { return t.P50 }), of(func(t *tails) float64 { return t.P99 }),
				of(func(t *tails) float64 { return t.P999 }), of(func(t *tails) float64 { return t.P9999 }),
				of(func(t *tails) float64 { return t.Worst }))
		}
	}
	_ = t.Flush()
	fmt.Fprintln(w)
}

// jsonLine is one line of -json: an outcome, or the machine, or the summary.
type jsonLine struct {
	Op      string   `json:"op"`
	Side    string   `json:"side,omitempty"`
	Entries int      `json:"entries"`
	Round   int      `json:"round"`
	Outcome *outcome `json:"outcome,omitempty"`
	Machine string   `json:"machine,omitempty"`
	Load    string   `json:"load,omitempty"`
	Checked *int64   `json:"checked,omitempty"`
	Wrong   *int64   `json:"wrong,omitempty"`
	Lost    *int64   `json:"lost,omitempty"`
}

// jsonLines prints every single outcome for programs.
func (r *report) jsonLines(w io.Writer) error {
	enc := json.NewEncoder(w)
	if err := enc.Encode(jsonLine{Op: "machine", Entries: r.config.n, Machine: machine(), Load: r.load}); err != nil {
		return err
	}
	names := make([]string, 0, len(r.rows))
	for name := range r.rows {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, row := range names {
		for _, side := range append(sideNames(), bare) {
			for i, o := range r.rows[row][side] {
				op := strings.ReplaceAll(strings.ToLower(row), " ", "-")
				if err := enc.Encode(jsonLine{Op: op, Side: side, Entries: r.config.n, Round: i, Outcome: &o}); err != nil {
					return err
				}
			}
		}
	}
	return enc.Encode(jsonLine{
		Op: "summary", Entries: r.config.n, Load: load(), Checked: &r.checked, Wrong: &r.wrong, Lost: &r.lost,
	})
}
