package main

import (
	"math"
	"testing"
)

func TestMedianAndSpread(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   spread
	}{
		{nil, spread{}},
		{[]float64{3}, spread{3, 3, 3, 1}},
		{[]float64{3, 1, 2}, spread{2, 1, 3, 3}},
		{[]float64{4, 1, 3, 2}, spread{2.5, 1, 4, 4}},
	} {
		if got := spreadOf(test.values); got != test.want {
			t.Errorf("spreadOf(%v) = %v, want %v", test.values, got, test.want)
		}
	}
}

func TestRatioIsTakenRoundByRound(t *testing.T) {
	of := series{{ops: 10, seconds: 1}, {ops: 10, seconds: 2}, {ops: 10, seconds: 1}}
	to := series{{ops: 20, seconds: 1}, {ops: 20, seconds: 2}} // the third was interrupted
	if got, want := ratioOf(of, to), (spread{0.5, 0.5, 0.5, 2}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := of.rate(); math.Abs(got-7.5) > 1e-9 {
		t.Errorf("rate %v, want 7.5", got)
	}
}

func TestLimitsOfContainers(t *testing.T) {
	for _, test := range []struct{ limit, usage, cached, want int64 }{
		{math.MaxInt64, 5, 0, math.MaxInt64},
		{9223372036854771712, 5, 0, math.MaxInt64}, // version 1 without a limit
		{100, 60, 10, 50},
		{100, 160, 10, 0},
	} {
		if got := limitLeft(test.limit, test.usage, test.cached); got != test.want {
			t.Errorf("limitLeft(%d, %d, %d) = %d, want %d", test.limit, test.usage, test.cached, got, test.want)
		}
	}
	if allowedMemory() <= 0 {
		t.Error("this process may use no memory")
	}
}

func TestHeadlineFitsInTwelveGigabytes(t *testing.T) {
	c := defaults()
	c.n, c.rounds, c.roundSize = 200_000_000, roundsMin, 256<<20
	p, err := makePlan(&c, &fixedSource{newPattern(1, true), 32}, 0, 12_000_000_000)
	if err != nil {
		t.Fatal(err)
	}
	if p.need > 12_000_000_000 || float64(p.chains*chainDepth)*40 < 4<<30 {
		t.Errorf("needs %s, chase over %d values", formatSize(p.need), p.chains*chainDepth)
	}
}

func TestDefaultRunTakesHalf(t *testing.T) {
	c := defaults()
	c.rounds, c.roundSize = roundsMin, 256<<20
	for _, allowed := range []int64{2 << 30, 4 << 30, 8 << 30, 22 << 30, 500 << 30} {
		p, err := makePlan(&c, &fixedSource{newPattern(1, true), 32}, 0, allowed)
		if err != nil {
			t.Errorf("%s: %v", formatSize(allowed), err)
			continue
		}
		if p.need > allowed/2 || p.n > 120_000_000 {
			t.Errorf("%s: %d values, %s", formatSize(allowed), p.n, formatSize(p.need))
		}
	}
	if _, err := makePlan(&c, &fixedSource{newPattern(1, true), 32}, 0, 100<<20); err == nil {
		t.Error("a run was planned in 100 MiB")
	}
}
