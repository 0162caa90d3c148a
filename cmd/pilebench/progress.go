package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// counter counts the operations of one goroutine on a cache line of its own.
type counter struct {
	atomic.Int64
	_ [120]byte
}

// The pace of the progress: a bar is redrawn often, lines are printed seldom.
const (
	barPace  = 250 * time.Millisecond
	linePace = 4 * time.Second
)

// progress tells how far the current step is: as a bar on a terminal, as lines
// elsewhere, not at all when out is nil. The goroutines that are measured only
// add to counters.
type progress struct {
	out      io.Writer
	terminal bool
	counters []counter

	stop   chan struct{}  // nil: no step shown
	ticker sync.WaitGroup // the goroutine that shows the step
}

// newProgress shows on out, with room for the given number of goroutines.
func newProgress(out io.Writer, goroutines int) *progress {
	p := &progress{out: out, counters: make([]counter, goroutines)}
	if file, ok := out.(*os.File); ok {
		p.terminal = term.IsTerminal(int(file.Fd()))
	}
	return p
}

func (p *progress) counter(worker int) *counter { return &p.counters[worker] }

// begin ends the step shown and shows the next one, of total operations.
func (p *progress) begin(title string, total int64) {
	p.end()
	for i := range p.counters {
		p.counters[i].Store(0)
	}
	if p.out == nil {
		return
	}
	p.stop = make(chan struct{})
	show, pace := p.lines(title, total), linePace
	if p.terminal {
		show, pace = p.bar(title, total), barPace
	}
	p.ticker.Go(func() {
		tick := time.NewTicker(pace)
		defer tick.Stop()
		for {
			select {
			case <-p.stop:
				show(true)
				return
			case <-tick.C:
				show(false)
			}
		}
	})
}

// end stops showing the step.
func (p *progress) end() {
	if p.stop == nil {
		return
	}
	close(p.stop)
	p.ticker.Wait()
	p.stop = nil
}

func (p *progress) done() (sum int64) {
	for i := range p.counters {
		sum += p.counters[i].Load()
	}
	return sum
}

// lines returns a function that prints a line, but none for a step that ends
// before its first line is due.
func (p *progress) lines(title string, total int64) func(last bool) {
	meter := newMeter(total)
	return func(last bool) {
		if last {
			return
		}
		done := p.done()
		fmt.Fprintf(p.out, "pilebench: %-12s %3d%%  %8s/s  %s left\n",
			title, percent(done, total), formatRate(meter.rate(done)), meter.left(done))
	}
}

// bar returns a function that redraws a bar, and at the end wipes it.
func (p *progress) bar(title string, total int64) func(last bool) {
	meter := newMeter(total)
	bar := progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(p.out),
		progressbar.OptionSetWidth(24),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetTheme(progressbar.ThemeASCII),
	)
	return func(last bool) {
		if last {
			_ = bar.Finish() // a terminal that went away is no reason to stop
			return
		}
		done := min(p.done(), total-1) // a full bar would count as finished
		bar.Describe(fmt.Sprintf("%-12s %7s/s %6s left", title, formatRate(meter.rate(done)), meter.left(done)))
		_ = bar.Set64(done)
	}
}

func percent(done, total int64) int64 { return min(100, 100*done/max(1, total)) }

// meter estimates the pace of a step.
type meter struct {
	total int64
	begun time.Time
}

func newMeter(total int64) *meter { return &meter{total, time.Now()} }

func (m *meter) rate(done int64) float64 {
	return float64(done) / max(1e-3, time.Since(m.begun).Seconds())
}

func (m *meter) left(done int64) string {
	rate := m.rate(done)
	if rate <= 0 || done >= m.total {
		return "–"
	}
	seconds := float64(m.total-done) / rate
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}
