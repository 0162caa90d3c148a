package pile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/require"
)

func TestOnlyTheZeroHandleIsInvalidByItself(t *testing.T) {
	require.False(t, pile.PilePointer(0).Valid())
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for _, n := range []int{0, 10, 70_000} {
			ptr := put(t, p, pattern(n, 1))
			require.True(t, ptr.Valid())
			require.NotEmpty(t, ptr.String())
			require.Equal(t, ptr.String(), fmt.Sprint(ptr))
			require.Zero(t, ptr>>63, "the top bit tells links from headers")
		}
	})
}

func samplePointers(t *testing.T) []pile.PilePointer {
	rng := newRand(t)
	const page = 1 << 12 // no handle names page 0
	ptrs := []pile.PilePointer{0, page, page + 1, 1<<40 | page, 1<<53 - 1, 1<<53 | page, 1<<53 | page + 1, 1<<62 | page, 1<<63 - 1}
	for range 1000 {
		ptrs = append(ptrs, pile.PilePointer(rng.Uint64()>>1)|page)
	}
	return ptrs
}

func TestHandleTextRoundTrips(t *testing.T) {
	texts := map[string]bool{}
	for _, ptr := range samplePointers(t) {
		text, err := ptr.MarshalText()
		require.NoError(t, err)
		texts[string(text)] = true
		var back pile.PilePointer
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, ptr, back)
	}
	require.Greater(t, len(texts), 1000, "different handles have different texts")
}

func TestHandleInJSONIsAString(t *testing.T) {
	type record struct {
		Ptr pile.PilePointer
		All []pile.PilePointer
		By  map[pile.PilePointer]int
	}
	for _, ptr := range samplePointers(t) {
		want := record{ptr, []pile.PilePointer{ptr, 7 << 12}, map[pile.PilePointer]int{ptr: 1}}
		text, err := json.Marshal(want)
		require.NoError(t, err)
		var got record
		require.NoError(t, json.Unmarshal(text, &got))
		require.Equal(t, want, got)
		var loose map[string]any
		require.NoError(t, json.Unmarshal(text, &loose))
		require.IsType(t, "", loose["Ptr"], "numbers lose bits above 2⁵³ on the way")
	}
	var got record
	require.Error(t, json.Unmarshal([]byte(`{"Ptr": 9007199254740993}`), &got))
}

func TestBadHandleTextIsRefusedAndChangesNothing(t *testing.T) {
	text, err := pile.PilePointer(1<<53 + 1234567).MarshalText()
	require.NoError(t, err)
	bad := []string{
		"garbage", "-1", "+1", "0x", "zz", " ", "1 ", " 1", "1.5", "1e3", "½", "\x00", "99999999999999999999999999",
		"ffffffffffffffffffffffff", "null", "Nil", "0", string(text) + "0000000000000000", string(text) + " ", " " + string(text),
		string(text) + "\n", "-" + string(text),
	}
	for _, s := range bad {
		ptr := pile.PilePointer(42)
		err := ptr.UnmarshalText([]byte(s))
		if s == "0" && err == nil {
			continue // a plain number may be a form of its own
		}
		require.Error(t, err, "%q", s)
		require.EqualValues(t, 42, ptr, "%q", s)
	}
}

func TestSentinelsDifferAndSurviveWrapping(t *testing.T) {
	all := []error{
		pile.ErrClosed, pile.ErrInvalidPointer, pile.ErrStalePointer, pile.ErrOutOfSpace, pile.ErrTooLarge,
		pile.ErrWrongType, pile.ErrNil, pile.ErrCorrupt, pile.ErrLocked, pile.ErrReadOnly,
	}
	texts := map[string]bool{}
	for i, a := range all {
		require.Error(t, a)
		texts[a.Error()] = true
		for j, b := range all {
			require.Equal(t, i == j, errors.Is(fmt.Errorf("context: %w", a), b))
		}
	}
	require.Len(t, texts, len(all), "each says something else")
}
