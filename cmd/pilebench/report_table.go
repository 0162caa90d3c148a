package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// tableWidth is what the report keeps within, a common terminal.
const tableWidth = 80

// table prints the report for people.
func (r *report) table(w io.Writer) error {
	var out bytes.Buffer
	out.WriteString("\n")
	wrap(&out, "", "pilebench: "+r.title())
	wrap(&out, "", r.machineLine())
	if r.interrupted {
		out.WriteString("INTERRUPTED: what follows was measured until then\n")
	}
	out.WriteString("\n")
	r.writeRows(&out)
	out.WriteString("\n")
	for _, line := range r.footer() {
		wrap(&out, fmt.Sprintf("%-10s", line.name), line.text)
	}
	_, err := w.Write(out.Bytes())
	return err
}

func (r *report) machineLine() string {
	m := r.machine
	parts := []string{m.goVersion, m.platform, m.processor, fmt.Sprintf("GOMAXPROCS %d", m.processors)}
	if m.commit != "" {
		parts = append(parts, "commit "+m.commit)
	}
	return strings.Join(parts, ", ")
}

// writeRows prints the table proper.
func (r *report) writeRows(out *bytes.Buffer) {
	past := r.config.ancestor()
	grid := [][]string{{"operation", "a second", "compared to", "ratio", "min–max", "allocs", "B/value", "ancestor"}}
	for _, one := range r.rows {
		cells := []string{r.label(one.op), formatRate(one.rate), "", "", "", "", "", ""}
		if one.against != "" {
			cells[2], cells[3] = one.against, fmt.Sprintf("%.2f", one.ratio.median)
			cells[4] = fmt.Sprintf("%.2f–%.2f", one.ratio.low, one.ratio.high)
		}
		if one.allocs != nil {
			cells[5] = fmt.Sprintf("%.2f", *one.allocs)
		}
		if one.bytes > 0 {
			cells[6] = fmt.Sprintf("%.2f", one.bytes)
		}
		if rate := past.rate[one.op]; rate > 0 {
			cells[7] = formatRate(rate)
		}
		grid = append(grid, cells)
	}
	if r.alive != nil {
		gc, before := r.alive.gc.full, ""
		if past.fullGC > 0 {
			before = fmt.Sprintf("< %d ms", past.fullGC.Milliseconds())
		}
		around := fmt.Sprintf("%.2f–%.2f", gc.low*1e3, gc.high*1e3)
		grid = append(grid, []string{"full GC", millis(gc.median), "", "", around, "", "", before})
	}
	writeGrid(out, grid)
}

// writeGrid lays cells out in columns two spaces apart: words to the left,
// numbers to the right, a dash for what there is none of.
func writeGrid(out *bytes.Buffer, grid [][]string) {
	words := map[int]bool{0: true, 2: true}
	widths := make([]int, len(grid[0]))
	for _, cells := range grid {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell), 1)
		}
	}
	for _, cells := range grid {
		line := ""
		for i, cell := range cells {
			if cell == "" {
				cell = "–"
			}
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if words[i] {
				line += cell + pad + "  "
			} else {
				line += pad + cell + "  "
			}
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// label names an operation in the table.
func (r *report) label(op string) string {
	switch op {
	case "put-batch":
		return fmt.Sprintf("put by %d", batchSize)
	case "random-get":
		return "get chased"
	case "get":
		return "get random"
	case "get-batch":
		return fmt.Sprintf("get by %d", getBatch)
	case "view":
		return "view random"
	case "hot-get-1":
		return "hot get ×1"
	case "hot-get":
		return fmt.Sprintf("hot get ×%d", r.config.goroutines)
	case "read-back":
		return "read back"
	case "fill":
		return "fill growing"
	case "fill-presized":
		return "fill presized"
	case "overwrite-batch":
		return fmt.Sprintf("overwrite by %d", getBatch)
	}
	return op
}

// footLine is a named line below the table.
type footLine struct {
	name, text string
}

func (r *report) footer() (lines []footLine) {
	lines = append(lines, r.aliveLines()...)
	if r.filled > 0 {
		lines = append(lines, footLine{"fill", fmt.Sprintf("%s values put in %.1f s",
			formatCount(r.filled), r.fillTime.Seconds())})
	}
	if r.making > 0 {
		lines = append(lines, footLine{"making", fmt.Sprintf("the values alone, put nowhere: %s/s", formatRate(r.making))})
	}
	if text := r.processorText(); text != "" {
		lines = append(lines, footLine{"processor", text})
	}
	lines = append(lines, footLine{"rounds", r.roundsText()})
	if r.chase != "" {
		lines = append(lines, footLine{"chase", r.chase})
	}
	for _, note := range r.plan.notes {
		lines = append(lines, footLine{"note", note})
	}
	return append(lines, footLine{"verified", fmt.Sprintf("%s values read, %d wrong, %d lost; %.0f s in all",
		formatCount(r.checked), r.wrong, r.lost, r.elapsed.Seconds())})
}

// processorText says what the operations cost whatever else the machine does.
func (r *report) processorText() string {
	var parts []string
	for _, one := range r.rows {
		if one.cpu > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", one.op, one.cpu.Nanoseconds()))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "nanoseconds of processor time an operation, the collector included: " + strings.Join(parts, ", ")
}

// aliveLines are the figures taken with everything alive.
func (r *report) aliveLines() []footLine {
	a := r.alive
	if a == nil {
		return nil
	}
	size := fmt.Sprintf("%.2f bytes a value in the pile's segments; %.2f by the growth of resident memory, "+
		"everything counted", a.allocatedPer, a.residentPer)
	if past := r.config.ancestor().bytesPerValue; past > 0 {
		size += fmt.Sprintf("; ancestor %.1f", past)
	}
	return []footLine{
		{"size", size},
		{"collector", fmt.Sprintf("full collection %s, median of %d with %s values alive; mark CPU %s each; "+
			"longest pause ≤ %s in these, ≤ %s in the whole run",
			millis(a.gc.full.median), a.gc.full.count, formatCount(a.objects), formatMillis(a.gc.markCPU),
			formatMillis(a.gc.maxPause), formatMillis(r.maxPause))},
		{"resident", fmt.Sprintf("%s, of which %s are the benchmark's own handles; segments: %d",
			formatSize(a.resident), formatSize(a.handles), a.segments)},
	}
}

func (r *report) roundsText() string {
	if r.roundsNote != "" {
		return r.roundsNote
	}
	if r.config.workload == workloadCache {
		return fmt.Sprintf("of %s reads, of all entries in fills and overwrites; the first of each discarded",
			formatCount(r.plan.readOps))
	}
	text := fmt.Sprintf("of %s, sides alternating, the first of each discarded; ratio: median of the rounds",
		formatSize(int64(float64(r.plan.roundPuts)*r.plan.stride)))
	if r.config.history == historyRecycled {
		return text + "; memory recycled: the pile's values deleted, the bare buffer written again"
	}
	return text + "; memory fresh on both sides, committed 64 KiB at a time"
}

func millis(seconds float64) string { return fmt.Sprintf("%.2f ms", seconds*1e3) }

// wrap writes a line with words kept within the width, the rest below the
// first.
func wrap(out *bytes.Buffer, head, text string) {
	column := utf8.RuneCountInString(head)
	indent := strings.Repeat(" ", column)
	out.WriteString(head)
	at := column
	for i, word := range strings.Fields(text) {
		width := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+width > tableWidth:
			out.WriteString("\n" + indent)
			at = column
		default:
			out.WriteString(" ")
			at++
		}
		out.WriteString(word)
		at += width
	}
	out.WriteString("\n")
}
