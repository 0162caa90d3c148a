//go:build bigpile_yield

package pile

import (
	"math/rand/v2"
	"runtime"
)

// yield gives the processor away once in 16 calls; see yield_off.go.
func yield() {
	if rand.Uint32()%16 == 0 {
		runtime.Gosched()
	}
}
