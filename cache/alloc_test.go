package cache_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bigpile/bigpile/cache"
)

// TestOperationsDoNotAllocate holds the paths that promise it to no allocation.
func TestOperationsDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("under the race detector a sync.Pool drops what it is given now and then, on purpose")
	}
	tab := benchTable(t, cache.TableOptions[[16]byte, []byte]{})
	var key [16]byte
	keys := make([][16]byte, 100)
	v := make([]byte, 64)
	for i := range keys {
		benchKey(keys[i][:], i)
		_, err := tab.Put(keys[i], v)
		require.NoError(t, err)
	}
	key = keys[7]
	buf := make([]byte, 0, 64)
	hits := 0
	for name, fn := range map[string]func(){
		"AppendValue": func() { buf, _ = tab.AppendValue(buf[:0], key) },
		"View":        func() { _, _ = tab.View(key, func(b []byte) error { return nil }) },
		"Contains":    func() { tab.Contains(key) },
		"GetMany": func() {
			tab.GetMany(keys, func(_ int, _ []byte, ok bool) bool { hits++; return ok })
		},
	} {
		require.Zero(t, testing.AllocsPerRun(100, fn), name)
	}
	require.Less(t, testing.AllocsPerRun(1000, func() { _, _ = tab.Put(key, v) }), 1.0, "Put")
}
