package pile_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFixturePatternsOfTwoSeedsDiffer(t *testing.T) {
	for n := 8; n < 100; n++ {
		require.NotEqual(t, pattern(n, 1), pattern(n, 2))
	}
	require.Equal(t, pattern(50, 7), pattern(100, 7)[:50])
}
