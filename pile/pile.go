package pile

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bigpile/bigpile/segment"
)

// A Pile keeps values outside the sight of the garbage collector and hands out PilePointers to them.
// All methods may be called from any number of goroutines at the same time, also from inside
// callbacks. See docs/CONCURRENCY.md for what that guarantees.
type Pile struct {
	// Read by every call, hardly ever written: nothing that is written often may be near.
	opt     Options
	salt    uint32
	geo     *segment.Geometry
	space   *space      // no reference back: it must be reachable when the pile is not
	lanes   []lane      // a power of two
	closing atomic.Bool // new calls are refused
	frozen  atomic.Bool // writers wait: Check is looking

	quiesced atomic.Bool // no pin will ever be taken again
	done     chan struct{}
	cleanup  runtime.Cleanup
	_        [128]byte

	epochs  epochs
	hazards hazards
	centres [segment.ClassCount]centre
	updates [updateStripes]updateStripe

	grace     grace
	turn      atomic.Uint32 // the lane that is drained next although nobody used it
	checking  sync.RWMutex  // held by Check; writers that found frozen set wait for it
	frees     sync.RWMutex  // held shared from taking a batch of retired slots to having freed them
	room      sync.Mutex    // one goroutine at a time makes room
	scratches sync.Pool     // *scratch
	buffers   sync.Pool     // *[]byte, to encode into

	finish    sync.Once
	callbacks atomic.Int64          // iterations in progress
	tasks     sync.WaitGroup        // background goroutines
	firstErr  atomic.Pointer[error] // of unmapping
}

// laneSlotMax is the bytes of the largest slot that lanes keep pages for. Filling it takes less time
// than a lock hand-over.
const laneSlotMax = 2 << 10

// New returns an empty pile in memory. It fails when an option is out of bounds, naming field, value
// and bound. Memory is taken when it is first needed. Close the pile when it is no longer used; one
// that is forgotten is closed when the collector finds it, with a warning in the log.
func New(o Options) (*Pile, error) {
	o, err := o.checked()
	if err != nil {
		return nil, err
	}
	s, err := newSpace(o)
	if err != nil {
		return nil, err
	}
	p := &Pile{
		opt:   o,
		salt:  uint32(rand.Uint64()) & segment.GenerationMax,
		geo:   s.geo,
		space: s,
		lanes: make([]lane, laneCount(o)),
		done:  make(chan struct{}),
	}
	p.epochs.init()
	p.grace.epochs = &p.epochs
	p.cleanup = runtime.AddCleanup(p, forgotten.unmap, forgotten{s, p.done})
	return p, nil
}

// forgotten is what is left of a pile that nobody closed. It has no way back to the pile.
type forgotten struct {
	space *space
	done  chan struct{}
}

func (f forgotten) unmap() {
	log := f.space.opt.Logger
	log.Warn("pile: not closed before it became unreachable", "segments", len(f.space.segments()))
	if err := f.space.unmap(); err != nil {
		log.Error("pile: unmap", "error", err)
	}
	close(f.done)
}

// laneCount returns four lanes a P, rounded down to a power of two, so that a writer finds one free although others were preempted
// while they held theirs; fewer when MaxMemory is so small that the pages of idle lanes would count.
func laneCount(o Options) int {
	n := 4 * runtime.GOMAXPROCS(0)
	if o.MaxMemory > 0 {
		n = min(n, int(max(1, o.MaxMemory/(4<<20))))
	}
	return 1 << (bits.Len(uint(n)) - 1)
}

// MaxValueSize returns the bytes of the largest value: a segment less 64 KiB and a header.
func (p *Pile) MaxValueSize() int { return segment.RunCapacity(p.geo.Units - 1) }

// enter takes a pin, or fails when the pile is closing. reads is how many reads to count.
func (p *Pile) enter(reads uint64) (pin, error) {
	e := p.epochs.enter(reads)
	if p.closing.Load() {
		e.leave()
		return pin{}, ErrClosed
	}
	return e, nil
}

// enterWrite is enter for a call that will change headers or descriptors. Nothing is locked yet: while
// Check is looking it waits. Everything that belongs together, up to the counters, is done under one
// such pin, so that Check finds it done or not begun.
func (p *Pile) enterWrite() (pin, error) {
	for {
		e, err := p.enter(0)
		if err != nil || !p.frozen.Load() {
			return e, err
		}
		e.leave()
		p.checking.RLock() // until Check has ended
		//lint:ignore SA2001 waiting is all it is for
		p.checking.RUnlock()
	}
}

// found is where the payload of a value is. It is valid under the pin it was found under.
type found struct {
	seg    *segment.Segment
	mem    *segment.Memory
	offset int          // of the header over the payload
	word   segment.Word // that header

	location segment.Location // of the payload
	head     segment.Location // of the slot the handle names; the same unless it is a link
}

func (f *found) payload() []byte { return f.mem.Payload(f.offset, f.word) }

// head finds the slot that ptr names and returns its word, which is a value or a link (I8). The
// caller holds a pin.
func (p *Pile) head(ptr PilePointer) (seg *segment.Segment, offset int, w segment.Word, err error) {
	l := ptr.location()
	seg, unit := p.space.segment(l.Page())
	if seg == nil || ptr>>63 != 0 {
		return nil, 0, 0, p.bad(ptr)
	}
	offset, ok := seg.Locate(unit, l.Slot())
	if !ok {
		return nil, 0, 0, p.bad(ptr)
	}
	yield() // the page may be closed now
	w = seg.Memory().Load(offset)
	if w.Generation() != ptr.generation(p.salt) || !w.IsLink() && !w.Is(segment.Value) || w.Flags()&segment.InTable != 0 && !w.IsLink() {
		return nil, 0, 0, p.bad(ptr)
	}
	return seg, offset, w, nil
}

// find finds the payload that ptr leads to. The caller holds a pin.
func (p *Pile) find(ptr PilePointer) (f found, err error) {
	for {
		seg, offset, w, err := p.head(ptr)
		if err != nil {
			return found{}, err
		}
		l := ptr.location()
		if !w.IsLink() {
			return found{seg, seg.Memory(), offset, w, l, l}, nil
		}
		yield() // the link may be replaced now
		if f, ok := p.target(w.Target()); ok {
			f.head = l
			return f, nil
		}
		// The link was replaced meanwhile, and its target retired: look again.
	}
}

// target finds the slot that a link names; false when it is no target any more.
func (p *Pile) target(l segment.Location) (found, bool) {
	seg, unit := p.space.segment(l.Page())
	if seg == nil {
		return found{}, false
	}
	offset, ok := seg.Locate(unit, l.Slot())
	if !ok {
		return found{}, false
	}
	w := seg.Memory().Load(offset)
	return found{seg: seg, mem: seg.Memory(), offset: offset, word: w, location: l}, w.Is(segment.Target)
}

// bad says what is wrong with a handle that does not resolve: it names nothing that ever was, or
// something that is gone.
func (p *Pile) bad(ptr PilePointer) error {
	if !ptr.Valid() || int(ptr.location().Page()>>p.space.shift) >= len(*p.space.table.Load()) {
		return fmt.Errorf("%w: %v", ErrInvalidPointer, ptr)
	}
	return fmt.Errorf("%w: %v", ErrStalePointer, ptr)
}

// verify compares the payload with its checksum, if there are checksums.
func (p *Pile) verify(f *found, generation uint32) error {
	if !p.opt.Checksums {
		return nil
	}
	_, unit := p.space.segment(f.location.Page())
	want := f.seg.StoredSum(int(unit), f.location.Slot(), f.offset)
	payload := f.payload()
	if f.word.Flags()&segment.InTable != 0 {
		payload = summed(payload)
	}
	if got := segment.Sum(f.head, generation, payload); got != want {
		return fmt.Errorf("%w: page %d slot %d: checksum %08x, stored %08x",
			ErrCorrupt, f.location.Page(), f.location.Slot(), got, want)
	}
	return nil
}
