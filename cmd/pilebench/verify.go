package main

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// verdict counts the values read back and those that were not what was put.
type verdict struct {
	checked, wrong, lost atomic.Int64

	mu    sync.Mutex
	first []string // a few, described, guarded by mu
}

// verdictShown is how many faults are described; more would tell no more.
const verdictShown = 5

// ok reports whether every value read so far was right.
func (v *verdict) ok() bool { return v.wrong.Load() == 0 && v.lost.Load() == 0 }

// wrongValue counts a value that is not value i.
func (v *verdict) wrongValue(op string, i int64, handle uint64, b []byte) {
	v.wrong.Add(1)
	v.describe(fmt.Sprintf("%s: value %d (handle %#x) reads %d bytes %.40q", op, i, handle, len(b), b))
}

// lostValue counts a value that cannot be read.
func (v *verdict) lostValue(op string, i int64, handle uint64, err error) {
	v.lost.Add(1)
	v.describe(fmt.Sprintf("%s: value %d (handle %#x): %v", op, i, handle, err))
}

func (v *verdict) describe(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.first) < verdictShown {
		v.first = append(v.first, text)
	}
}

// faults returns the descriptions kept.
func (v *verdict) faults() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string(nil), v.first...)
}
