package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
)

// row is one line of the table.
type row struct {
	op      string
	rate    float64 // operations a second
	against string  // what ratio compares with; "" for nothing
	ratio   spread
	allocs  *float64      // heap objects an operation; nil: not measured
	bytes   float64       // that a value takes in the pile; 0: not measured
	cpu     time.Duration // processor time an operation, collector included; 0: not measured
}

func known(x float64) *float64 { return &x }

// aliveFigures is what was measured while every value was alive.
type aliveFigures struct {
	objects       int64
	bytesPerValue float64 // the larger of the next two
	allocatedPer  float64 // memory of the pile's segments
	residentPer   float64 // growth of the resident memory, its tables included
	gc            gcFigures
	resident      int64 // of the process
	handles       int64 // of that, the benchmark's own handles
	segments      int64
}

// machineInfo is where and with what the figures were measured.
type machineInfo struct {
	goVersion, platform, processor, commit string
	processors                             int
}

// report gathers what a run found.
type report struct {
	config      config
	plan        plan
	machine     machineInfo
	rows        []row
	alive       *aliveFigures // nil until measured
	making      float64       // values a second, all goroutines, put nowhere
	filled      int64         // values put by the step that keeps them
	fillTime    time.Duration
	chase       string // what the chase went over
	roundsNote  string // what a round was, when it was something else than usual
	maxPause    time.Duration
	begun       time.Time
	elapsed     time.Duration
	interrupted bool
	checked     int64
	wrong, lost int64
}

func (r *report) begin(b *bench) {
	r.config, r.plan, r.machine, r.begun = b.config, b.plan, thisMachine(), time.Now()
}

func (r *report) end(b *bench, interrupted bool) {
	r.elapsed, r.interrupted = time.Since(r.begun), interrupted
	r.maxPause = largestPause(nil)
	r.checked, r.wrong, r.lost = b.verdict.checked.Load(), b.verdict.wrong.Load(), b.verdict.lost.Load()
	for i := range r.rows {
		if r.rows[i].op == "put" && r.alive != nil {
			r.rows[i].bytes = r.alive.bytesPerValue
		}
	}
	if r.config.workload != workloadCache { // its rows are added in order
		slices.SortStableFunc(r.rows, func(a, b row) int { return place(a.op) - place(b.op) })
	}
}

// add adds a row; rows are printed in the order of place.
func (r *report) add(one row) { r.rows = append(r.rows, one) }

// note adds a line to the end of the report.
func (r *report) note(text string) { r.plan.notes = append(r.plan.notes, text) }

// operations are the names of the rows, as the JSON has them, in the order of
// the table.
func operations() []string {
	return []string{"put", "put-batch", "random-get", "get", "get-batch", "view", "hot-get-1", "hot-get",
		"read-back", "delete", "full-collection"}
}

func place(op string) int {
	if at := slices.Index(operations(), op); at >= 0 {
		return at
	}
	return len(operations())
}

// thisMachine describes where the program runs.
func thisMachine() machineInfo {
	m := machineInfo{
		goVersion: runtime.Version(), platform: runtime.GOOS + "/" + runtime.GOARCH,
		processor: processorName(), processors: runtime.GOMAXPROCS(0),
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return m
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			m.commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			m.commit += "+changes"
		}
	}
	return m
}

// ancestor is what was published of NFX Pile for the same workload, on a
// processor of 6 cores with 12 threads (i7-3930K, 3.2 GHz): 200 million strings
// of 32 bytes put, and 32 million reads of one value; 200 million persons put.
type ancestor struct {
	rate          map[string]float64
	bytesPerValue float64
	fullGC        time.Duration // less than
}

func (c *config) ancestor() ancestor {
	switch {
	case c.workload == "persons":
		return ancestor{rate: map[string]float64{"put-msgp": 2.4e6, "put-graph": 2.4e6}, bytesPerValue: 72.5, fullGC: 10 * time.Millisecond}
	case c.input != "" || c.size != 32:
	case c.workload == "strings":
		return ancestor{
			rate:          map[string]float64{"put": 8.3e6, "hot-get-1": 5.73e6, "hot-get": 17.6e6},
			bytesPerValue: 42.5, fullGC: 8 * time.Millisecond,
		}
	case c.workload == "bytes":
		return ancestor{rate: map[string]float64{"put": 10.8e6, "hot-get-1": 8.5e6, "hot-get": 14.2e6}}
	}
	return ancestor{}
}

// title says what was measured.
func (r *report) title() string {
	size := fmt.Sprintf("of %d bytes", r.config.size)
	switch {
	case r.config.input != "":
		size = "from lines"
	case r.config.workload == "mixed":
		size = "of 0 to 4096 bytes"
	case r.config.typed():
		size = "made afresh for each put"
	}
	return fmt.Sprintf("%s, %s values %s, %d goroutines, %s memory (%s)",
		r.config.workload, formatCount(r.plan.n), size, r.config.goroutines, r.config.backing, r.config.history)
}
