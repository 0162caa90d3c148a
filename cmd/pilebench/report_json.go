package main

import (
	"encoding/json"
	"io"
	"time"
)

// jsonRow is one line of -json. The names are stable; what a line has no value
// for is null.
type jsonRow struct {
	Workload       string   `json:"workload"`
	Op             string   `json:"op"`
	Backing        string   `json:"backing"`
	N              int64    `json:"n"`
	Goroutines     int      `json:"goroutines"`
	History        string   `json:"history"`
	OpsPerSecond   *float64 `json:"ops_per_second"`
	BareCopyRatio  *float64 `json:"bare_copy_ratio"`
	ComparedTo     *string  `json:"compared_to"`
	Ratio          *float64 `json:"ratio"`
	RatioMin       *float64 `json:"ratio_min"`
	RatioMax       *float64 `json:"ratio_max"`
	Rounds         *int     `json:"rounds"`
	AllocsPerOp    *float64 `json:"allocs_per_op"`
	BytesPerValue  *float64 `json:"bytes_per_value"`
	CPUNanos       *float64 `json:"cpu_ns_per_op"`
	FullGCMillis   *float64 `json:"full_gc_ms"`
	GCMarkMillis   *float64 `json:"gc_mark_cpu_ms"`
	MaxPauseMillis *float64 `json:"max_pause_ms"`
	RSSBytes       *int64   `json:"rss_bytes"`

	AncestorOpsPerSecond  *float64 `json:"ancestor_ops_per_second"`
	AncestorBytesPerValue *float64 `json:"ancestor_bytes_per_value"`
	AncestorFullGCMillis  *float64 `json:"ancestor_full_gc_ms"`

	Interrupted bool         `json:"interrupted"`
	Machine     *jsonMachine `json:"machine,omitempty"`
	Summary     *jsonSummary `json:"summary,omitempty"`
}

// jsonMachine goes with the line whose op is "machine".
type jsonMachine struct {
	GoVersion    string   `json:"go_version"`
	Platform     string   `json:"platform"`
	CPU          string   `json:"cpu"`
	GOMAXPROCS   int      `json:"gomaxprocs"`
	Commit       string   `json:"commit"`
	AllowedBytes int64    `json:"allowed_bytes"`
	NeededBytes  int64    `json:"needed_bytes"`
	RoundBytes   int64    `json:"round_bytes"`
	SizeBytes    float64  `json:"size_bytes"`
	SegmentBytes int      `json:"segment_bytes"`
	Huge         string   `json:"huge"`
	Seed         uint64   `json:"seed"`
	Notes        []string `json:"notes"`
}

// jsonSummary goes with the line whose op is "summary", the last one.
type jsonSummary struct {
	Checked             int64   `json:"checked"`
	Wrong               int64   `json:"wrong"`
	Lost                int64   `json:"lost"`
	Seconds             float64 `json:"seconds"`
	FillSeconds         float64 `json:"fill_seconds"`
	MakingOpsPerSecond  float64 `json:"making_ops_per_second"`
	ResidentPerValue    float64 `json:"resident_bytes_per_value"`
	HandleBytes         int64   `json:"handle_bytes"`
	Segments            int64   `json:"segments"`
	Chase               string  `json:"chase"`
	MaxPauseWholeMillis float64 `json:"max_pause_whole_run_ms"`
}

// jsonLines prints the report for programs.
func (r *report) jsonLines(w io.Writer) error {
	enc := json.NewEncoder(w)
	for _, line := range r.jsonRows() {
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

func (r *report) jsonRows() []jsonRow {
	machine := r.jsonRow("machine")
	machine.Machine = &jsonMachine{
		GoVersion: r.machine.goVersion, Platform: r.machine.platform, CPU: r.machine.processor,
		GOMAXPROCS: r.machine.processors, Commit: r.machine.commit,
		AllowedBytes: r.plan.allowed, NeededBytes: r.plan.need,
		RoundBytes: int64(float64(r.plan.roundPuts) * r.plan.stride), SizeBytes: r.plan.meanSize,
		SegmentBytes: r.config.segmentSize, Huge: r.config.huge, Seed: r.config.seed,
		Notes: append([]string{}, r.plan.notes...),
	}
	lines := []jsonRow{machine}
	for _, one := range r.rows {
		lines = append(lines, r.measuredRow(one))
	}
	if r.alive != nil {
		line := r.jsonRow("full-collection")
		r.addAlive(&line)
		lines = append(lines, line)
	}
	return append(lines, r.summaryRow())
}

func (r *report) jsonRow(op string) jsonRow {
	return jsonRow{
		Workload: r.config.workload, Op: op, Backing: r.config.backing, N: r.plan.n,
		Goroutines: r.config.goroutines, History: r.config.history, Interrupted: r.interrupted,
	}
}

func (r *report) measuredRow(one row) jsonRow {
	line := r.jsonRow(one.op)
	if one.op == "hot-get-1" {
		line.Goroutines = 1
	}
	line.OpsPerSecond, line.AllocsPerOp = &one.rate, one.allocs
	if one.against != "" {
		line.ComparedTo, line.Rounds = &one.against, &one.ratio.count
		line.Ratio, line.RatioMin, line.RatioMax = &one.ratio.median, &one.ratio.low, &one.ratio.high
	}
	if one.against == "bare copy" || one.against == "bare chase" {
		line.BareCopyRatio = &one.ratio.median
	}
	if one.bytes > 0 {
		line.BytesPerValue = &one.bytes
	}
	if one.cpu > 0 {
		line.CPUNanos = known(float64(one.cpu))
	}
	if rate := r.config.ancestor().rate[one.op]; rate > 0 {
		line.AncestorOpsPerSecond = &rate
	}
	if one.op == "put" && r.alive != nil {
		r.addAlive(&line)
	}
	return line
}

// addAlive adds the figures of the values that put has made.
func (r *report) addAlive(line *jsonRow) {
	a := *r.alive
	line.BytesPerValue, line.RSSBytes = &a.bytesPerValue, &a.resident
	line.FullGCMillis = known(a.gc.full.median * 1e3)
	line.GCMarkMillis, line.MaxPauseMillis = inMillis(a.gc.markCPU), inMillis(a.gc.maxPause)
	if past := r.config.ancestor(); past.bytesPerValue > 0 {
		line.AncestorBytesPerValue = &past.bytesPerValue
		line.AncestorFullGCMillis = inMillis(past.fullGC)
	}
}

func (r *report) summaryRow() jsonRow {
	line := r.jsonRow("summary")
	line.Summary = &jsonSummary{
		Checked: r.checked, Wrong: r.wrong, Lost: r.lost, Seconds: r.elapsed.Seconds(),
		FillSeconds: r.fillTime.Seconds(), MakingOpsPerSecond: r.making, Chase: r.chase,
		MaxPauseWholeMillis: *inMillis(r.maxPause),
	}
	if a := r.alive; a != nil {
		line.Summary.ResidentPerValue, line.Summary.HandleBytes = a.residentPer, a.handles
		line.Summary.Segments = a.segments
	}
	return line
}

func inMillis(d time.Duration) *float64 { return known(float64(d) / float64(time.Millisecond)) }
