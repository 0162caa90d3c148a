package main

import (
	"fmt"
	"reflect"
	"time"
)

// collapseWait bounds the wait for the pile's pages to be collapsed in the
// background; collapseStep is what the bare memory's are collapsed by.
const (
	collapseWait = 40 * time.Second
	collapsePoll = 500 * time.Millisecond
	collapseStep = 2 << 20
)

// evenPages gives the bare memory the share of huge pages that the pile has
// got, and says how large it is: with other pages the chase would compare the
// pages.
func (c *chase) evenPages() (string, error) {
	bareSize := int64(len(c.bare.memory))
	before, told := hugeMemory()
	if !told || c.v.b.backingOf().onHeap || bareSize < collapseStep {
		return "pages as the system gives them", nil
	}
	if c.v.b.huge == "auto" {
		var err error
		if before, err = c.awaitCollapse(); err != nil {
			return "", err
		}
		share := min(1, float64(before)/float64(max(1, c.pile.Stats().AllocatedBytes)))
		if err := c.collapseBare(int64(share * float64(bareSize))); err != nil {
			return "", err
		}
		after, _ := hugeMemory()
		return fmt.Sprintf("huge pages: pile %d %%, bare %d %%", int(100*share+0.5),
			percent(after-before, bareSize)), nil
	}
	return fmt.Sprintf("huge pages: %d %% of both together", percent(before, 2*bareSize)), nil
}

// awaitCollapse waits until the share of huge pages no longer grows.
func (c *chase) awaitCollapse() (int64, error) {
	c.v.b.progress.begin("huge pages", c.pile.Stats().AllocatedBytes)
	last, since := int64(-1), time.Now()
	for begun := time.Now(); time.Since(begun) < collapseWait; time.Sleep(collapsePoll) {
		if c.v.b.stopped.Load() {
			return 0, errInterrupted
		}
		now, _ := hugeMemory()
		c.v.b.progress.counter(0).Store(now)
		if now != last {
			last, since = now, time.Now()
		} else if time.Since(since) > 4*collapsePoll {
			break
		}
	}
	return max(0, last), nil
}

// collapseBare makes huge pages of the first bytes of bare memory. A page that
// cannot be made is left out; the share that was reached is printed.
func (c *chase) collapseBare(size int64) error {
	// A huge page begins at a multiple of its size, memory that is mapped may not.
	begin := -int64(reflect.ValueOf(c.bare.memory).Pointer()) & (collapseStep - 1)
	for at := begin; at+collapseStep <= min(begin+size, int64(len(c.bare.memory))); at += collapseStep {
		if c.v.b.stopped.Load() {
			return errInterrupted
		}
		collapse(c.bare.memory[at : at+collapseStep])
	}
	return nil
}
