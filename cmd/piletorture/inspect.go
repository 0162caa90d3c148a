package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/bigpile/bigpile/pile"
)

// inspect waits until no worker is inside a step and compares everything: Check, counters, table, All.
// Then, when told to, it purges the pile.
func (t *torture) inspect(purge bool) {
	t.quiet.Lock()
	defer t.quiet.Unlock()
	t.checks.Add(1)
	if err := t.p.Check(context.Background()); err != nil {
		t.wrongValue("Check", 0, "no problem", err.Error())
	}
	live := map[pile.PilePointer]*object{}
	var bytes int64
	for i := range t.cells {
		o := t.cells[i].now.Load()
		if o == nil {
			continue
		}
		live[o.ptr] = o
		b, err := t.p.GetBytes(o.ptr)
		if err != nil {
			t.missed("GetBytes at rest", o, err)
			continue
		}
		bytes += int64(len(b))
		t.verify("GetBytes at rest", o, o.settled.Load(), b)
	}
	if s := t.p.Stats(); s.Objects != int64(len(live)) || s.Bytes != bytes {
		t.wrongValue("Stats", 0, fmt.Sprintf("%d objects, %d bytes", len(live), bytes), fmt.Sprintf("%d, %d", s.Objects, s.Bytes))
	}
	n := 0
	for ptr := range t.p.All() {
		if n++; live[ptr] == nil {
			t.wrongValue("All at rest", ptr, "live handles", "another")
		}
	}
	if n != len(live) {
		t.wrongValue("All at rest", 0, fmt.Sprint(len(live), " handles"), fmt.Sprint(n))
	}
	if purge {
		t.purge()
	}
}

// purge empties pile and table; the long view in progress goes on.
func (t *torture) purge() {
	t.buriedMu.Lock()
	defer t.buriedMu.Unlock()
	for i := range t.cells {
		if o := t.cells[i].now.Load(); o != nil {
			o.dying.Store(true)
			t.cells[i].now.Store(nil)
			if len(t.buried) < 50_000 {
				t.buried = append(t.buried, o.ptr)
			}
		}
	}
	if err := t.p.Purge(); err != nil {
		t.wrongValue("Purge", 0, "success", err.Error())
	}
	if s := t.p.Stats(); s.Objects != 0 || s.Bytes != 0 || s.Links != 0 {
		t.wrongValue("Stats after Purge", 0, "nothing left", fmt.Sprintf("%+v", s))
	}
}

// finish tries every dead handle once more and closes the pile.
func (t *torture) finish() {
	for _, ptr := range t.buried {
		if _, err := t.p.GetBytes(ptr); !errors.Is(err, pile.ErrStalePointer) && !errors.Is(err, pile.ErrInvalidPointer) {
			t.wrongValue("GetBytes at the end", ptr, "a dead handle's error", fmt.Sprint(err))
		}
	}
	if err := t.p.Close(); err != nil {
		t.wrongValue("Close", 0, "success", err.Error())
	}
	<-t.p.Done()
}
