package pile

import (
	"context"
)

// Close ends the pile: every call from now on, and every one that has not got hold of its value yet,
// fails with ErrClosed. It waits for calls that hold a pin, which takes microseconds, and not for callbacks, so
// it may be called inside one. When the last View, GetMany or iteration has ended the memory is unmapped and Done is closed.
// A second call does nothing. The error is that of unmapping, if it happened during this call.
func (p *Pile) Close() error {
	if p.opt.Debug {
		p.logLeft()
	}
	if p.closing.Swap(true) {
		return nil
	}
	p.cleanup.Stop()
	p.lockLanes() // whoever got a lane before has filled its slot when it is unlocked
	p.unlockLanes()
	_ = p.grace.wait(context.Background(), p.grace.stamp()) // the background context does not end
	p.tasks.Wait()
	p.writeNotes()
	p.quiesced.Store(true)
	p.tryFinish()
	if err := p.firstErr.Load(); err != nil {
		return *err
	}
	return nil
}

// Done returns a channel that is closed after Close, when the last callback has returned and all
// memory is unmapped.
func (p *Pile) Done() <-chan struct{} { return p.done }

// callbackDone ends an iteration.
func (p *Pile) callbackDone() {
	p.callbacks.Add(-1)
	if p.quiesced.Load() {
		p.tryFinish()
	}
}

// tryFinish unmaps everything if no callback and no hazard is left. It is called after quiesced was
// set, by Close and then by whoever ends a callback: one of them is the last.
func (p *Pile) tryFinish() {
	if p.callbacks.Load() != 0 || p.hazards.count() != 0 {
		return
	}
	p.finish.Do(func() {
		if err := p.space.unmap(); err != nil {
			p.opt.Logger.Error("pile: close", "error", err)
			p.firstErr.Store(&err)
		}
		close(p.done)
	})
}
