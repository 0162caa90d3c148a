package cache

// notice is what OnRemove is told about: a copy of the entry.
type notice struct {
	cause   Cause // 0: nothing to tell
	payload []byte
	head    int
	keyLen  int
	code    uint16
	life    life
}

// noticeOf copies an entry that is about to be removed, if anybody wants to know. A pin is held.
func (t *core) noticeOf(f *found, cause Cause) notice {
	if t.removed == nil {
		return notice{}
	}
	return t.copyOf(f, cause)
}

func (t *core) copyOf(f *found, cause Cause) notice {
	return notice{
		cause: cause, payload: append([]byte(nil), f.payload...), head: f.head, keyLen: f.keyLen,
		code: f.rec.Code(), life: f.life(),
	}
}

// tellAll calls fn for every notice, also when it panics or exits the goroutine for some.
func tellAll(list []notice, fn func(notice)) {
	defer func() {
		if len(list) > 0 {
			tellAll(list, fn)
		}
	}()
	for len(list) > 0 {
		n := list[0]
		list = list[1:]
		fn(n)
	}
}

func (n *notice) key() []byte   { return n.payload[len(n.payload)-n.keyLen:] }
func (n *notice) value() []byte { return n.payload[n.head : len(n.payload)-n.keyLen] }

// takeOut removes the entry with the key and reports whether there was one that had not expired. With
// keep the notice holds a copy even if nobody listens. refused says that the condition did not hold.
func (t *core) takeOut(at place, key []byte, keep bool, cond condition) (n notice, ok, refused bool, err error) {
	e, err := t.p.PinWrite()
	if err != nil {
		return n, false, false, t.failed("remove", err)
	}
	var o outcome
	func() {
		defer e.Unpin()
		o, n, ok = t.tryTakeOut(at, key, keep, cond)
		if o.old != 0 {
			o.backlog = t.p.RetireSlot(o.old)
		}
	}()
	t.finish(at, &o)
	return n, ok, o.refused, nil
}

func (t *core) tryTakeOut(at place, key []byte, keep bool, cond condition) (o outcome, n notice, ok bool) {
	sh := at.shard
	sh.mu.Lock()
	defer sh.mu.Unlock()
	var s spot
	t.locate(&s, at, key)
	ok = s.found && !t.expired(&s.old)
	if !cond.holds(ok, &s.old) {
		return outcome{refused: true}, n, false
	}
	if !s.found {
		return o, n, false
	}
	cause := CauseRemoved
	if !ok {
		cause = CauseExpired
		sh.tally.expired++
	} else {
		sh.tally.removed++
	}
	o.notice = t.noticeOf(&s.old, cause)
	if keep && ok {
		if n = o.notice; n.cause == 0 {
			n = t.copyOf(&s.old, cause)
		}
	}
	t.unname(sh, &s)
	o.old = s.old.loc
	o.adapt = s.wantsShrink(t)
	t.watches.changed(key)
	return o, n, ok
}

// unname removes the entry of the spot from the index. The shard is locked, a pin held; then the
// caller retires the slot.
func (t *core) unname(sh *shard, s *spot) {
	t.remove(sh, s.lines, s.info, s.old.index, len(s.old.payload))
	t.release(len(s.old.payload))
}

// wantsShrink reports whether the segment is emptier than it should be, and large enough to matter.
func (s *spot) wantsShrink(t *core) bool {
	return !s.info.growing && int(s.info.used)*loadUnit < s.word.cells()*loadLow &&
		(s.word.buckets() > t.bucketsMin || s.word.depth() > t.depthMin)
}
