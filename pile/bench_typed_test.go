package pile_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bigpile/bigpile/pile"
)

// cell is a plain value of 64 bytes.
type cell struct {
	Number uint64
	X, Y   float64
	Next   pile.PilePointer
	Rest   [4]int64
}

// ratioRound is the operations of a side between two looks at the clock: some 200 µs, so that most rounds see no other
// process, and few enough values that all stay in the cache.
const ratioRound = 8 << 10

// BenchmarkPlainAgainstBytes compares Typed.Put and Get of 64 plain bytes with PutBytes and AppendBytes of 64 bytes. The
// two take turns in short rounds; the metric "ratio" is the median over the rounds, so what else the machine does weighs
// on both. The bar is 1.15.
func BenchmarkPlainAgainstBytes(b *testing.B) {
	b.Run("op=put", func(b *testing.B) {
		r := newRatio(b)
		for b.Loop() {
			r.round(r.putBytes, r.putTyped, r.empty)
		}
		r.report()
	})
	// A struct that a field was written to just now is copied for the call before that store has left the processor's store
	// buffer: a stall of some 4 ns in every Go call that takes a struct by value.
	b.Run("op=put-just-written", func(b *testing.B) {
		r := newRatio(b)
		for b.Loop() {
			r.round(r.putBytes, r.putWritten, r.empty)
		}
		r.report()
	})
	b.Run("op=get", func(b *testing.B) {
		r := newRatio(b)
		r.putBytes()
		r.putTyped()
		for b.Loop() {
			r.round(r.getBytes, r.getTyped, func() {})
		}
		r.report()
	})
}

// ratio is a pile with values of two sides, and the time that each side took.
type ratio struct {
	b            *testing.B
	p            *pile.Pile
	typed        *pile.Typed[cell]
	raw, cells   []pile.PilePointer
	values       [256]cell
	bytes        [256][]byte
	buf          []byte
	sum          uint64
	ratios       []float64
	first, other time.Duration
}

func newRatio(b *testing.B) *ratio {
	p, err := pile.New(pile.Options{SegmentSize: 16 * miB})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.Close() })
	typed, err := pile.Of[cell](p)
	if err != nil {
		b.Fatal(err)
	}
	r := &ratio{b: b, p: p, typed: typed, buf: make([]byte, 64)}
	for i := range r.values {
		r.values[i] = cell{Number: uint64(i), X: 1}
		r.bytes[i] = pattern(64, uint64(i))
	}
	return r
}

// round times both, each first in every other round, and calls after behind each, which is not timed: either side begins
// with what the other leaves.
func (r *ratio) round(base, other, after func()) {
	var took [2]time.Duration
	fns := [2]func(){base, other}
	for k := range fns {
		i := (k + len(r.ratios)) % 2
		begun := time.Now()
		fns[i]()
		took[i] = time.Since(begun)
		after()
	}
	r.first += took[0]
	r.other += took[1]
	r.ratios = append(r.ratios, float64(took[1])/float64(took[0]))
}

func (r *ratio) report() {
	slices.Sort(r.ratios)
	n := float64(len(r.ratios)) * ratioRound
	r.b.ReportMetric(r.ratios[len(r.ratios)/2], "ratio")
	r.b.ReportMetric(float64(r.first)/n, "ns/bytes")
	r.b.ReportMetric(float64(r.other)/n, "ns/typed")
	r.b.ReportMetric(0, "ns/op")
}

func (r *ratio) putBytes() {
	for i := range ratioRound {
		ptr, err := r.p.PutBytes(r.bytes[i%256])
		if err != nil {
			r.b.Fatal(err)
		}
		r.raw = append(r.raw, ptr)
	}
}

func (r *ratio) putTyped() {
	for i := range ratioRound {
		ptr, err := r.typed.Put(r.values[i%256])
		if err != nil {
			r.b.Fatal(err)
		}
		r.cells = append(r.cells, ptr)
	}
}

func (r *ratio) putWritten() {
	var c cell
	for i := range ratioRound {
		c.Number = uint64(i)
		ptr, err := r.typed.Put(c)
		if err != nil {
			r.b.Fatal(err)
		}
		r.cells = append(r.cells, ptr)
	}
}

// empty deletes all values, so that every round puts into memory that was used before.
func (r *ratio) empty() {
	for _, ptrs := range []*[]pile.PilePointer{&r.raw, &r.cells} {
		if _, err := r.p.DeleteMany(*ptrs); err != nil {
			r.b.Fatal(err)
		}
		*ptrs = (*ptrs)[:0]
	}
}

func (r *ratio) getBytes() {
	for _, ptr := range r.raw {
		b, err := r.p.AppendBytes(r.buf[:0], ptr)
		if err != nil {
			r.b.Fatal(err)
		}
		r.sum += uint64(b[0])
	}
}

func (r *ratio) getTyped() {
	for _, ptr := range r.cells {
		c, err := r.typed.Get(ptr)
		if err != nil {
			r.b.Fatal(err)
		}
		r.sum += c.Number
	}
}
