//go:build !linux

package pile_test

// anonymousBytes is not known on this system; tests that need it are skipped.
func anonymousBytes() (int64, bool) { return 0, false }
