package cache_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bigpile/bigpile/cache"
	"github.com/bigpile/bigpile/pile"
)

func TestSmoke(t *testing.T) {
	p, err := pile.New(pile.Options{})
	require.NoError(t, err)
	c, err := cache.New(p, cache.Options{OwnPile: true})
	require.NoError(t, err)
	tab, err := cache.OpenTable(c, "t", cache.TableOptions[int, string]{})
	require.NoError(t, err)
	for i := range 20000 {
		r, err := tab.Put(i, "hello")
		require.NoError(t, err)
		require.Equal(t, cache.Inserted, r)
	}
	require.Equal(t, 20000, tab.Len())
	for i := range 20000 {
		v, ok := tab.Get(i)
		require.True(t, ok)
		require.Equal(t, "hello", v)
	}
	for i := range 20000 {
		require.True(t, tab.Remove(i))
	}
	require.NoError(t, p.Check(t.Context()))
	require.Zero(t, p.Stats().Objects)
	require.NoError(t, c.Close())
}
