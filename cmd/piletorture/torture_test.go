package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/require"
)

func TestShortTortureFindsNoWrongValue(t *testing.T) {
	for name, args := range map[string]string{
		"anonymous":       "-backing anonymous",
		"heap":            "-backing heap",
		"tiny memory":     "-backing anonymous -max-memory 16777216 -segment-size 1048576",
		"debug":           "-backing heap -debug -checksums -segment-size 1048576",
		"many goroutines": "-backing anonymous -goroutines 40 -objects 50",
	} {
		if limit := os.Getenv("BIGPILE_TEST_BACKING"); limit != "" && !strings.Contains(args, "-backing "+limit) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			c, err := parseFlags(strings.Fields(args), &out)
			require.NoError(t, err)
			c.duration = 1500 * time.Millisecond
			r, err := run(context.Background(), c)
			require.NoError(t, err)
			require.Zero(t, r.Wrong, out.String())
			require.Positive(t, r.Checks)
			for _, op := range opNames {
				require.Positive(t, r.Ops[op], "%s was never tried", op)
			}
			require.Contains(t, out.String(), "0 wrong values")
		})
	}
}

func TestJSONOutputIsOneObjectALine(t *testing.T) {
	var out bytes.Buffer
	c, err := parseFlags([]string{"-json", "-seed", "7", "-duration", "300ms", "-backing", "heap"}, &out)
	require.NoError(t, err)
	_, err = run(context.Background(), c)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, line := range lines {
		require.NoError(t, json.Unmarshal([]byte(line), &map[string]any{}), line)
	}
	var last result
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &last))
	require.EqualValues(t, 7, last.Seed)
	require.Zero(t, last.Wrong)
}

func TestBadFlagsAreRefused(t *testing.T) {
	for _, args := range []string{"-backing disk", "-goroutines 1", "-objects 0", "-duration 0s", "-nonsense"} {
		_, err := parseFlags(strings.Fields(args), &bytes.Buffer{})
		require.Error(t, err, args)
	}
}

func TestEveryDamageToAValueIsSeen(t *testing.T) {
	good := encode(nil, 5, 3, 100)
	v, err := decode(good, 5)
	require.NoError(t, err)
	require.EqualValues(t, 3, v)
	_, err = decode(good, 6)
	require.ErrorContains(t, err, "foreign")
	for i := range good {
		bad := append([]byte{}, good...)
		bad[i] ^= 1
		_, err := decode(bad, 5)
		require.Error(t, err, "byte %d", i)
		_, err = decode(good[:i], 5)
		require.Error(t, err, "cut at %d", i)
	}
	for n := leastValue; n < 200; n++ {
		b := encode([]byte("kept"), 1, 1, n)
		require.Len(t, b, 4+n)
		_, err := decode(b[4:], 1)
		require.NoError(t, err)
	}
}

func TestWrongValuesAreCountedAndDescribed(t *testing.T) {
	p, err := pile.New(pile.Options{SegmentSize: 1 << 20, Backing: pile.Heap})
	require.NoError(t, err)
	defer p.Close()
	var out bytes.Buffer
	tt := newTorture(p, config{objects: 1, out: &out})
	o := &object{owner: 9}
	o.ptr, err = p.PutBytes(encode(nil, 8, 0, 50))
	require.NoError(t, err)
	tt.cells[0].now.Store(o)
	tt.inspect(false)
	r := tt.result(time.Second)
	require.EqualValues(t, 1, r.Wrong)
	require.Len(t, r.Details, 1)
	require.Contains(t, r.Details[0], o.ptr.String())
	require.Contains(t, r.Details[0], "owner 9")
	require.Contains(t, r.Details[0], "foreign: owner 8")
}
