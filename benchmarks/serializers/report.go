package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"
)

func printJSON(w io.Writer, results []result) error {
	enc := json.NewEncoder(w)
	for _, r := range results {
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// printTable prints the results for people: nanoseconds, the median and the lowest and highest of the rounds.
func printTable(w io.Writer, results []result, rounds int) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s %s/%s, GOMAXPROCS %d, %d rounds, codecs in turn; ns: %s\n", runtime.Version(), runtime.GOOS,
		runtime.GOARCH, runtime.GOMAXPROCS(0), rounds, clockName)
	value := ""
	grid := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, r := range results {
		if r.Value != value {
			value = r.Value
			fmt.Fprintf(grid, "\n%s\tbytes\tencode\tmin–max\tallocs\t× graph\tdecode\tmin–max\tallocs\t× graph\t\n", value)
		}
		fmt.Fprintf(grid, "%s\t%.0f\t", r.Codec, r.Bytes)
		for _, f := range []figure{r.Encode, r.Decode} {
			fmt.Fprintf(grid, "%.0f\t%.0f–%.0f\t%.0f\t%.2f\t", f.Median, f.Low, f.High, f.Allocs, f.Slower)
		}
		fmt.Fprintln(grid)
	}
	if err := grid.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	for _, line := range verdicts(results) {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintln(out, "every value that was decoded is what was encoded")
	return out.Flush()
}

// verdicts compares the graph codec with the best of those that take any type, and with generated code.
func verdicts(results []result) (lines []string) {
	for _, graph := range results {
		if graph.Codec != nameGraph {
			continue
		}
		var encode, decode, size, msgp *result
		for i := range results {
			r := &results[i]
			switch {
			case r.Value != graph.Value || r.Codec == nameGraph || r.Codec == nameGobStream:
			case r.Codec == nameMsgp:
				msgp = r
			default:
				if encode == nil || r.Encode.Slower < encode.Encode.Slower {
					encode = r
				}
				if decode == nil || r.Decode.Slower < decode.Decode.Slower {
					decode = r
				}
				if size == nil || r.Bytes < size.Bytes {
					size = r
				}
			}
		}
		if encode == nil || msgp == nil {
			lines = append(lines, fmt.Sprintf("%s: none of the others can hold it", graph.Value))
			continue
		}
		lines = append(lines, fmt.Sprintf("%s: graph encodes %.1f times as fast as the fastest other (%s), decodes %.1f times as "+
			"fast (%s), bytes %.2f of the shortest (%s); against msgp's code its time is %.2f and %.2f, its bytes %.2f",
			graph.Value, encode.Encode.Slower, encode.Codec, decode.Decode.Slower, decode.Codec, graph.Bytes/size.Bytes, size.Codec,
			1/msgp.Encode.Slower, 1/msgp.Decode.Slower, graph.Bytes/msgp.Bytes))
	}
	return lines
}
