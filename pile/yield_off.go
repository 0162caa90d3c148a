//go:build !bigpile_yield

package pile

// yield marks the windows in which goroutines race. With the build tag bigpile_yield it gives the
// processor away now and then, so that the torture program meets every interleaving often; without,
// it is nothing.
func yield() {}
