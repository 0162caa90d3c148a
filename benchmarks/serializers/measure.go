package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// subject is a kind of value, and the codecs for it.
type subject[T any] struct {
	name   string
	fresh  func(i int64) T
	is     func(v *T, i int64) bool
	codecs []codec[T]
	values int   // different values
	repeat int   // of all of them in a round, at most
	base   int64 // number of the first value
}

// result is what one codec does with one kind of value.
type result struct {
	Value  string  `json:"value"`
	Codec  string  `json:"codec"`
	Bytes  float64 `json:"bytes"`
	Encode figure  `json:"encode"`
	Decode figure  `json:"decode"`
}

// figure is processor time in nanoseconds a value: the median over the rounds, the lowest and the highest.
type figure struct {
	Median     float64 `json:"ns"`
	Low        float64 `json:"ns_min"`
	High       float64 `json:"ns_max"`
	Allocs     float64 `json:"allocs"`
	AllocBytes float64 `json:"alloc_bytes"`
	Slower     float64 `json:"times_graph"` // median over the rounds of this codec's time over the graph codec's

	rounds []float64
}

// measure runs the codecs in turn, round by round, and checks every value that was decoded.
func (s *subject[T]) measure(rounds int, progress func()) ([]result, error) {
	results := make([]result, len(s.codecs))
	want := make([]T, s.values)
	for i := range want {
		want[i] = s.fresh(s.base + int64(i))
	}
	encoded := make([][][]byte, len(s.codecs))
	repeats := make([]int, len(s.codecs)) // of the values, so that a round takes about as long with every codec
	for c, codec := range s.codecs {
		results[c] = result{Value: s.name, Codec: codec.name}
		encoded[c], repeats[c] = make([][]byte, s.values), 1
	}
	for round := range rounds + 1 { // the first warms up
		for k := range s.codecs {
			c := (k + round) % len(s.codecs)
			took, err := s.round(s.codecs[c], want, encoded[c], repeats[c], &results[c], round > 0)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", s.name, s.codecs[c].name, err)
			}
			if round == 0 {
				repeats[c] = int(min(float64(s.repeat), max(1, roundNanos/took)))
			}
		}
		progress()
	}
	for c := range results {
		results[c].Encode.finish(results[0].Encode.rounds)
		results[c].Decode.finish(results[0].Decode.rounds)
		for _, b := range encoded[c] {
			results[c].Bytes += float64(len(b)) / float64(s.values)
		}
	}
	return results, nil
}

// roundNanos is how long a loop is to take: long for the clock, short for whatever else the machine does.
const roundNanos = 4e6

// round encodes and decodes all values with one codec, so many times, and returns the nanoseconds of once.
func (s *subject[T]) round(c codec[T], want []T, encoded [][]byte, repeat int, to *result, counts bool) (float64, error) {
	n := s.values * repeat
	var buf []byte
	var err error
	encode := timed(n, func() error {
		for i := range n {
			if buf, err = c.encode(buf[:0], &want[i%s.values]); err != nil {
				return err
			}
		}
		return nil
	})
	if encode.err != nil {
		return 0, fmt.Errorf("encode: %w", encode.err)
	}
	for i := range want { // in the order of a stream
		if buf, err = c.encode(buf[:0], &want[i]); err != nil {
			return 0, fmt.Errorf("encode: %w", err)
		}
		encoded[i] = append(encoded[i][:0], buf...)
	}
	got := make([]T, n)
	decode := timed(n, func() error {
		for i := range got {
			if err := c.decode(encoded[i%s.values], &got[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if decode.err != nil {
		return 0, fmt.Errorf("decode: %w", decode.err)
	}
	for i := range got {
		if number := s.base + int64(i%s.values); !s.is(&got[i], number) {
			return 0, fmt.Errorf("%w: number %d", errWrong, number)
		}
	}
	if counts {
		to.Encode.add(encode)
		to.Decode.add(decode)
	}
	return (encode.nanos + decode.nanos) / 2 * float64(s.values), nil
}

// sample is one timed loop, a value.
type sample struct {
	nanos, allocs, bytes float64
	err                  error
}

// timed measures a loop over n values. It collects first: the loop then takes memory that was in use before, and pays for
// collections of its own garbage only.
func timed(n int, loop func() error) (s sample) {
	runtime.GC()
	objects, bytes := heapAllocated()
	begun := processorTime()
	s.err = loop()
	s.nanos = float64(processorTime()-begun) / float64(n)
	objectsAfter, bytesAfter := heapAllocated()
	s.allocs, s.bytes = float64(objectsAfter-objects)/float64(n), float64(bytesAfter-bytes)/float64(n)
	return s
}

// heapAllocated returns how many objects and bytes were ever allocated. Package runtime/metrics tells it without stopping
// anything, but late.
func heapAllocated() (objects, bytes uint64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs, m.TotalAlloc
}

func (f *figure) add(s sample) {
	f.rounds = append(f.rounds, s.nanos)
	f.Allocs, f.AllocBytes = s.allocs, s.bytes
}

// finish sums the rounds up, and compares them with those of the graph codec.
func (f *figure) finish(graph []float64) {
	var slower []float64
	for i := range f.rounds {
		slower = append(slower, f.rounds[i]/max(graph[i], 1e-9))
	}
	f.Slower = median(slower)
	f.Median, f.Low, f.High = median(f.rounds), slices.Min(f.rounds), slices.Max(f.rounds)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}

// wallTime stands in for processor time where that is not known.
func wallTime() time.Duration { return time.Since(started) }
