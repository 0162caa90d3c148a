package cache

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/bigpile/bigpile/pile"
)

// draft is an entry that is about to be put: its slot is filled and published, and not named yet.
type draft struct {
	room pile.Room
	life life
	size int // of the payload
	due  int64
}

// newDraft takes a slot for an entry and writes everything but the value, whose place it returns.
func (t *core) newDraft(key []byte, valueLen int, l life) (d draft, value []byte, err error) {
	head := l.head(len(key))
	d = draft{life: l, size: head + valueLen + len(key), due: l.due(t.age)}
	if d.room, err = t.p.TakeRoom(d.size); err != nil {
		return d, nil, t.failed("put", err)
	}
	b := d.room.Bytes()
	l.write(b, len(key))
	copy(b[head+valueLen:], key)
	return d, b[head : head+valueLen : head+valueLen], nil
}

// publish publishes the slot of the draft.
func (t *core) publish(d *draft, code uint16) error {
	if err := t.p.PublishRoom(&d.room, code); err != nil {
		t.p.LeaveRoom(&d.room)
		return t.failed("put", err)
	}
	return nil
}

// abandon gives the slot of a published draft back.
func (t *core) abandon(d *draft) {
	if t.p.PinRoom(&d.room) != nil {
		t.p.LeaveRoom(&d.room)
		return
	}
	b := t.p.RetireSlot(d.room.Location())
	t.p.LeaveRoom(&d.room)
	t.p.Drain(b)
}

// condition is what has to hold of a key, under the lock of its shard, for a change to be made. The
// zero condition always holds.
type condition struct {
	is  conditionKind
	loc pile.Location // isEntryAt: the entry that is to be there
}

type conditionKind uint8

const (
	isWhatever conditionKind = iota
	isAbsent                 // no live entry
	isEntryAt                // the live entry at loc
)

// holds reports whether the condition holds for what was found; live says that it has not expired.
func (c condition) holds(live bool, old *found) bool {
	switch c.is {
	case isAbsent:
		return !live
	case isEntryAt:
		return live && old.loc == c.loc
	}
	return true
}

// outcome is what came of a put.
type outcome struct {
	result  PutResult
	refused bool // by the condition
	notice  notice
	old     pile.Location // to be retired; 0 is none
	backlog pile.Backlog
	adapt   bool
	wake    bool
	due     int64
}

// put names the draft in the index, if the condition agrees. The draft is used up in any case, and
// removals are told.
func (t *core) put(at place, key []byte, d *draft, cond condition) (outcome, error) {
	for tries := 0; ; tries++ {
		if err := t.p.PinRoom(&d.room); err != nil {
			t.p.LeaveRoom(&d.room)
			return outcome{}, t.failed("put", err)
		}
		o, err := t.tryPut(at, key, d, cond)
		if err == nil {
			t.settle(d, &o)
			t.finish(at, &o)
			return o, nil
		}
		t.p.UnpinRoom(&d.room)
		if errors.Is(err, errNeedsGrowth) {
			if err = t.adapt(at); err == nil {
				pause(tries) // somebody else is at it, perhaps
				continue
			}
			err = t.failed("put", err)
		}
		if errors.Is(err, ErrTableFull) && tries == 0 && t.sweepDue(sweepAll) > 0 {
			continue
		}
		t.abandon(d)
		return outcome{}, err
	}
}

// settle retires what the put left behind, the old entry or the draft, and leaves the room.
func (t *core) settle(d *draft, o *outcome) {
	old := o.old
	if o.refused {
		old = d.room.Location()
	}
	if old != 0 {
		o.backlog = t.p.RetireSlot(old)
	}
	t.p.LeaveRoom(&d.room)
}

// pause lets others run, longer the more often it did not help.
func pause(tries int) {
	if tries < 64 {
		runtime.Gosched()
		return
	}
	time.Sleep(50 * time.Microsecond)
}

// errNeedsGrowth says that a segment has no free cell.
var errNeedsGrowth = errors.New("cache: segment is full")

// tryPut is one attempt of put under the lock of the shard. A pin is held.
func (t *core) tryPut(at place, key []byte, d *draft, cond condition) (o outcome, err error) {
	sh := at.shard
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.gone {
		return o, fmt.Errorf("%w: %q", ErrDropped, t.name)
	}
	var s spot
	t.locate(&s, at, key)
	live := s.found && !t.expired(&s.old)
	if !cond.holds(live, &s.old) {
		return outcome{refused: true}, nil
	}
	if !s.found && s.isFull() {
		return o, errNeedsGrowth
	}
	if err := t.admit(&s, d); err != nil {
		return o, err
	}
	if s.found {
		o.result = Replaced
		o.notice = t.noticeOf(&s.old, CauseReplaced)
		if !live {
			o.result, o.notice.cause = Inserted, CauseExpired
			sh.tally.expired++
		}
		t.replace(at, &s, d.room.Location(), d.due, d.size)
		sh.tally.replaced++
		o.old = s.old.loc
	} else {
		o.result = Inserted
		t.insert(at, &s, d.room.Location(), d.due, d.size)
		sh.tally.inserted++
		o.adapt = wantsGrowth(s.word, s.info) && !s.info.growing
	}
	o.wake = d.due < t.c.sweeper.next.Load()
	o.due = d.due
	t.watches.changed(key)
	return o, nil
}

// finish does what a put, a removal or a sweep left to be done without pin and lock.
func (t *core) finish(at place, o *outcome) {
	t.p.Drain(o.backlog)
	if o.adapt {
		// Without room the segment stays fuller than it should be.
		_ = t.adapt(at)
	}
	if o.wake {
		t.c.sweeper.wake(t.c, o.due)
	}
	if o.notice.cause != 0 && t.removed != nil {
		t.removed(o.notice)
	}
}

// failed says what was being done when the pile refused.
func (t *core) failed(what string, err error) error {
	return fmt.Errorf("cache: table %q: %s: %w", t.name, what, err)
}
