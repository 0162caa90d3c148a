package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bigpile/bigpile/cmd/pilebench/samples"
	"github.com/bigpile/bigpile/pile"
)

func TestTypedWorkloadsRun(t *testing.T) {
	for workload, ops := range map[string][]string{
		"persons": {"put-msgp", "put-graph", "put-raw", "put-plain", "get-msgp", "make-plain", "72.5"},
		"objects": {"put-product", "put-circle", "put-list-4000", "get-list-4000"},
	} {
		for _, more := range []string{"", " -json", " -goroutines 3", " -backing heap"} {
			t.Run(workload+more, func(t *testing.T) {
				var stdout, stderr bytes.Buffer
				args := strings.Fields("-n 1000 -segment-size 16MiB -workload " + workload + more)
				if code := run(t.Context(), args, &stdout, &stderr); code != exitFine {
					t.Fatalf("exit code %d\n%s\n%s", code, stdout.String(), stderr.String())
				}
				for _, op := range ops {
					if !strings.Contains(stdout.String(), op) {
						t.Errorf("no %q in\n%s", op, stdout.String())
					}
				}
			})
		}
	}
}

func TestTypedWorkloadsRefuseWhatTheyWouldNotObey(t *testing.T) {
	for _, args := range []string{
		"-workload persons -size 32", "-workload objects -history recycled", "-workload persons -n 2G", "-workload persons -n 900M -size 8",
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), &stdout, &stderr); code != exitUsage {
			t.Errorf("%s: exit code %d\n%s", args, code, stderr.String())
		}
	}
}

func TestAnotherPersonIsWrong(t *testing.T) {
	types, err := personsAsGraph()
	if err != nil {
		t.Fatal(err)
	}
	p, err := pile.New(pile.Options{SegmentSize: 1 << 20, Types: types})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s, err := typedSession(samples.NewPerson, (*samples.Person).Is)(p)
	if err != nil {
		t.Fatal(err)
	}
	handle, err := s.put(7)
	if err != nil {
		t.Fatal(err)
	}
	r := &records{b: &bench{}}
	r.judge("get", s, 7, uint64(handle))
	if !r.b.verdict.ok() {
		t.Fatal("a right value counts as wrong")
	}
	r.judge("get", s, 8, uint64(handle))
	r.judge("get", s, 7, uint64(handle)+1<<40)
	if r.b.verdict.wrong.Load() != 1 || r.b.verdict.lost.Load() != 1 {
		t.Errorf("%d wrong, %d lost", r.b.verdict.wrong.Load(), r.b.verdict.lost.Load())
	}
}
