package pile_test

import (
	"errors"
	"testing"

	"github.com/bigpile/bigpile/pile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestViewShowsTheValueInPlace(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for _, n := range []int{1, 30, 300, 5000, 70_000} {
			want := pattern(n, 1)
			ptr := put(t, p, want)
			var first, second *byte
			require.NoError(t, p.View(ptr, func(b []byte) error {
				assert.Equal(t, want, b)
				first = &b[0]
				return nil
			}))
			require.NoError(t, p.View(ptr, func(b []byte) error { second = &b[0]; return nil }))
			require.True(t, first == second, "two views of one value see the same memory")
			require.NoError(t, p.Delete(ptr))
		}
	})
}

// A neighbour's bytes are within the same page: the slice must not reach them by append.
func TestViewedSliceHasNoRoomToAppend(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for _, n := range []int{0, 1, 8, 30, 300} {
			ptrs := fill(t, p, 3, n)
			require.NoError(t, p.View(ptrs[1], func(b []byte) error {
				assert.Equal(t, len(b), cap(b), "%d bytes", n)
				return nil
			}))
			require.NoError(t, p.GetMany(ptrs, func(_ int, b []byte, err error) bool {
				assert.Equal(t, len(b), cap(b), "%d bytes by GetMany", n)
				return true
			}))
		}
	})
}

func TestViewReturnsTheErrorOfItsCallback(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptr := put(t, p, []byte("x"))
		own := errors.New("own")
		require.True(t, own == p.View(ptr, func([]byte) error { return own }))
		require.NoError(t, p.View(ptr, func([]byte) error { return nil }))
	})
}

func TestViewStaysWhileTheValueGoes(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for _, n := range []int{24, 1000, 70_000} {
			ways := map[string]func(ptr pile.PilePointer) error{
				"delete": p.Delete,
				"update": func(ptr pile.PilePointer) error { return p.UpdateBytes(ptr, pattern(n, 2)) },
				"update thrice": func(ptr pile.PilePointer) error {
					return errors.Join(p.UpdateBytes(ptr, pattern(n, 2)), p.UpdateBytes(ptr, pattern(n*2, 3)), p.UpdateBytes(ptr, pattern(n, 4)))
				},
				"purge": func(pile.PilePointer) error { return p.Purge() },
			}
			for name, change := range ways {
				want := pattern(n, 1)
				ptr := put(t, p, want)
				require.NoError(t, p.View(ptr, func(b []byte) error {
					assert.NoError(t, change(ptr))
					for range 4 * pageSize / (n + 8) { // whoever wants the slot may have it now
						other, err := p.PutBytes(pattern(n, 5))
						if assert.NoError(t, err) {
							assert.NoError(t, p.Delete(other))
						}
					}
					_, err := p.Compact(t.Context(), nil)
					assert.NoError(t, err)
					for range 10 {
						other, err := p.PutBytes(pattern(n, 6))
						if assert.NoError(t, err) {
							assert.NoError(t, p.Delete(other))
						}
					}
					assert.Equal(t, want, b, "%s of %d bytes", name, n)
					return nil
				}))
			}
		}
	})
}

func TestNestedViewsSeeTheirOwnValues(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		ptrs := make([]pile.PilePointer, 200) // deeper than any fixed number of hazards
		for i := range ptrs {
			ptrs[i] = put(t, p, pattern(40, uint64(i)))
		}
		var nest func(i int) error
		nest = func(i int) error {
			if i == len(ptrs) {
				deleteAll(t, p, ptrs)
				fill(t, p, 3000, 40)
				return nil
			}
			return p.View(ptrs[i], func(b []byte) error {
				err := nest(i + 1)
				assert.Equal(t, pattern(40, uint64(i)), b)
				return err
			})
		}
		require.NoError(t, nest(0))
	})
}
