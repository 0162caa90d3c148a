//go:build race

package pile_test

// raceEnabled makes the loops shorter: the race detector slows them about tenfold.
const raceEnabled = true
