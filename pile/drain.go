package pile

import (
	"context"
	"slices"
	"time"
)

// roomWait bounds how long a Put that found no room waits for a grace period. A grace period waits for
// library code only, so it takes this long only when the machine is so busy that a goroutine under a
// pin is not run.
const roomWait = 5 * time.Second

// drain frees what the lane has retired, and what the next lane in turn has, as far as grace periods
// allow without waiting: so lanes that nobody uses any more are drained too, while anybody deletes.
// The caller holds neither pin nor lock.
func (p *Pile) drain(l *lane) {
	defer p.writeNotes()
	p.drainLane(l)
	p.holdBack(l)
	next := &p.lanes[p.turn.Add(1)&uint32(len(p.lanes)-1)]
	if next != l && next.waiting.Load() {
		next.mu.Lock()
		next.seal(p.grace.stamp())
		next.mu.Unlock()
		p.drainLane(next)
	}
}

// holdBack waits for a grace period when much is retired in the lane and none has passed: what waits to
// be reused is bounded, also when goroutines that hold pins get no processor.
func (p *Pile) holdBack(l *lane) {
	l.mu.Lock()
	wait := len(l.sealed) > batchesMax
	var stamp uint64
	if wait {
		stamp = l.sealed[0].stamp
	}
	l.mu.Unlock()
	if !wait {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), roomWait)
	defer cancel()
	if p.grace.wait(ctx, stamp) == nil {
		p.drainLane(l)
	}
}

func (p *Pile) drainLane(l *lane) {
	for p.drainBatch(l) {
	}
}

// drainBatch frees the oldest batch of the lane, if its grace period has passed.
func (p *Pile) drainBatch(l *lane) bool {
	p.frees.RLock()
	defer p.frees.RUnlock()
	b, ok := p.popBatch(l)
	if ok {
		p.free(b.entries)
	}
	return ok
}

func (p *Pile) popBatch(l *lane) (b batch, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.sealed) == 0 {
		return b, false
	}
	b = l.sealed[0]
	if p.grace.advance(b.stamp); !p.grace.passed(b.stamp) {
		return b, false
	}
	l.sealed = slices.Delete(l.sealed, 0, 1)
	l.due.Store(len(l.sealed) > 0)
	l.waiting.Store(len(l.sealed) > 0 || len(l.retired.entries) > 0)
	return b, true
}

// idle reports whether nothing waits for a grace period.
func (p *Pile) idle() bool {
	for i := range p.lanes {
		if p.lanes[i].waiting.Load() {
			return false
		}
	}
	return true
}

// drainNow frees what every lane has retired as far as that is possible without waiting.
func (p *Pile) drainNow() {
	for i := range p.lanes {
		l := &p.lanes[i]
		if !l.waiting.Load() {
			continue
		}
		l.mu.Lock()
		l.seal(p.grace.stamp())
		l.mu.Unlock()
		p.drainLane(l)
	}
}

// drainAll frees everything that was retired before the call, waiting for grace periods until ctx is
// done. What a hazard names stays.
func (p *Pile) drainAll(ctx context.Context) error {
	p.frees.RLock()
	defer p.frees.RUnlock()
	taken, stamp := p.takeRetired()
	if len(taken) == 0 {
		return nil
	}
	if err := p.grace.wait(ctx, stamp); err != nil {
		l := p.anyLane()
		l.sealed = append(l.sealed, batch{entries: taken, stamp: stamp})
		l.due.Store(true)
		l.waiting.Store(true)
		l.mu.Unlock()
		return err
	}
	p.free(taken)
	return nil
}

// takeRetired takes everything that is retired out of the lanes, and the period that covers it.
func (p *Pile) takeRetired() (taken []uint64, stamp uint64) {
	for i := range p.lanes {
		l := &p.lanes[i]
		l.mu.Lock()
		l.seal(p.grace.stamp())
		for _, b := range l.sealed {
			taken = append(taken, b.entries...)
			stamp = max(stamp, b.stamp)
		}
		l.sealed = nil
		l.due.Store(false)
		l.waiting.Store(false)
		l.mu.Unlock()
	}
	return taken, stamp
}
