package pile

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
)

// notes are log records that were due while a pin or a lock was held. A log handler is user code, so
// they are written later, by a call that holds neither (I24).
type notes struct {
	any  atomic.Bool
	mu   sync.Mutex // guards list
	list []note
}

type note struct {
	level slog.Level
	text  string
	args  []any
}

// note keeps a record for writeNotes.
func (n *notes) note(level slog.Level, text string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, note{level, text, args})
	n.any.Store(true)
}

// writeNotes writes what was kept. The caller holds neither pin nor lock.
func (p *Pile) writeNotes() {
	n := &p.space.notes
	if !n.any.Load() {
		return
	}
	n.mu.Lock()
	list := n.list
	n.list = nil
	n.any.Store(false)
	n.mu.Unlock()
	for _, r := range list {
		p.opt.Logger.Log(context.Background(), r.level, r.text, r.args...)
	}
}
