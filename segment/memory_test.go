package segment_test

import (
	"os"
	"reflect"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bigpile/bigpile/segment"
)

func TestMemoryIsZeroAndAligned(t *testing.T) {
	forBackings(t, func(t *testing.T, b segment.Backing) {
		m := newMemory(t, b, 3*segment.UnitSize)
		require.Equal(t, 3*segment.UnitSize, m.Len())
		require.Equal(t, b, m.Backing())
		all := m.Bytes(0, m.Len())
		require.Zero(t, reflect.ValueOf(&all[0]).Pointer()%wordSize, "words are 8-byte aligned")
		for i, v := range all {
			if v != 0 {
				t.Fatalf("byte %d is %#x", i, v)
			}
		}
	})
}

func TestMemoryWords(t *testing.T) {
	forBackings(t, func(t *testing.T, b segment.Backing) {
		m := newMemory(t, b, segment.UnitSize)
		last := m.Len() - wordSize
		for _, offset := range []int{0, 8, 4096, last} {
			w := segment.Word(0x1122334455667788 + uint64(offset))
			m.Store(offset, w)
			require.Equal(t, w, m.Load(offset))
			require.False(t, m.CompareAndSwap(offset, w+1, 7), "not what is there")
			require.Equal(t, w, m.Load(offset))
			require.True(t, m.CompareAndSwap(offset, w, w+2))
			require.Equal(t, w+2, m.Load(offset))
		}
		require.Zero(t, m.Load(16), "a neighbour")
	})
}

// TestMemoryBytes proves that an append to what Bytes returns does not reach the neighbour.
func TestMemoryBytes(t *testing.T) {
	forBackings(t, func(t *testing.T, b segment.Backing) {
		m := newMemory(t, b, segment.UnitSize)
		m.Store(24, 0xabcdef)
		for name, got := range map[string][]byte{
			"Bytes":         m.Bytes(16, 8),
			"Room":          m.Room(8, 8, false),
			"Room of a run": m.Room(0, 8, true),
		} {
			require.Len(t, got, 8, name)
			require.Equal(t, 8, cap(got), name)
			got[0] = 0x5a
			_ = append(got, 1, 2, 3)
			require.Equal(t, segment.Word(0xabcdef), m.Load(24), name)
			require.Equal(t, segment.Word(0x5a), m.Load(16)&0xff, "%s is in place", name)
		}
		m.Store(8, segment.Header(segment.Value, 0, 0, 0, 8))
		p := m.Payload(8, m.Load(8))
		require.Equal(t, []int{8, 8}, []int{len(p), cap(p)})
		m.SetRunLength(0, 5)
		w := segment.Header(segment.Value, segment.Large, 0, 0, 1)
		p = m.Payload(0, w)
		require.Equal(t, []int{5, 5, 5}, []int{len(p), cap(p), m.PayloadLen(0, w)})
	})
}

func TestMemoryRefusesSizes(t *testing.T) {
	for _, size := range []int{-8, 0, 1, 7, 12, segment.UnitSize + 4} {
		for _, b := range []segment.Backing{segment.Heap, segment.Anonymous} {
			m, err := segment.NewMemory(b, size)
			require.Nil(t, m)
			require.ErrorContains(t, err, "is not a positive multiple of 8")
			require.ErrorContains(t, err, "segment: memory size ")
		}
	}
	for _, size := range []int{-segment.UnitSize, 0, 8, segment.UnitSize + 8} {
		_, err := segment.MapFile(newFile(t), size)
		require.ErrorContains(t, err, "is not a positive multiple of 65536")
		require.ErrorContains(t, err, "segment: file size ")
	}
	_, err := segment.NewMemory(segment.File, segment.UnitSize)
	require.EqualError(t, err, "segment: backing 2 needs a file")
	m := newMemory(t, segment.Heap, wordSize)
	require.Equal(t, wordSize, m.Len(), "small tables are multiples of 8")
}

func TestMemoryTooLargeForTheSystem(t *testing.T) {
	needBacking(t, segment.Anonymous)
	if strconv.IntSize < 64 {
		t.Skip("an int cannot hold a size that no system grants")
	}
	size, petabytes := segment.UnitSize, 40
	size <<= petabytes
	_, err := segment.NewMemory(segment.Anonymous, size)
	require.ErrorContains(t, err, "anonymous bytes: ")
}

func TestMemoryClose(t *testing.T) {
	forBackings(t, func(t *testing.T, b segment.Backing) {
		m := newMemory(t, b, segment.UnitSize)
		require.NoError(t, m.Close())
		require.Zero(t, m.Len())
		require.NoError(t, m.Close(), "a second call does nothing")
	})
}

// TestMemoryCommit: no call loses what is there.
func TestMemoryCommit(t *testing.T) {
	forBackings(t, func(t *testing.T, b segment.Backing) {
		m := newMemory(t, b, 8*segment.UnitSize)
		m.Store(segment.UnitSize, 42)
		require.NoError(t, m.Commit(0, m.Len()), "more than one step of a system call")
		require.NoError(t, m.Commit(segment.UnitSize, segment.UnitSize), "again")
		require.Equal(t, segment.Word(42), m.Load(segment.UnitSize))
		require.Zero(t, m.Load(7*segment.UnitSize))
	})
}

func TestMemoryUncommit(t *testing.T) {
	forBackings(t, func(t *testing.T, b segment.Backing) {
		m := newMemory(t, b, 4*segment.UnitSize)
		for u := range 4 {
			m.Store(u*segment.UnitSize, segment.Word(u+1))
		}
		done, err := m.Uncommit(segment.UnitSize, 2*segment.UnitSize)
		require.NoError(t, err)
		if b != segment.Anonymous {
			require.False(t, done, "only anonymous memory is given back")
		}
		require.Equal(t, segment.Word(1), m.Load(0), "the unit before")
		require.Equal(t, segment.Word(4), m.Load(3*segment.UnitSize), "the unit after")
		m.Store(segment.UnitSize, 9)
		require.Equal(t, segment.Word(9), m.Load(segment.UnitSize), "still to be used")
		if !done {
			require.Equal(t, segment.Word(3), m.Load(2*segment.UnitSize), "nothing was given back")
		}
	})
}

func TestMemoryProtectAndBack(t *testing.T) {
	forBackings(t, func(t *testing.T, b segment.Backing) {
		m := newMemory(t, b, 2*segment.UnitSize)
		m.Store(segment.UnitSize, 5)
		require.NoError(t, m.Protect(segment.UnitSize, segment.UnitSize, true))
		m.Store(0, 1) // the neighbour is as before
		require.NoError(t, m.Protect(segment.UnitSize, segment.UnitSize, false))
		require.Equal(t, segment.Word(5), m.Load(segment.UnitSize))
		m.Store(segment.UnitSize, 6)
	})
}

func TestMemoryHugePages(t *testing.T) {
	forBackings(t, func(t *testing.T, b segment.Backing) {
		m := newMemory(t, b, 4*miB)
		if err := m.PreferHuge(); err != nil {
			require.ErrorIs(t, err, segment.ErrNoHugePages)
		}
		for offset := 0; offset < m.Len(); offset += 4096 {
			m.Store(offset, segment.Word(offset+1))
		}
		err := m.Collapse(0, m.Len())
		if err != nil || b != segment.Anonymous {
			require.ErrorIs(t, err, segment.ErrNoHugePages)
		}
		for offset := 0; offset < m.Len(); offset += 4096 {
			require.Equal(t, segment.Word(offset+1), m.Load(offset), "collapsed or not, nothing is lost")
		}
	})
}

func TestMemoryFlush(t *testing.T) {
	forBackings(t, func(t *testing.T, b segment.Backing) {
		m := newMemory(t, b, 2*segment.UnitSize)
		m.Store(segment.UnitSize, 77)
		require.NoError(t, m.Flush(0, m.Len()))
		require.NoError(t, m.Flush(segment.UnitSize, segment.UnitSize))
		require.Equal(t, segment.Word(77), m.Load(segment.UnitSize))
	})
}

// TestMapFileKeeps: what was flushed is in the file and there again when it is mapped once more, and
// the file may be closed before the mapping.
func TestMapFileKeeps(t *testing.T) {
	needBacking(t, segment.File)
	f := newFile(t)
	m, err := segment.MapFile(f, 2*segment.UnitSize)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	m.Store(segment.UnitSize+8, 0x0102030405060708)
	copy(m.Bytes(100, 5), "hello")
	require.NoError(t, m.Flush(0, m.Len()))
	content, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	require.Len(t, content, 2*segment.UnitSize)
	require.Equal(t, "hello", string(content[100:105]))
	require.NoError(t, m.Close())

	f, err = os.OpenFile(f.Name(), os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	m, err = segment.MapFile(f, 4*segment.UnitSize)
	require.NoError(t, err, "a file grows when it is mapped longer")
	require.Equal(t, segment.Word(0x0102030405060708), m.Load(segment.UnitSize+8))
	require.Zero(t, m.Load(3*segment.UnitSize))
	require.NoError(t, m.Close())
}

func TestMapFileThatIsReadOnly(t *testing.T) {
	f := newFile(t)
	r, err := os.Open(f.Name())
	require.NoError(t, err)
	defer r.Close()
	_, err = segment.MapFile(r, segment.UnitSize)
	require.ErrorContains(t, err, "segment: reserve 65536 bytes of "+f.Name())
}

// TestWriteZeros is about systems without a call that reserves blocks.
func TestWriteZeros(t *testing.T) {
	f := newFile(t)
	_, err := f.WriteString("kept")
	require.NoError(t, err)
	require.NoError(t, segment.WriteZeros(f, 3*miB+5))
	content, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	require.Len(t, content, 3*miB+5)
	require.Equal(t, "kept", string(content[:4]))
	require.Equal(t, make([]byte, 3*miB+1), content[4:])

	require.NoError(t, segment.WriteZeros(f, 10), "a longer file stays")
	info, err := f.Stat()
	require.NoError(t, err)
	require.Equal(t, int64(3*miB+5), info.Size())

	r, err := os.Open(f.Name())
	require.NoError(t, err)
	defer r.Close()
	require.Error(t, segment.WriteZeros(r, 4*miB))
}
