package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bigpile/bigpile/pile"
)

// small makes a run of a second or less.
func small(more string) []string {
	return strings.Fields("-n 20000 -rounds 8 -round-size 64KiB -segment-size 16MiB " + more)
}

func TestRunsAgainstAPile(t *testing.T) {
	input := writeInput(t, zipped(t, lines))
	for _, more := range []string{
		"", "-backing heap", "-history recycled", "-workload bytes -size 9", "-workload bytes -size 1000",
		"-workload mixed", "-goroutines 1", "-goroutines 5", "-size 64", "-in " + input, "-huge always", "-huge never",
	} {
		t.Run(more, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), small(more), &stdout, &stderr); code != exitFine {
				t.Fatalf("exit code %d\n%s\n%s", code, stdout.String(), stderr.String())
			}
			for _, want := range []string{"put", "get chased", "hot get", "delete", "full GC", " 0 wrong, 0 lost"} {
				if !strings.Contains(stdout.String(), want) {
					t.Errorf("no %q in\n%s", want, stdout.String())
				}
			}
		})
	}
}

func TestJSONRunPrintsNothingElse(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), small("-json"), &stdout, &stderr); code != exitFine {
		t.Fatalf("exit code %d\n%s", code, stderr.String())
	}
	if stderr.Len() > 0 {
		t.Errorf("stderr: %s", stderr.String())
	}
	ops := map[string]bool{}
	for line := range bytes.Lines(stdout.Bytes()) {
		var fields struct {
			Op           string   `json:"op"`
			OpsPerSecond *float64 `json:"ops_per_second"`
		}
		if err := json.Unmarshal(line, &fields); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		ops[fields.Op] = true
	}
	for _, op := range append(operations(), "machine", "summary") {
		if !ops[op] {
			t.Errorf("no line for %s", op)
		}
	}
}

func TestInterruptedRunPrintsWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, small(""), &stdout, &stderr); code != exitInterrupted {
		t.Errorf("exit code %d, want %d\n%s", code, exitInterrupted, stderr.String())
	}
	if !strings.Contains(stdout.String(), "INTERRUPTED") {
		t.Errorf("the table does not say that it was interrupted:\n%s", stdout.String())
	}
	ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	stdout.Reset()
	code := run(ctx, strings.Fields("-n 5M -segment-size 16MiB"), &stdout, &stderr)
	if code != exitInterrupted || !strings.Contains(stdout.String(), " 0 wrong, 0 lost") {
		t.Errorf("exit code %d\n%s", code, stdout.String())
	}
}

func TestWrongAndLostValuesAreCounted(t *testing.T) {
	c := defaults()
	b := &bench{config: c}
	v := &values{b: b, source: &fixedSource{newPattern(1, true), 32}}
	var good chunk
	v.source.fill(&good, 3, 1)
	v.judge("get", 3, 1, good.value(0), nil)
	if !b.verdict.ok() {
		t.Fatal("a right value counts as wrong")
	}
	good.value(0)[31] ^= 1
	v.judge("get", 3, 1, good.value(0), nil)
	v.judge("get", 4, 2, nil, errors.New("gone"))
	if b.verdict.wrong.Load() != 1 || b.verdict.lost.Load() != 1 || len(b.verdict.faults()) != 2 {
		t.Errorf("%d wrong, %d lost: %q", b.verdict.wrong.Load(), b.verdict.lost.Load(), b.verdict.faults())
	}
	var stdout, stderr bytes.Buffer
	if code := b.finish(nil, &stdout, &stderr); code != exitFailed || !strings.Contains(stderr.String(), "gone") {
		t.Errorf("exit code %d\n%s", code, stderr.String())
	}
}

func TestAdviceOnMissingMemory(t *testing.T) {
	b := &bench{progress: newProgress(nil, 1)}
	err := b.runSteps([]step{{"put", func() error { return pile.ErrOutOfSpace }}})
	if !errors.Is(err, pile.ErrOutOfSpace) || !strings.Contains(err.Error(), "smaller -n") {
		t.Error(err)
	}
}

func TestProgressInLines(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, 2)
	show := p.lines("put", 1000)
	p.counter(0).Add(200)
	p.counter(1).Add(50)
	show(false)
	if got := out.String(); !strings.Contains(got, "put") || !strings.Contains(got, "25%") || !strings.Contains(got, "left") {
		t.Errorf("%q", got)
	}
}
