package pile_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/bigpile/bigpile/pile"
)

// benchFill puts n values of 32 bytes with g goroutines.
func benchFill(b *testing.B, p *pile.Pile, n, g int) [][]pile.PilePointer {
	out := make([][]pile.PilePointer, g)
	var wg sync.WaitGroup
	for k := range g {
		wg.Go(func() {
			hs := make([]pile.PilePointer, 0, n/g+1)
			v := make([]byte, 32)
			for i := range n / g {
				binary.LittleEndian.PutUint64(v, uint64(i))
				h, err := p.PutBytes(v)
				if err != nil {
					b.Error(err)
					return
				}
				hs = append(hs, h)
			}
			out[k] = hs
		})
	}
	wg.Wait()
	return out
}

func BenchmarkPut(b *testing.B) {
	for _, g := range []int{1, runtime.GOMAXPROCS(0)} {
		b.Run(fmt.Sprintf("size=32/goroutines=%d", g), func(b *testing.B) {
			p, err := pile.New(pile.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			b.ReportAllocs()
			b.ResetTimer()
			benchFill(b, p, b.N, g)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mops/s")
		})
	}
}

func BenchmarkPutMany(b *testing.B) {
	p, err := pile.New(pile.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	const batch = 256
	values := make([][]byte, batch)
	for i := range values {
		values[i] = make([]byte, 32)
	}
	dst := make([]pile.PilePointer, 0, batch)
	b.ReportAllocs()
	for i := 0; i < b.N; i += batch {
		if dst, err = p.PutMany(values, dst[:0]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendBytes(b *testing.B) {
	for _, n := range []int{1, 1 << 10, 20 << 20} {
		b.Run(fmt.Sprintf("size=32/values=%d", n), func(b *testing.B) {
			p, err := pile.New(pile.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			hs := benchFill(b, p, n, 1)[0]
			rand.Shuffle(len(hs), func(i, j int) { hs[i], hs[j] = hs[j], hs[i] })
			dst := make([]byte, 0, 64)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if dst, err = p.AppendBytes(dst[:0], hs[i]); err != nil {
					b.Fatal(err)
				}
				if i++; i == n {
					i = 0
				}
			}
		})
	}
}

func BenchmarkPutDelete(b *testing.B) {
	p, err := pile.New(pile.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	v := make([]byte, 32)
	b.ReportAllocs()
	for b.Loop() {
		h, err := p.PutBytes(v)
		if err != nil {
			b.Fatal(err)
		}
		if err := p.Delete(h); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	p, err := pile.New(pile.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	v := make([]byte, 32)
	h, err := p.PutBytes(v)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := p.UpdateBytes(h, v); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPutRecycled puts into memory that was in use before: no page is taken from the system.
func BenchmarkPutRecycled(b *testing.B) {
	const n = 2 << 20
	p, err := pile.New(pile.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	v := make([]byte, 32)
	hs := make([]pile.PilePointer, 0, n)
	b.ReportAllocs()
	for b.Loop() {
		if len(hs) == n {
			b.StopTimer()
			if _, err := p.DeleteMany(hs); err != nil {
				b.Fatal(err)
			}
			hs = hs[:0]
			b.StartTimer()
		}
		h, err := p.PutBytes(v)
		if err != nil {
			b.Fatal(err)
		}
		hs = append(hs, h)
	}
}
