package pile_test

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"strings"
)

// heapSpan is how far from any Go object the arenas of the Go heap may reach; mappings are much farther away.
const heapSpan = 1 << 37

// anonymousBytes adds up the writable anonymous mappings of this process outside the arenas of the Go heap.
// A segment that was not unmapped shows here whatever the library's own figures say; so do stacks of threads,
// 8 MiB each.
func anonymousBytes() (int64, bool) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return 0, false
	}
	defer f.Close()
	heap := uint64(reflect.ValueOf(new([64]byte)).Pointer())
	var sum int64
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) != 5 || fields[4] != "0" || fields[1] != "rw-p" { // a sixth field is a path, an inode a file
			continue
		}
		var from, to uint64
		if _, err := fmt.Sscanf(fields[0], "%x-%x", &from, &to); err != nil {
			return 0, false
		}
		if from+heapSpan > heap && from < heap+heapSpan {
			continue
		}
		sum += int64(to - from)
	}
	return sum, true
}
