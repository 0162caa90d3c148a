package pile

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/bigpile/bigpile/segment"
	"github.com/bigpile/bigpile/serializer"
)

// Backing says where the memory of a pile comes from.
type Backing uint8

// The backings of a pile made with New.
const (
	// Anonymous memory is mapped from the system, outside the Go heap. The default.
	Anonymous Backing = iota
	// Heap memory is allocated from the Go runtime, without pointers, one slice a segment. It
	// counts as live heap, so the collector runs less often; the race detector sees inside.
	Heap
)

// AllocMode says what a Put tries first.
type AllocMode uint8

// The allocation modes.
const (
	// ReuseSpace fills the free slots of pages in use before it takes a free page. The default.
	ReuseSpace AllocMode = iota
	// FavorSpeed takes free pages first, until an eighth of the pages of a size class have free
	// slots. Neighbours in time are then neighbours in memory more often.
	FavorSpeed
)

// HugePages says when the memory of a pile is backed by huge pages, where the system has them.
type HugePages uint8

// The huge page modes.
const (
	// HugeAuto asks for huge pages from the second segment on, if segments have 64 MiB or more, and
	// collapses full segments into huge pages in the background. The default.
	HugeAuto HugePages = iota
	// HugeNever leaves the page size to the system.
	HugeNever
	// HugeAlways asks for huge pages from the start: memory is taken in steps of 2 MiB.
	HugeAlways
)

// SyncPolicy says when a pile on files is written back: SyncOnClose, SyncManual, or SyncEvery.
type SyncPolicy time.Duration

// The sync policies that are not an interval.
const (
	// SyncOnClose writes back when the pile is closed. The default.
	SyncOnClose SyncPolicy = 0
	// SyncManual writes back when Sync is called, and when the pile is closed.
	SyncManual SyncPolicy = -1
)

// SyncEvery writes back every d.
func SyncEvery(d time.Duration) SyncPolicy { return SyncPolicy(d) }

// Options configure a pile. The zero value works: an anonymous, unlimited pile.
type Options struct {
	// SegmentSize is the bytes of a segment, the step in which address space is taken: 1 MiB to
	// 1 GiB, a multiple of 64 KiB; 0 is 256 MiB. A smaller MaxMemory makes segments smaller.
	// It bounds MaxValueSize.
	SegmentSize int
	// MaxMemory bounds the bytes of all segments together; at least 1 MiB, 0 is unlimited.
	MaxMemory int64
	// MaxSegments bounds the number of segments; 0 is unlimited.
	MaxSegments int
	// Backing is where the memory comes from.
	Backing Backing
	// AllocMode is what a Put tries first.
	AllocMode AllocMode
	// HugePages is when huge pages are used.
	HugePages HugePages
	// Sync is when files are written back. Only for piles on files.
	Sync SyncPolicy
	// Checksums keeps 4 bytes a value that are verified on every read and by Check.
	Checksums bool
	// ReadOnly refuses changes. Only for piles on files.
	ReadOnly bool
	// Types are the types that values may have, with their codes; nil is a new registry. Two piles
	// may share one.
	Types *serializer.Registry
	// Logger receives what happens in the background; nil discards it.
	Logger *slog.Logger
	// Debug poisons freed slots, makes freed pages inaccessible for one grace period, and logs
	// at Close what was not deleted. It costs about a quarter of the put rate.
	Debug bool
}

const (
	segmentSizeDefault = 256 << 20
	segmentSizeMin     = 1 << 20
	segmentSizeMax     = 1 << 30
	memoryMin          = 1 << 20
)

// An optionError names the field, its value and the bound that it breaks.
func optionError(field string, value any, bound string) error {
	return fmt.Errorf("pile: option %s is %v, must be %s", field, value, bound)
}

// checked returns the options with defaults filled in.
func (o Options) checked() (Options, error) {
	if o.SegmentSize == 0 {
		o.SegmentSize = segmentSizeDefault
	}
	switch {
	case o.SegmentSize < segmentSizeMin || o.SegmentSize > segmentSizeMax || o.SegmentSize%segment.UnitSize != 0:
		return o, optionError("SegmentSize", o.SegmentSize, "0 or a multiple of 65536 from 1048576 (1 MiB) to 1073741824 (1 GiB)")
	case o.MaxMemory != 0 && o.MaxMemory < memoryMin:
		return o, optionError("MaxMemory", o.MaxMemory, "0 (unlimited) or at least 1048576 (1 MiB)")
	case o.MaxSegments < 0:
		return o, optionError("MaxSegments", o.MaxSegments, "0 (unlimited) or positive")
	case o.Backing > Heap:
		return o, optionError("Backing", o.Backing, "Anonymous or Heap")
	case o.AllocMode > FavorSpeed:
		return o, optionError("AllocMode", o.AllocMode, "ReuseSpace or FavorSpeed")
	case o.HugePages > HugeAlways:
		return o, optionError("HugePages", o.HugePages, "HugeAuto, HugeNever or HugeAlways")
	case o.Sync != SyncOnClose:
		return o, optionError("Sync", time.Duration(o.Sync), "0: a pile in memory has nothing to sync")
	case o.ReadOnly:
		return o, optionError("ReadOnly", o.ReadOnly, "false: a pile in memory starts empty")
	}
	if o.MaxMemory != 0 && o.MaxMemory < int64(o.SegmentSize) {
		o.SegmentSize = int(o.MaxMemory) &^ (segment.UnitSize - 1)
	}
	if o.Types == nil {
		o.Types = serializer.NewRegistry()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

// String returns the name of the backing.
func (b Backing) String() string { return name(int(b), "Backing", "Anonymous", "Heap") }

// String returns the name of the mode.
func (m AllocMode) String() string { return name(int(m), "AllocMode", "ReuseSpace", "FavorSpeed") }

// String returns the name of the mode.
func (h HugePages) String() string {
	return name(int(h), "HugePages", "HugeAuto", "HugeNever", "HugeAlways")
}

func name(i int, kind string, names ...string) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}
