package pile_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// anonymousBytes adds up the private anonymous mappings of this process outside the arenas of the Go heap
// (which start at 0xc000000000 on every 64-bit Linux). A segment that was not unmapped shows here whatever
// the library's own figures say.
func anonymousBytes() (int64, bool) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return 0, false
	}
	defer f.Close()
	var sum int64
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) != 5 || fields[4] != "0" { // a sixth field is a path, an inode a file
			continue
		}
		var from, to uint64
		if _, err := fmt.Sscanf(fields[0], "%x-%x", &from, &to); err != nil {
			return 0, false
		}
		if from>>32 >= 0xc0 && from>>32 < 0x1c0 {
			continue
		}
		sum += int64(to - from)
	}
	return sum, true
}
