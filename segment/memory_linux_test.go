package segment_test

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/bigpile/bigpile/segment"
)

// TestMapFileReservesBlocks: a sparse file on a full disk would be a fault at some later store.
func TestMapFileReservesBlocks(t *testing.T) {
	const size = 4 * miB
	for name, before := range map[string]int64{"new": 0, "sparse": size, "sparse and shorter": size / 2} {
		t.Run(name, func(t *testing.T) {
			f := newFile(t)
			require.NoError(t, f.Truncate(before))
			m, err := segment.MapFile(f, size)
			require.NoError(t, err)
			defer m.Close()
			info, err := f.Stat()
			require.NoError(t, err)
			require.Equal(t, int64(size), info.Size())
			require.GreaterOrEqual(t, info.Sys().(*syscall.Stat_t).Blocks*512, int64(size), "the file has holes")
		})
	}
}

// TestMapFileOnFullDisk: an error before the mapping, where a sparse file would give SIGBUS.
func TestMapFileOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("a file system of 1 MiB cannot be mounted: %v", err)
	}
	defer func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) }()
	open := func(name string) *os.File {
		f, err := os.Create(filepath.Join(dir, name))
		require.NoError(t, err)
		return f
	}
	large := open("large")
	defer large.Close()
	_, err := segment.MapFile(large, 2*miB)
	require.ErrorIs(t, err, unix.ENOSPC)
	require.ErrorContains(t, err, "segment: reserve 2097152 bytes of "+large.Name())
	require.NoError(t, os.Remove(large.Name()))
	large.Close()

	small := open("small")
	defer small.Close()
	m, err := segment.MapFile(small, miB/2)
	require.NoError(t, err)
	defer m.Close()
	rest := open("rest")
	defer rest.Close()
	_, err = rest.Write(make([]byte, miB))
	require.ErrorIs(t, err, unix.ENOSPC, "the disk is full now")
	for offset := 0; offset < m.Len(); offset += wordSize {
		m.Store(offset, 1) // reserved: no fault
	}
	require.NoError(t, m.Flush(0, m.Len()))
}

// faults reports whether fn reads or writes memory that it may not.
func faults(fn func()) (fault bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(interface{ Addr() uintptr }); !ok {
				panic(r)
			}
			fault = true
		}
	}()
	fn()
	return false
}

func TestProtectedMemoryFaults(t *testing.T) {
	needBacking(t, segment.Anonymous)
	m := newMemory(t, segment.Anonymous, 3*segment.UnitSize)
	require.NoError(t, m.Protect(segment.UnitSize, segment.UnitSize, true))
	require.True(t, faults(func() { m.Load(segment.UnitSize) }))
	require.True(t, faults(func() { m.Store(2*segment.UnitSize-wordSize, 1) }))
	require.False(t, faults(func() { m.Store(segment.UnitSize-wordSize, 1) }))
	require.False(t, faults(func() { m.Store(2*segment.UnitSize, 1) }))
	require.NoError(t, m.Protect(segment.UnitSize, segment.UnitSize, false))
	require.False(t, faults(func() { m.Store(segment.UnitSize, 1) }))
}

func TestClosedMemoryIsUnmapped(t *testing.T) {
	needBacking(t, segment.Anonymous)
	m := newMemory(t, segment.Anonymous, segment.UnitSize)
	b := m.Bytes(0, 1)
	require.NoError(t, m.Close())
	require.True(t, faults(func() { b[0] = 1 }))
}

// TestUncommitGivesPagesBack looks at what is resident.
func TestUncommitGivesPagesBack(t *testing.T) {
	needBacking(t, segment.Anonymous)
	m := newMemory(t, segment.Anonymous, 4*segment.UnitSize)
	require.Zero(t, resident(t, m), "until Commit it costs address space only")
	require.NoError(t, m.Commit(segment.UnitSize, 2*segment.UnitSize))
	if resident(t, m) == 0 {
		t.Skip("a kernel without MADV_POPULATE_WRITE")
	}
	require.Equal(t, 2*segment.UnitSize, resident(t, m))
	done, err := m.Uncommit(segment.UnitSize, segment.UnitSize)
	require.NoError(t, err)
	require.True(t, done)
	require.Equal(t, segment.UnitSize, resident(t, m))
}

func TestErrorsNameTheRange(t *testing.T) {
	needBacking(t, segment.Anonymous)
	m := newMemory(t, segment.Anonymous, 2*segment.UnitSize)
	const odd = 8 // not the start of a system page
	_, err := m.Uncommit(odd, 4096)
	require.ErrorContains(t, err, "segment: uncommit [8, 4104): ")
	require.ErrorContains(t, m.Protect(odd, 4096, true), "segment: protect [8, 4104): ")
	require.ErrorIs(t, m.Collapse(odd, 4096), segment.ErrNoHugePages)
	needBacking(t, segment.File)
	f := newMemory(t, segment.File, segment.UnitSize)
	require.ErrorContains(t, f.Flush(odd, 4096), "segment: flush [8, 4104): ")
}

// resident returns how many bytes of the region are in memory.
func resident(t *testing.T, m *segment.Memory) (n int) {
	t.Helper()
	size := os.Getpagesize()
	pages := make([]byte, m.Len()/size)
	start := reflect.ValueOf(m.Bytes(0, m.Len())).Pointer()
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, start, uintptr(m.Len()), reflect.ValueOf(pages).Pointer())
	runtime.KeepAlive(pages)
	require.Zero(t, errno)
	for _, p := range pages {
		n += int(p&1) * size
	}
	return n
}
