//go:build race

package cache_test

// raceEnabled makes the loops shorter: the race detector slows them about tenfold.
const raceEnabled = true
