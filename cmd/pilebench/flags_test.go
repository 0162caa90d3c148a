package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestBadFlagsNameFlagValueAndBound(t *testing.T) {
	tests := []struct {
		args string
		want []string
	}{
		{"-workload foo", []string{"-workload", "foo", "strings, bytes, mixed, persons, objects"}},
		{"-backing disk", []string{"-backing", "disk", "anonymous, heap"}},
		{"-huge maybe", []string{"-huge", "maybe", "auto"}},
		{"-history old", []string{"-history", "old", "fresh or recycled"}},
		{"-size 7", []string{"-size", "7", "8 B", "1 MiB"}},
		{"-size 2MiB", []string{"-size", "2MiB", "1 MiB"}},
		{"-size big", []string{"-size", "big", "64KiB"}},
		{"-n 999", []string{"-n", "999", "1000"}},
		{"-n -5", []string{"-n", "-5", "1000"}},
		{"-n 99999999999G", []string{"-n", "99999999999G"}},
		{"-n 1e9", []string{"-n", "1e9", "200M"}},
		{"-goroutines 0", []string{"-goroutines", "0", "between 1"}},
		{"-rounds 7", []string{"-rounds", "7", "between 8"}},
		{"-segment-size 1KiB", []string{"-segment-size", "1KiB", "1 MiB"}},
		{"-round-size 1", []string{"-round-size", "64 KiB"}},
		{"-seed x", []string{"-seed", "x"}},
		{"-size 64 -workload mixed", []string{"-size", "mixed"}},
		{"-in f -workload mixed", []string{"-in", "mixed"}},
		{"-frobnicate", []string{"-frobnicate"}},
		{"extra", []string{"extra"}},
		{"-in no-such-file", []string{"-in", "no-such-file"}},
		{"-n 15G -size 1MiB", []string{"-n 15000000000", "needs", "may use", "or less"}},
	}
	for _, test := range tests {
		t.Run(test.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), strings.Fields(test.args), &stdout, &stderr)
			if code != exitUsage {
				t.Errorf("exit code %d, want %d", code, exitUsage)
			}
			if stdout.Len() > 0 {
				t.Errorf("stdout: %s", stdout.String())
			}
			for _, want := range test.want {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("%q is not in: %s", want, stderr.String())
				}
			}
		})
	}
}

func TestHelpIsNoError(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-h"}, &stdout, &stderr); code != exitFine {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"-workload", "-history", "-json", "-in", "Exit codes"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("help does not mention %q", want)
		}
	}
}

func TestFlagsAreTaken(t *testing.T) {
	c, err := parseFlags(strings.Fields(
		"-workload bytes -n 200M -size 64 -goroutines 3 -backing heap -segment-size 16MiB -huge never " +
			"-history recycled -rounds 9 -round-size 1MiB -seed 7 -json"))
	if err != nil {
		t.Fatal(err)
	}
	want := config{
		workload: "bytes", n: 200_000_000, size: 64, sizeSet: true, goroutines: 3, backing: "heap",
		segmentSize: 16 << 20, huge: "never", history: historyRecycled, rounds: 9, roundSize: 1 << 20,
		seed: 7, json: true,
	}
	if c != want {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
}

func TestUnits(t *testing.T) {
	for text, want := range map[string]int64{
		"32": 32, "64KiB": 64 << 10, "256MiB": 256 << 20, "1GiB": 1 << 30, "4K": 4 << 10, "2 MB": 2 << 20, "7B": 7,
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("parseSize(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]int64{
		"20000": 20000, "200M": 200e6, "1_000": 1000, "3,000": 3000, "5k": 5000, "2G": 2e9,
	} {
		if got, err := parseCount(text); err != nil || got != want {
			t.Errorf("parseCount(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "x", "1.5GiB", "9999999999999GiB", "12 34"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("parseSize(%q) = %d, want an error", text, got)
		}
	}
}

func TestFormats(t *testing.T) {
	for want, got := range map[string]string{
		"200,000,000": formatCount(200e6), "999": formatCount(999), "-1,000": formatCount(-1000),
		"256 MiB": formatSize(256 << 20), "1.5 GiB": formatSize(3 << 29), "17 B": formatSize(17),
		"21.3 M": formatRate(21.3e6), "8.30 M": formatRate(8.3e6), "150 M": formatRate(150e6),
		"12.0 k": formatRate(12e3), "7": formatRate(7), "1.20 G": formatRate(1.2e9),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
