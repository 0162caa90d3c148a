//go:build !linux

package segment

import "os"

func doNotDump([]byte) {}

// Without a call that touches pages in bulk they come when they are first stored to.
func populate([]byte) error { return nil }

func discard([]byte) (bool, error) { return false, nil }

func protect([]byte, bool) error { return nil }

func preferHuge([]byte) error { return ErrNoHugePages }

func collapse([]byte) error { return ErrNoHugePages }

func reserve(f *os.File, size int64) error { return writeZeros(f, size) }
