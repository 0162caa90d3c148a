package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestMain lets the test binary be the child, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "-child" {
		main()
	}
	os.Exit(m.Run())
}

func TestSmokeRunReadsWhatWasPut(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := program([]string{"-smoke", "-n", "20000"}, nil, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d\n%s\n%s", code, stdout.String(), stderr.String())
	}
	var names []string
	for _, s := range sides() {
		if !s.onDemand {
			names = append(names, s.name)
		}
	}
	for _, want := range append(names, rowPresized, rowGrowing, rowOverwrite, rowGetMany, rowZipf, bare, " 0 wrong, 0 lost") {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, stdout.String())
		}
	}
}

func TestJSONHasALineForEveryOutcome(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := program([]string{"-smoke", "-n", "2000", "-only", "bigpile,bigpile-huge-pages,fastcache", "-json"}, nil, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d\n%s\n%s", code, stdout.String(), stderr.String())
	}
	ops := map[string]bool{}
	for line := range bytes.Lines(stdout.Bytes()) {
		var l jsonLine
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		ops[l.Op] = true
	}
	for _, op := range []string{"machine", "get", "get-by-64", "fill-growing", "summary"} {
		if !ops[op] {
			t.Errorf("no line for %s in\n%s", op, stdout.String())
		}
	}
}

func TestBadFlags(t *testing.T) {
	for _, args := range []string{"-n 1", "-only nobody", "-repeats 0", "more", "-x"} {
		if code := program(strings.Fields(args), nil, new(bytes.Buffer), new(bytes.Buffer)); code != 2 {
			t.Errorf("%s: exit code %d", args, code)
		}
	}
}

func TestWrongAndLostValuesAreCounted(t *testing.T) {
	var k, other [keySize]byte
	putKey(&k, 1)
	putKey(&other, 2)
	v := make([]byte, valueSize)
	putValue(v, &k, 3)
	var c tally
	c.judge(v, true, &k, 3)
	if c != (tally{checked: 1}) {
		t.Fatalf("a right value: %+v", c)
	}
	c.judge(v, true, &k, 4)
	c.judge(v, true, &other, 3)
	c.judge(v[:60], true, &k, 3)
	v[63] ^= 1
	c.judge(v, true, &k, 3)
	c.judge(nil, false, &k, 3)
	if c != (tally{checked: 6, wrong: 4, lost: 1}) {
		t.Errorf("%+v", c)
	}
}

func TestScatteredGoesOverEverythingOnce(t *testing.T) {
	const n = 10_000
	seen := make([]bool, n)
	o := scattered(n)
	for i := range n {
		if at := o(i); seen[at] {
			t.Fatalf("%d twice", at)
		} else {
			seen[at] = true
		}
	}
}
