package main

import (
	"errors"

	"github.com/bigpile/bigpile/pile"
)

// staleChecked is how many handles of deleted values are tried again.
const staleChecked = 10_000

// remove deletes every value, one by one, then makes sure that they are gone,
// and gives the memory back for the chase.
func (v *values) remove() error {
	plan := v.b.plan
	v.b.progress.begin("delete", plan.n)
	measured, err := alternate(v.b, plan.fillRounds, side{name: "delete", work: func(t *task) (int64, error) {
		s := plan.roundSpan(t.round).part(t.worker, t.workers)
		return s.count, eachChunk(t, s, chunkValues, func(first int64, count int) error {
			for i := first; i < first+int64(count); i++ {
				handle := v.handles.get(i)
				if err := v.pile.Delete(pile.PilePointer(handle)); err != nil {
					v.judge("delete", i, handle, nil, err)
				}
			}
			return nil
		})
	}})
	if len(measured[0]) > 0 {
		v.b.report.add(row{op: "delete", rate: measured[0].rate(), allocs: known(measured[0].allocsPerOp())})
	}
	if err != nil {
		return err
	}
	v.checkGone()
	err = errors.Join(closePile(v.pile), v.handles.close())
	v.pile, v.handles = nil, nil
	return err
}

// checkGone counts deleted values that can still be read.
func (v *values) checkGone() {
	if left := v.pile.Stats().Objects; left != 0 {
		v.b.verdict.wrong.Add(1)
		v.b.verdict.describe("delete: the pile still counts " + formatCount(left) + " objects")
	}
	every := max(1, v.b.plan.n/staleChecked)
	for i := int64(0); i < v.b.plan.n; i += every {
		handle := v.handles.get(i)
		if b, err := v.pile.AppendBytes(nil, pile.PilePointer(handle)); err == nil {
			v.b.verdict.wrongValue("read after delete", i, handle, b)
		}
		v.b.verdict.checked.Add(1)
	}
}
