package main

import (
	"fmt"
	"math/bits"
)

// What a default run takes: enough that no cache holds the values and that the
// chase goes over more than 4 GiB, little enough that it ends in a minute or two.
const (
	valueBytesWanted = 4_600_000_000
	chaseBytesWanted = 4_600_000_000
	readOpsWanted    = 2_000_000 // a round
	hotOpsWanted     = 2_000_000 // a round and goroutine
	programBytes     = 192 << 20 // the program itself, its buffers and the pile's tables
)

// chainDepth is the length of the chains that the chase's cycle is made of.
const chainDepth = 64

// plan is how much of everything a run does.
type plan struct {
	n          int64
	fillRounds int     // rounds in which the n values are put, the warm-up among them
	roundPuts  int64   // values a round
	readOps    int64   // random reads a round
	hotOps     int64   // reads of one object a round and goroutine
	chains     int64   // of chainDepth values each, in the chase
	allowed    int64   // bytes that this process may take
	need       int64   // bytes that it will take at most
	settle     int64   // bytes of these that values and their copies take
	stride     float64 // of a value, on average
	meanSize   float64
	notes      []string
}

// slotFactor is what a value takes in a pile over its stride: the descriptors
// of the pages, and the width of the size classes for larger values.
func slotFactor(s source) float64 {
	if s.meanSize()+headerSize <= 128 {
		return 1.015
	}
	return 1.13
}

// demand is the memory that a value takes in the different steps.
type demand struct {
	stride float64 // in the bare copy
	slot   float64 // in the pile
	fixed  float64 // whatever the number of values: the program, a round, the input
}

func demandOf(c *config, s source, inputBytes int64) demand {
	reads := float64(2 * 8 * readOpsWanted)
	return demand{
		stride: meanStride(s),
		slot:   meanStride(s) * slotFactor(s),
		fixed:  programBytes + float64(inputBytes) + max(1.3*float64(c.roundSize), reads),
	}
}

// fill is the need of n values and their handles, chase that of m values in
// the pile and m in bare memory.
func (d demand) fill(n int64) float64  { return float64(n)*(d.slot+8.25) + d.fixed }
func (d demand) chase(m int64) float64 { return float64(m)*(d.slot+d.stride+0.5) + d.fixed }

// makePlan chooses what -n leaves open and refuses what the machine has no room
// for, before anything is done.
func makePlan(c *config, s source, inputBytes, allowed int64) (plan, error) {
	d := demandOf(c, s, inputBytes)
	p := plan{n: c.n, allowed: allowed, stride: d.stride, meanSize: s.meanSize()}
	budget := float64(allowed)
	if p.n == 0 {
		budget /= 2
		fits := (budget - d.fixed) / (d.slot + 8.25)
		p.n = roundDown(int64(min(fits, valueBytesWanted/d.stride)))
		if p.n < valuesMin {
			return p, fmt.Errorf("too little memory: may use %s, of which a default run takes half, "+
				"but it needs %s at least: free some, or give a small -n and -round-size",
				formatSize(allowed), formatSize(int64(2*d.fill(valuesMin))))
		}
	}
	if need := d.fill(p.n); need > budget {
		return p, fmt.Errorf("-n %d: needs %s, but this process may use %s: "+
			"free memory, raise the container's limit, or take -n %d or less",
			p.n, formatSize(int64(need)), formatSize(allowed),
			max(0, roundDown(int64((budget-d.fixed)/(d.slot+8.25)))))
	}
	if bits.UintSize == 32 && p.n*8 > 1<<29 {
		return p, fmt.Errorf("-n %d: more than a 32-bit program can hold handles for", p.n)
	}
	p.planRounds(c, d)
	p.planChase(d, budget)
	p.need = int64(max(d.fill(p.n), d.chase(p.chains*chainDepth)))
	p.settle = p.need - int64(d.fixed)
	return p, nil
}

// planRounds cuts n values in rounds of the wanted size, smaller ones when they
// would be too few.
func (p *plan) planRounds(c *config, d demand) {
	p.roundPuts = max(1, int64(float64(c.roundSize)/d.stride))
	p.fillRounds = int((p.n + p.roundPuts - 1) / p.roundPuts)
	if least := c.rounds + 1; p.fillRounds < least {
		p.fillRounds = least
		p.roundPuts = max(1, p.n/int64(least))
		p.notes = append(p.notes, fmt.Sprintf("rounds of %s, for %d values make no %d rounds of %s",
			formatSize(int64(float64(p.roundPuts)*d.stride)), p.n, least, formatSize(c.roundSize)))
	}
	p.readOps = min(readOpsWanted, p.n)
	p.hotOps = min(hotOpsWanted, 8*p.n)
}

// planChase makes the chase as long as is wanted, or as fits.
func (p *plan) planChase(d demand, budget float64) {
	wanted := min(float64(p.n), chaseBytesWanted/d.stride)
	fits := (budget - d.fixed) / (d.slot + d.stride + 0.5)
	p.chains = max(1, int64(min(wanted, fits))/chainDepth)
	if reached := float64(p.chains*chainDepth) * d.stride; reached < 4<<30 {
		p.notes = append(p.notes, fmt.Sprintf("the chase goes over %s, not the 4 GiB that outgrow every cache",
			formatSize(int64(reached))))
	}
}

// roundDown makes a computed number of values one that is easy to read.
func roundDown(n int64) int64 {
	for unit := int64(1_000_000); unit >= 1_000; unit /= 1_000 {
		if n >= 10*unit {
			return n / unit * unit
		}
	}
	return n
}

// roundSpan returns the values of one of the rounds that n are cut in.
func (p *plan) roundSpan(round int) span { return span{0, p.n}.part(round, p.fillRounds) }
