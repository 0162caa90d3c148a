package pile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// edgeSizes are 0, 1, 2, 7, 8, 9 and one below, at and above every power of two, up to and including limit.
func edgeSizes(limit int) []int {
	sizes := []int{0, 1, 2, 7, 8, 9}
	for n := 16; n-1 <= limit; n *= 2 {
		sizes = append(sizes, n-1, n, n+1)
	}
	for sizes[len(sizes)-1] > limit {
		sizes = sizes[:len(sizes)-1]
	}
	return sizes
}

func TestEverySizeComesBackAsItWasPut(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		type stored struct {
			ptr  pile.PilePointer
			want []byte
		}
		var kept []stored
		for _, n := range edgeSizes(min(p.MaxValueSize(), 4*miB)) {
			want := pattern(n, uint64(n))
			ptr := put(t, p, want)
			require.Equal(t, want, get(t, p, ptr), "%d bytes", n)
			size, err := p.SizeOf(ptr)
			require.NoError(t, err)
			require.Equal(t, n, size, "SizeOf is the size of the value, not of its slot")
			s, err := p.GetString(ptr)
			require.NoError(t, err)
			require.True(t, s == string(want))
			if n <= 128*kiB {
				kept = append(kept, stored{ptr, want})
			} else {
				require.NoError(t, p.Delete(ptr))
			}
		}
		for _, k := range kept {
			require.Equal(t, k.want, get(t, p, k.ptr), "%d bytes, after the others", len(k.want))
		}
	})
}

// The ancestor kept lists of sizes in which classes of 64 bytes were invisible; every size has to be as good as its neighbour.
func TestNoSizeUpToFourKiBIsSpecial(t *testing.T) {
	eachBacking(t, pile.Options{SegmentSize: miB}, func(t *testing.T, p *pile.Pile) {
		ptrs := make([]pile.PilePointer, 4*kiB+10)
		for n := range ptrs {
			ptrs[n] = put(t, p, pattern(n, uint64(n)))
		}
		for n, ptr := range ptrs {
			require.Equal(t, pattern(n, uint64(n)), get(t, p, ptr))
		}
	})
}

func TestLargestValueFitsAndOneByteMoreIsTooLarge(t *testing.T) {
	for _, o := range []pile.Options{{SegmentSize: miB}, {SegmentSize: 4 * miB}, {SegmentSize: miB, Checksums: true}, {MaxMemory: 16 * miB}} {
		name := fmt.Sprintf("segment=%d,memory=%d,checksums=%v", o.SegmentSize, o.MaxMemory, o.Checksums)
		t.Run(name, func(t *testing.T) {
			eachBacking(t, o, func(t *testing.T, p *pile.Pile) {
				limit := p.MaxValueSize()
				require.Greater(t, limit, 512*kiB)
				want := pattern(limit+1, 3)

				_, err := p.PutBytes(want)
				require.ErrorIs(t, err, pile.ErrTooLarge)
				_, err = p.PutString(string(want))
				require.ErrorIs(t, err, pile.ErrTooLarge)
				_, err = p.PutReserve([]byte("x"), limit+1)
				require.ErrorIs(t, err, pile.ErrTooLarge)
				_, err = p.PutMany([][]byte{want}, nil)
				require.ErrorIs(t, err, pile.ErrTooLarge)
				require.Zero(t, p.Stats().Objects)

				ptr := put(t, p, want[:limit])
				require.True(t, string(want[:limit]) == string(get(t, p, ptr)))
				require.ErrorIs(t, p.UpdateBytes(ptr, want), pile.ErrTooLarge)
				require.ErrorIs(t, p.UpdateString(ptr, string(want)), pile.ErrTooLarge)
				require.True(t, string(want[:limit]) == string(get(t, p, ptr)), "a refused update changes nothing")
				require.NoError(t, p.Delete(ptr))
				put(t, p, want[:limit]) // and again in the room of the first
			})
		})
	}
}

func TestBytesAndStringsInterchange(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for _, want := range []string{"", "a", "hello", strings.Repeat("long ", 1000)} {
			fromString, err := p.PutString(want)
			require.NoError(t, err)
			require.Equal(t, want, string(get(t, p, fromString)))
			fromBytes := put(t, p, []byte(want))
			s, err := p.GetString(fromBytes)
			require.NoError(t, err)
			require.Equal(t, want, s)
		}
	})
}

func TestTextOfAnyScriptAndNonUTF8ComesBack(t *testing.T) {
	texts := []string{
		"Привет, мир", "你好，世界", "שלום עולם", "مرحبا بالعالم", "नमस्ते", "🙂🏳️‍🌈e\u0301", "\x00\x00", "a\x00b",
		"\xff\xfe\xfd", "\xc3\x28", "\xed\xa0\x80", string(pattern(300, 9)),
	}
	for _, n := range []int{100, 1024, 98_304, 262_144} {
		texts = append(texts, strings.Repeat("中", n))
	}
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for _, want := range texts {
			ptr, err := p.PutString(want)
			require.NoError(t, err)
			s, err := p.GetString(ptr)
			require.NoError(t, err)
			require.True(t, want == s, "%d bytes", len(want))
			require.NoError(t, p.Delete(ptr))
		}
	})
}

func TestNilAndEmptyBytesAreStoredAsEmptyValues(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for name, b := range map[string][]byte{"nil": nil, "empty": {}} {
			ptr := put(t, p, b)
			require.Empty(t, get(t, p, ptr), name)
			size, err := p.SizeOf(ptr)
			require.NoError(t, err)
			require.Zero(t, size)
			called := false
			require.NoError(t, p.View(ptr, func(b []byte) error { called = true; assert.Empty(t, b); return nil }))
			require.True(t, called, "an empty value is a value")

			reserved, err := p.PutReserve(b, 100)
			require.NoError(t, err)
			require.NoError(t, p.Update(reserved, b))
			require.NoError(t, p.UpdateBytes(reserved, b))
			require.Empty(t, get(t, p, reserved))
			require.NoError(t, p.Delete(reserved))
		}
		a, b := put(t, p, nil), put(t, p, nil)
		require.NotEqual(t, a, b, "two empty values are two objects")
		require.NoError(t, p.Delete(a))
		require.Empty(t, get(t, p, b))
	})
}

func TestCallersBufferIsCopiedIn(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for _, n := range []int{1, 30, 300, 70_000} {
			want := pattern(n, 1)
			buf := append([]byte{}, want...)
			ptr := put(t, p, buf)
			clear(buf)
			require.Equal(t, want, get(t, p, ptr), "after Put")

			copy(buf, want)
			many, err := p.PutMany([][]byte{buf}, nil)
			require.NoError(t, err)
			clear(buf)
			require.Equal(t, want, get(t, p, many[0]), "after PutMany")

			copy(buf, want)
			require.NoError(t, p.UpdateBytes(ptr, buf))
			clear(buf)
			require.Equal(t, want, get(t, p, ptr), "after Update")
		}
	})
}

func TestReturnedBytesAreACopy(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		want := pattern(100, 1)
		ptr := put(t, p, want)
		clear(get(t, p, ptr))
		require.Equal(t, want, get(t, p, ptr))
		b, err := p.AppendBytes(nil, ptr)
		require.NoError(t, err)
		clear(b)
		require.Equal(t, want, get(t, p, ptr))

		kept := get(t, p, ptr)
		s, err := p.GetString(ptr)
		require.NoError(t, err)
		require.NoError(t, p.Delete(ptr))
		for range 3000 { // something else moves into the slot
			put(t, p, pattern(100, 2))
		}
		require.Equal(t, want, kept)
		require.Equal(t, string(want), s)
	})
}

func TestAppendBytesKeepsWhatDstHolds(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptr := put(t, p, []byte("world"))
		b, err := p.AppendBytes([]byte("hello "), ptr)
		require.NoError(t, err)
		require.Equal(t, "hello world", string(b))

		room := make([]byte, 6, 100)
		copy(room, "hello ")
		b, err = p.AppendBytes(room, ptr)
		require.NoError(t, err)
		require.Equal(t, "hello world", string(b))
		require.Same(t, &room[0], &b[0], "what fits is appended in place")
		require.Equal(t, make([]byte, 89), room[:100][11:], "nothing is written behind the value")
	})
}

func TestAppendBytesAndViewDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for _, n := range []int{0, 32, 1000, 70_000} {
			ptr := put(t, p, pattern(n, 1))
			dst := make([]byte, 0, n)
			allocs := testing.AllocsPerRun(100, func() {
				if b, err := p.AppendBytes(dst, ptr); err != nil || len(b) != n {
					t.Error(len(b), err)
				}
			})
			require.Zero(t, allocs, "AppendBytes of %d bytes", n)
			sum := 0
			visit := func(b []byte) error { sum += len(b); return nil }
			allocs = testing.AllocsPerRun(100, func() {
				if err := p.View(ptr, visit); err != nil {
					t.Error(err)
				}
			})
			require.Zero(t, allocs, "View of %d bytes", n)
			allocs = testing.AllocsPerRun(100, func() {
				if _, err := p.SizeOf(ptr); err != nil {
					t.Error(err)
				}
			})
			require.Zero(t, allocs, "SizeOf")
			require.NoError(t, p.Delete(ptr))
		}
	})
}

// The ancestor's PileTest.PutGetTwo, and three values with exact bytes.
func TestFewValuesShareOneSegment(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		a, b, c := put(t, p, []byte{1, 2, 3}), put(t, p, []byte{4, 5}), put(t, p, []byte{}[:0:0])
		require.Equal(t, []byte{1, 2, 3}, get(t, p, a))
		require.Equal(t, []byte{4, 5}, get(t, p, b))
		require.Empty(t, get(t, p, c))
		s := p.Stats()
		require.EqualValues(t, 3, s.Objects)
		require.EqualValues(t, 5, s.Bytes)
		require.EqualValues(t, 1, s.Segments)
		require.Positive(t, s.AllocatedBytes)
		require.GreaterOrEqual(t, s.MappedBytes, s.AllocatedBytes)
	})
}

func TestPartOfASliceIsPutAlone(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		whole := []byte{1, 2, 3, 4}
		require.Equal(t, []byte{1, 2}, get(t, p, put(t, p, whole[:2])))
		require.Equal(t, []byte{3, 4}, get(t, p, put(t, p, whole[2:])))
		require.Equal(t, whole, get(t, p, put(t, p, whole)))
	})
}
