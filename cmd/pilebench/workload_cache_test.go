package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestCacheWorkloadRuns(t *testing.T) {
	for _, more := range []string{"", "-backing heap", "-goroutines 5 -size 100", "-goroutines 1 -size 8"} {
		t.Run(more, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), small("-workload cache "+more), &stdout, &stderr); code != exitFine {
				t.Fatalf("exit code %d\n%s\n%s", code, stdout.String(), stderr.String())
			}
			for _, want := range []string{"fill presized", "fill growing", "overwrite", "get by 64", "zipf", "delete",
				"full GC", " 0 wrong, 0 lost"} {
				if !strings.Contains(stdout.String(), want) {
					t.Errorf("no %q in\n%s", want, stdout.String())
				}
			}
		})
	}
}

func TestCacheWorkloadPrintsJSON(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), small("-workload cache -json"), &stdout, &stderr); code != exitFine {
		t.Fatalf("exit code %d\n%s", code, stderr.String())
	}
	var ops []string
	for line := range bytes.Lines(stdout.Bytes()) {
		var fields struct{ Workload, Op string }
		if err := json.Unmarshal(line, &fields); err != nil || fields.Workload != "cache" {
			t.Fatalf("%v: %s", err, line)
		}
		ops = append(ops, fields.Op)
	}
	want := append([]string{"machine"}, tableOperations()...)
	if want = append(want, "full-collection", "summary"); !slices.Equal(ops, want) {
		t.Errorf("lines for %q, want %q", ops, want)
	}
}

func TestCacheWorkloadRefusesWhatItDoesNotObey(t *testing.T) {
	for _, more := range []string{"-in x", "-history recycled", "-size 8KiB", "-n 10G"} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields("-workload cache "+more), &stdout, &stderr); code != exitUsage {
			t.Errorf("%s: exit code %d\n%s", more, code, stderr.String())
		}
	}
}

func TestScatteredGoesOverEverythingOnce(t *testing.T) {
	w := &tables{b: &bench{plan: plan{n: 10_000}}}
	seen := map[int64]bool{}
	for i := range w.b.plan.n {
		seen[w.scattered(i)] = true
	}
	if len(seen) != int(w.b.plan.n) {
		t.Errorf("%d of %d", len(seen), w.b.plan.n)
	}
}

func TestOldValuesAreWrongOnes(t *testing.T) {
	b := &bench{config: config{size: 64}}
	w := &tables{b: b, source: newPattern(1, false), generation: 1}
	old := make([]byte, b.size)
	w.source.write(old, w.number(7))
	w.judge("get", 7, old, true)
	if !b.verdict.ok() {
		t.Fatal("a right value counts as wrong")
	}
	w.generation++
	w.judge("get", 7, old, true)
	w.judge("get", 7, nil, false)
	if b.verdict.wrong.Load() != 1 || b.verdict.lost.Load() != 1 {
		t.Errorf("%d wrong, %d lost", b.verdict.wrong.Load(), b.verdict.lost.Load())
	}
}
