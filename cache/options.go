package cache

import (
	"fmt"
	"log/slog"
	"time"
)

// Unlimited, as a limit, says that there is none.
const Unlimited = -1

// Never, as an age, says that an entry does not grow old.
const Never time.Duration = -1

// Mode says what a table promises.
type Mode uint8

// The modes. Zero takes the next outer setting; the outermost is Durable.
const (
	// Durable tables keep what was stored until it is removed or expires.
	Durable Mode = iota + 1
	// Speculative tables may overwrite or evict an entry at any time. Not in this version.
	Speculative
)

// WhenFull says what a table does at its limit.
type WhenFull uint8

// What a full table does. Zero takes the next outer setting; the outermost is Reject.
const (
	// Evict removes other entries. Not in this version.
	Evict WhenFull = iota + 1
	// Reject refuses the new entry with ErrTableFull.
	Reject
)

// Options configure a cache. The zero value works.
type Options struct {
	// OwnPile makes Close of the cache close the pile, too.
	OwnPile bool
	// Defaults are the settings of tables that do not say otherwise.
	Defaults TableConfig
	// Tables are settings by the name of the table; what they leave zero is taken from Defaults.
	Tables map[string]TableConfig
	// Logger receives what happens in the background; nil discards it.
	Logger *slog.Logger
}

// TableConfig is what can be set of a table. A zero field takes the next outer setting: that of
// OpenTable, then Options.Tables, then Options.Defaults, then the default named here.
type TableConfig struct {
	// Mode is what the table promises. Default Durable.
	Mode Mode
	// MaxEntries bounds the entries. Default Unlimited.
	MaxEntries int
	// MaxBytes bounds the bytes of the entries' slots and of the index. Default Unlimited.
	MaxBytes int64
	// WhenFull is what happens at a limit. Default Reject.
	WhenFull WhenFull
	// DefaultMaxAge is how long an entry lives that does not say. Default Never.
	DefaultMaxAge time.Duration
	// NegativeMaxAge is how long GetOrPut is to remember ErrNotFound. This version does not
	// remember it: a value other than zero and Never is refused with ErrUnsupported.
	NegativeMaxAge time.Duration
	// InitialCapacity makes room in the index for that many entries from the start.
	InitialCapacity int
	// MinCapacity keeps the index from shrinking below room for that many entries.
	MinCapacity int
	// GrowthFactor, ShrinkFactor, LoadFactorLow and LoadFactorHigh are those of other caches: the
	// index of this one grows in quarter steps at a load of 0.84, and shrinks below 0.37. They
	// are checked, and have no effect in this version.
	GrowthFactor, ShrinkFactor, LoadFactorLow, LoadFactorHigh float64
	// DetailedMetrics counts hits and misses, for one more atomic add a read.
	DetailedMetrics bool
}

// TableOptions are the options of OpenTable.
type TableOptions[K comparable, V any] struct {
	TableConfig
	// Fold maps keys that are to be the same to one of them, as strings.ToLower does. The folded
	// key is stored and returned.
	Fold func(K) K
	// FoldID names Fold. Opening a table that exists with another FoldID is ErrTableMismatch.
	FoldID string
	// OnRemove is called once for each entry that leaves the table: in the goroutine that caused
	// it, after its locks; for what the sweeper removes, in the sweeper. It may do anything with
	// the table. It is not called for what Close leaves behind.
	OnRemove func(Removal[K, V])
}

// PutOptions say how long an entry lives, and what it is worth.
type PutOptions struct {
	// MaxAge is how long the entry lives; 0 is the table's DefaultMaxAge, Never without end, as
	// is the greatest Duration. It is kept to the nanosecond and holds to the millisecond.
	MaxAge time.Duration
	// ExpiresAt is when the entry ends at the latest; zero is no such time. With both, the
	// earlier one counts. An entry whose time is over already is stored, and expired.
	ExpiresAt time.Time
	// Priority is kept with the entry.
	Priority int8
}

// over returns c with what it leaves zero taken from outer.
func (c TableConfig) over(outer TableConfig) TableConfig {
	take(&c.Mode, outer.Mode)
	take(&c.MaxEntries, outer.MaxEntries)
	take(&c.MaxBytes, outer.MaxBytes)
	take(&c.WhenFull, outer.WhenFull)
	take(&c.DefaultMaxAge, outer.DefaultMaxAge)
	take(&c.NegativeMaxAge, outer.NegativeMaxAge)
	take(&c.InitialCapacity, outer.InitialCapacity)
	take(&c.MinCapacity, outer.MinCapacity)
	take(&c.GrowthFactor, outer.GrowthFactor)
	take(&c.ShrinkFactor, outer.ShrinkFactor)
	take(&c.LoadFactorLow, outer.LoadFactorLow)
	take(&c.LoadFactorHigh, outer.LoadFactorHigh)
	c.DetailedMetrics = c.DetailedMetrics || outer.DetailedMetrics
	return c
}

// effective returns c with the defaults in place of zeros, as Stats shows it.
func (c TableConfig) effective() TableConfig {
	return c.over(TableConfig{
		Mode: Durable, MaxEntries: Unlimited, MaxBytes: Unlimited, WhenFull: Reject,
		DefaultMaxAge: Never, NegativeMaxAge: Never,
	})
}

func take[T comparable](field *T, outer T) {
	var zero T
	if *field == zero {
		*field = outer
	}
}

// check refuses what makes no sense, and what this version does not do.
func (c *TableConfig) check(table string) error {
	bad := func(field string, value any, bound string) error {
		return fmt.Errorf("%w: table %q: %s is %v, must be %s", ErrOption, table, field, value, bound)
	}
	later := func(field string, value any) error {
		return fmt.Errorf("%w: table %q: %s %v", ErrUnsupported, table, field, value)
	}
	switch {
	case c.Mode > Speculative:
		return bad("Mode", c.Mode, "Durable or Speculative")
	case c.WhenFull > Reject:
		return bad("WhenFull", c.WhenFull, "Evict or Reject")
	case c.MaxEntries < Unlimited:
		return bad("MaxEntries", c.MaxEntries, "positive, 0 (default) or Unlimited")
	case c.MaxBytes < Unlimited:
		return bad("MaxBytes", c.MaxBytes, "positive, 0 (default) or Unlimited")
	case c.DefaultMaxAge < Never:
		return bad("DefaultMaxAge", c.DefaultMaxAge, "positive, 0 (default) or Never")
	case c.InitialCapacity < 0 || c.InitialCapacity > capacityMax:
		return bad("InitialCapacity", c.InitialCapacity, "from 0 to 2^30")
	case c.MinCapacity < 0 || c.MinCapacity > capacityMax:
		return bad("MinCapacity", c.MinCapacity, "from 0 to 2^30")
	case c.Mode == Speculative:
		return later("Mode", c.Mode)
	case c.WhenFull == Evict:
		return later("WhenFull", c.WhenFull)
	case c.NegativeMaxAge != 0 && c.NegativeMaxAge != Never:
		return later("NegativeMaxAge", c.NegativeMaxAge)
	}
	return c.checkFactors(table)
}

// capacityMax bounds what is asked for in advance; a table grows beyond it.
const capacityMax = 1 << 30

func (c *TableConfig) checkFactors(table string) error {
	for _, f := range []struct {
		name          string
		value, lo, hi float64
	}{
		{"GrowthFactor", c.GrowthFactor, 1.01, 16},
		{"ShrinkFactor", c.ShrinkFactor, 0.05, 0.99},
		{"LoadFactorLow", c.LoadFactorLow, 0.01, 0.95},
		{"LoadFactorHigh", c.LoadFactorHigh, 0.05, 0.99},
	} {
		if f.value != 0 && !(f.value >= f.lo && f.value <= f.hi) {
			return fmt.Errorf("%w: table %q: %s is %v, must be 0 (default) or from %v to %v",
				ErrOption, table, f.name, f.value, f.lo, f.hi)
		}
	}
	if c.LoadFactorLow != 0 && c.LoadFactorHigh != 0 && c.LoadFactorLow >= c.LoadFactorHigh {
		return fmt.Errorf("%w: table %q: LoadFactorLow %v is not below LoadFactorHigh %v",
			ErrOption, table, c.LoadFactorLow, c.LoadFactorHigh)
	}
	return nil
}

// String returns the name of the mode.
func (m Mode) String() string { return nameOf(int(m), "Mode", "default", "Durable", "Speculative") }

// String returns the name of what happens.
func (w WhenFull) String() string { return nameOf(int(w), "WhenFull", "default", "Evict", "Reject") }

func nameOf(i int, kind string, names ...string) string {
	if i >= 0 && i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}
