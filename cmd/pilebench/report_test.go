package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// update rewrites the golden files from what the program prints now.
var update = flag.Bool("update", false, "rewrite the files in testdata")

// sampleReport is a report with figures that stand still.
func sampleReport() *report {
	c := defaults()
	c.rounds, c.roundSize, c.segmentSize, c.goroutines, c.seed = 8, 256<<20, 256<<20, 2, 1
	return &report{
		config: c,
		plan: plan{n: 200_000_000, roundPuts: 6_710_886, stride: 40, meanSize: 32, allowed: 24 << 30, need: 10 << 30,
			notes: []string{"a note"}},
		machine: machineInfo{"go1.26.8", "linux/amd64", "Some Processor", "0123456789ab", 2},
		rows: []row{
			{op: "put", rate: 21.34e6, against: "bare copy", ratio: spread{0.47, 0.40, 0.55, 30}, allocs: known(0), bytes: 40.31},
			{op: "put-batch", rate: 31e6, against: "bare copy", ratio: spread{0.74, 0.7, 0.81, 8}, allocs: known(0), bytes: 40.31},
			{op: "random-get", rate: 9.1e6, against: "bare chase", ratio: spread{0.86, 0.8, 0.9, 8}, allocs: known(0)},
			{op: "get", rate: 12.3e6, allocs: known(0)},
			{op: "hot-get-1", rate: 55.5e6, allocs: known(0)},
			{op: "hot-get", rate: 105e6, against: "1 goroutine", ratio: spread{1.9, 1.85, 1.96, 8}, allocs: known(0)},
			{op: "delete", rate: 17e6, allocs: known(0.01)},
		},
		alive: &aliveFigures{
			objects: 200_000_000, bytesPerValue: 40.31, allocatedPer: 40.06, residentPer: 40.31,
			gc:       gcFigures{spread{0.00062, 0.0005, 0.0009, 9}, 210 * time.Microsecond, 80 * time.Microsecond},
			resident: 9 << 30, handles: 1_600_000_000, segments: 30,
		},
		making: 204e6, filled: 200_000_000, fillTime: 9370 * time.Millisecond,
		chase: "115,000,000 values, 4.3 GiB; huge pages: pile 97 %, bare 97 %", maxPause: 120 * time.Microsecond,
		elapsed: 95 * time.Second, checked: 923_000_000,
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s (go test -update rewrites it)\ngot:\n%s\nwant:\n%s", name, got, want)
	}
}

func TestTable(t *testing.T) {
	var whole, cut bytes.Buffer
	r := sampleReport()
	if err := r.table(&whole); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.txt", whole.Bytes())
	for line := range strings.Lines(whole.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > tableWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	r.interrupted, r.alive, r.rows = true, nil, r.rows[:1]
	if err := r.table(&cut); err != nil {
		t.Fatal(err)
	}
	golden(t, "interrupted.txt", cut.Bytes())
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	if err := sampleReport().jsonLines(&out); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.jsonl", out.Bytes())
	required := []string{"workload", "op", "backing", "n", "goroutines", "ops_per_second", "bare_copy_ratio",
		"bytes_per_value", "full_gc_ms", "max_pause_ms", "rss_bytes"}
	for line := range bytes.Lines(out.Bytes()) {
		var fields map[string]any
		if err := json.Unmarshal(line, &fields); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		for _, name := range required {
			if _, there := fields[name]; !there {
				t.Errorf("no %s in %s", name, line)
			}
		}
	}
}
