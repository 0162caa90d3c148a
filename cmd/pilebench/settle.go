package main

// settle takes the memory of the run once and gives it back. Under a hypervisor
// a page that the machine has never used costs about ten times as much as one
// that it has: without this, whichever side came to such pages first would look
// slow, and a second run would look faster than the first.
func settle(b *bench) error {
	memory, err := mapMemory(b.plan.settle)
	if err != nil {
		return err
	}
	b.progress.begin("settle", int64(len(memory)))
	err = inParallel(b, func(t *task) error {
		steps := span{0, int64(len(memory)) / commitStep}.part(t.worker, t.workers)
		for i := steps.first; i < steps.end(); i++ {
			commit(memory[i*commitStep : (i+1)*commitStep])
			if err := t.step(commitStep); err != nil {
				return err
			}
		}
		return nil
	})
	return firstError([]error{err, memory.Unmap()})
}
