package segment_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/bigpile/bigpile/segment"
)

var (
	genState      = rapid.SampledFrom([]segment.State{segment.Free, segment.Value, segment.Target, segment.Retired})
	genFlags      = rapid.Custom(func(t *rapid.T) segment.Flags { return segment.Flags(rapid.IntRange(0, 15).Draw(t, "flags")) })
	genGeneration = rapid.Uint32Range(0, segment.GenerationMax)
	genLocation   = rapid.Custom(func(t *rapid.T) segment.Location {
		return segment.Location(rapid.Uint64Range(0, 1<<segment.LocationBits-1).Draw(t, "location"))
	})
)

func TestHeaderRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, f, g := genState.Draw(t, "state"), genFlags.Draw(t, "flags"), genGeneration.Draw(t, "generation")
		typ, n := rapid.Uint16().Draw(t, "type"), rapid.IntRange(0, segment.LengthMax).Draw(t, "length")
		w := segment.Header(s, f, g, typ, n)
		require.Equal(t, []any{s, f, g, typ, n}, []any{w.State(), w.Flags(), w.Generation(), w.Type(), w.Length()})
		require.False(t, w.IsLink())
		for _, other := range []segment.State{segment.Free, segment.Value, segment.Target, segment.Retired} {
			require.Equal(t, s == other, w.Is(other))
			require.Equal(t, segment.Header(other, f, g, typ, n), w.WithState(other))
		}
		more := genFlags.Draw(t, "more")
		require.Equal(t, segment.Header(s, f|more, g, typ, n), w.WithFlags(more))
	})
}

func TestLinkRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, l := genGeneration.Draw(t, "generation"), genLocation.Draw(t, "target")
		w := segment.Link(g, l)
		require.True(t, w.IsLink())
		require.Equal(t, g, w.Generation())
		require.Equal(t, l, w.Target())
		for _, s := range []segment.State{segment.Free, segment.Value, segment.Target, segment.Retired} {
			require.False(t, w.Is(s), "a link is in no state")
		}
	})
}

func TestDescriptorRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := segment.Role(rapid.IntRange(0, 7).Draw(t, "role"))
		c := segment.Class(rapid.IntRange(0, segment.ClassCount-1).Draw(t, "class"))
		base, n := genGeneration.Draw(t, "base"), rapid.IntRange(0, segment.UnitsMax-1).Draw(t, "length")
		d := segment.Describe(r, c, base, n)
		require.Equal(t, []any{r, c, base, n}, []any{d.Role(), d.Class(), d.Base(), d.Length()})
	})
}

func TestLocationRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		page := rapid.Uint32Range(0, segment.PageCount-1).Draw(t, "page")
		slot := rapid.Uint32Range(0, segment.SlotsMax-1).Draw(t, "slot")
		l := segment.At(page, slot)
		require.Equal(t, []uint32{page, slot}, []uint32{l.Page(), l.Slot()})
		require.Less(t, uint64(l), uint64(1)<<segment.LocationBits)
	})
}

// TestWordBits pins the place of every field: the layout is a promise to data that exists.
func TestWordBits(t *testing.T) {
	for _, c := range []struct {
		name string
		got  uint64
		want uint64
	}{
		{"length", uint64(segment.Header(0, 0, 0, 0, segment.LengthMax)), 0x0003_ffff},
		{"type", uint64(segment.Header(0, 0, 0, 0xffff, 0)), 0x3_fffc_0000},
		{"generation", uint64(segment.Header(0, 0, segment.GenerationMax, 0, 0)), 0x01ff_fffc_0000_0000},
		{"flag large", uint64(segment.Header(0, segment.Large, 0, 0, 0)), 1 << 57},
		{"flag in table", uint64(segment.Header(0, segment.InTable, 0, 0, 0)), 1 << 58},
		{"flag reserve", uint64(segment.Header(0, segment.Reserve, 0, 0, 0)), 1 << 59},
		{"flag settled", uint64(segment.Header(0, segment.Settled, 0, 0, 0)), 1 << 60},
		{"state value", uint64(segment.Header(segment.Value, 0, 0, 0, 0)), 1 << 61},
		{"state target", uint64(segment.Header(segment.Target, 0, 0, 0, 0)), 2 << 61},
		{"state retired", uint64(segment.Header(segment.Retired, 0, 0, 0, 0)), 3 << 61},
		{"free", uint64(segment.FreeWord(1)), 1 << 34},
		{"link", uint64(segment.Link(0, 0)), 1 << 63},
		{"link generation", uint64(segment.Link(segment.GenerationMax, 0)), 0xffff_ff00_0000_0000},
		{"link target", uint64(segment.Link(0, 1<<40-1)), 1<<63 | 0xff_ffff_ffff},
		{"page", uint64(segment.At(segment.PageCount-1, 0)), 0xff_ffff_f000},
		{"slot", uint64(segment.At(0, segment.SlotsMax-1)), 0xfff},
		{"role", uint64(segment.Describe(7, 0, 0, 0)), 7 << 61},
		{"class", uint64(segment.Describe(0, 511, 0, 0)), 0x1ff << 52},
		{"base", uint64(segment.Describe(0, 0, segment.GenerationMax, 0)), 0x7fffff << 29},
		{"run length", uint64(segment.Describe(0, 0, 0, segment.UnitsMax-1)), 0x3fff << 15},
	} {
		require.Equal(t, c.want, c.got, "%s: %#x", c.name, c.got)
	}
	require.Equal(t, []int{23, 40, 1<<18 - 1, 1<<23 - 1}, []int{
		segment.GenerationBits, segment.LocationBits, segment.LengthMax, segment.GenerationMax})
	require.Equal(t, []segment.Role{0, 1, 2, 3, 4}, []segment.Role{
		segment.Empty, segment.Open, segment.Closed, segment.Continuation, segment.Worn})
}

func TestZeroWordIsAFreeSlot(t *testing.T) {
	var w segment.Word
	require.True(t, w.Is(segment.Free))
	require.False(t, w.IsLink())
	require.Zero(t, w.Generation())
	require.Equal(t, w, segment.FreeWord(0))
	require.Equal(t, segment.Empty, segment.Descriptor(0).Role(), "the zero word is an empty unit")
	require.Zero(t, segment.Descriptor(0).Base())
}
