package pile_test

import (
	"math"
	"strings"
	"testing"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/require"
)

func TestAbsurdOptionsAreRefusedByFieldValueAndBound(t *testing.T) {
	const segmentBounds = "1048576|1 MiB|1MiB|1073741824|1 GiB|1GiB"
	for name, c := range map[string]struct {
		opts                pile.Options
		field, value, bound string // alternatives are split by |
	}{
		"segment size negative":     {pile.Options{SegmentSize: -1}, "SegmentSize", "-1", segmentBounds},
		"segment size too small":    {pile.Options{SegmentSize: miB - 1}, "SegmentSize", "1048575", segmentBounds},
		"segment size of one":       {pile.Options{SegmentSize: 1}, "SegmentSize", "1", segmentBounds},
		"segment size too large":    {pile.Options{SegmentSize: 1<<30 + 1}, "SegmentSize", "1073741825", segmentBounds},
		"segment size most extreme": {pile.Options{SegmentSize: math.MinInt32}, "SegmentSize", "-2147483648", segmentBounds},
		"memory negative":           {pile.Options{MaxMemory: -1}, "MaxMemory", "-1", "0|1048576|1 MiB|1MiB"},
		"memory most negative":      {pile.Options{MaxMemory: math.MinInt64}, "MaxMemory", "-9223372036854775808", " 0|1048576|1 MiB|1MiB"},
		"memory below one segment":  {pile.Options{MaxMemory: 4096}, "MaxMemory", "4096", "1048576|1 MiB|1MiB"},
		"segments negative":         {pile.Options{MaxSegments: -3}, "MaxSegments", "-3", "0|1"},
		"backing unknown":           {pile.Options{Backing: 99}, "Backing", "99", "Heap|1|2"},
		"mode unknown":              {pile.Options{AllocMode: 99}, "AllocMode", "99", "FavorSpeed|1"},
		"huge pages unknown":        {pile.Options{HugePages: 99}, "HugePages", "99", "HugeAlways|2"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := pile.New(c.opts)
			if err == nil {
				p.Close()
			}
			require.Error(t, err)
			require.Nil(t, p)
			text := err.Error()
			require.Contains(t, text, c.field)
			require.Contains(t, text, c.value)
			found := false
			for bound := range strings.SplitSeq(c.bound, "|") {
				found = found || strings.Contains(strings.Replace(text, c.value, "", 1), bound)
			}
			require.True(t, found, "%q names none of the bounds %s", text, c.bound)
		})
	}
	requireNoLibraryGoroutine(t)
}

func TestOptionsAtTheirBoundsWork(t *testing.T) {
	for name, o := range map[string]pile.Options{
		"zero value":       {},
		"smallest segment": {SegmentSize: miB},
		"largest segment":  {SegmentSize: 1 << 30},
		"odd segment":      {SegmentSize: miB + 3*pageSize},
		"one segment":      {SegmentSize: miB, MaxSegments: 1},
		"least memory":     {MaxMemory: 2 * miB},
		"odd memory":       {MaxMemory: 16*miB + 777, SegmentSize: 5*miB + pageSize},
		"no huge pages":    {HugePages: pile.HugeNever},
		"huge pages":       {HugePages: pile.HugeAlways},
		"everything":       {SegmentSize: 2 * miB, MaxMemory: 8 * miB, MaxSegments: 3, AllocMode: pile.FavorSpeed, Checksums: true, Debug: true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, b := range backings() {
				if b == pile.Heap && o.SegmentSize == 0 && o.MaxMemory == 0 || b == pile.Heap && o.SegmentSize > 64*miB {
					continue // clearing this much Go memory proves nothing more
				}
				o.Backing = b
				p := open(t, o)
				ptrs := fill(t, p, 1000, 100)
				require.NoError(t, p.Check(t.Context()))
				deleteAll(t, p, ptrs)
			}
		})
	}
}

func TestMaxSegmentsHolds(t *testing.T) {
	eachBacking(t, pile.Options{SegmentSize: miB, MaxSegments: 3}, func(t *testing.T, p *pile.Pile) {
		ptrs := untilFull(t, p, 1000)
		require.EqualValues(t, 3, p.Stats().Segments)
		require.Greater(t, len(ptrs), 2300)
		require.NoError(t, p.Delete(ptrs[17]))
		put(t, p, pattern(1000, 1))
	})
}
