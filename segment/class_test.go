package segment_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bigpile/bigpile/segment"
)

const slotSizeMax = 256 * kiB

// classSizes returns the slot size of every class, which a segment of 1 GiB uses all.
func classSizes(t tb) []int {
	g := geometry(t, segment.UnitsMax, false)
	sizes := make([]int, segment.ClassMax+1)
	for c := segment.Class(1); c <= segment.ClassMax; c++ {
		sizes[c] = int(g.Shape(c).SlotSize)
	}
	return sizes
}

func TestClasses(t *testing.T) {
	sizes := classSizes(t)
	require.Equal(t, segment.Class(103), segment.ClassMax)
	require.True(t, slices.IsSorted(sizes))
	require.Equal(t, []int{16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128}, sizes[1:16])
	require.Equal(t, []int{144, 160, 176, 192, 208, 224, 240, 256, 288}, sizes[16:25])
	require.Equal(t, slotSizeMax, sizes[segment.ClassMax])
	for c, size := range sizes {
		require.Zero(t, size%wordSize, "class %d of %d bytes", c, size)
	}
	require.Greater(t, segment.ClassRun, segment.ClassMax)
	require.Less(t, int(segment.ClassRun), segment.ClassCount)
}

func TestClassFor(t *testing.T) {
	sizes := classSizes(t)
	want := segment.Class(1)
	for size := 1; size <= slotSizeMax; size++ {
		if size > sizes[want] {
			want++
		}
		c := segment.ClassFor(size)
		if c != want {
			t.Fatalf("size %d: class %d, the smallest that fits is %d", size, c, want)
		}
		if loss := sizes[c] - size; size > 128 && loss*9 > sizes[c] {
			t.Fatalf("size %d: %d of %d bytes are lost, more than 1/9", size, loss, sizes[c])
		}
	}
	require.Equal(t, segment.ClassRun, segment.ClassFor(slotSizeMax+1))
	require.Equal(t, segment.ClassRun, segment.ClassFor(1<<30))
	require.Equal(t, segment.Class(1), segment.ClassFor(0))
}

func TestGeometry(t *testing.T) {
	for _, mega := range []int{1, 2, 3, 4, 5, 15, 16, 17, 64, 100, 256, 1024} {
		for _, checksums := range []bool{false, true} {
			t.Run(fmt.Sprintf("%dMiB/%s", mega, onOff("checksums", checksums)), func(t *testing.T) {
				checkGeometry(t, mega*miB, checksums)
			})
		}
	}
}

func checkGeometry(t *testing.T, size int, checksums bool) {
	g, err := segment.NewGeometry(size, checksums)
	require.NoError(t, err)
	require.Equal(t, size/segment.UnitSize, g.Units)
	sizes := classSizes(t)
	largest := 0
	for c := segment.Class(1); c <= segment.ClassMax; c++ {
		sh := g.Shape(c)
		if sh.Slots == 0 {
			require.Equal(t, segment.Shape{}, *sh, "class %d", c)
			continue
		}
		require.Equal(t, largest, sizes[c-1], "class %d is used, the one before is not", c)
		largest = int(sh.SlotSize)
		checkShape(t, c, sh, size, checksums)
		require.Equal(t, sizes[c], largest)
	}
	require.Equal(t, largest, g.SlotMax)
	require.Equal(t, segment.ClassRun, g.ClassFor(g.SlotMax+1))
	require.Equal(t, segment.ClassFor(g.SlotMax), g.ClassFor(g.SlotMax))
	require.Equal(t, segment.Shape{Slots: 1}, *g.Shape(segment.ClassRun), "I5: a run has one slot")
	require.Zero(t, g.Shape(0).Slots, "class 0 is no class")
}

// checkShape holds one class against I4: slots and column fit, and do not touch.
func checkShape(t *testing.T, c segment.Class, sh *segment.Shape, size int, checksums bool) {
	page := int(sh.Units) * segment.UnitSize
	require.GreaterOrEqual(t, int(sh.Slots), 2, "class %d", c)
	require.LessOrEqual(t, int(sh.Slots), segment.SlotsMax, "class %d", c)
	require.LessOrEqual(t, page, max(size/16, segment.UnitSize), "class %d: page of more than 1/16 of the segment", c)
	slotsEnd, columnEnd := int(sh.Slots)*int(sh.SlotSize), int(sh.SumOffset)+int(sh.Slots)*4
	one := int(sh.SlotSize)
	if checksums {
		one += 4
		require.GreaterOrEqual(t, int(sh.SumOffset), slotsEnd, "class %d: the column touches the last slot", c)
		require.Equal(t, page, columnEnd, "class %d: the column ends before its page", c)
		require.Zero(t, sh.SumOffset%4, "class %d", c)
	} else {
		require.Zero(t, sh.SumOffset)
		require.LessOrEqual(t, slotsEnd, page, "class %d", c)
	}
	left := page - int(sh.Slots)*one
	require.GreaterOrEqual(t, left, 0)
	if int(sh.Slots) < segment.SlotsMax {
		require.Less(t, left, one, "class %d: one more slot would fit", c)
	}
}

// TestGeometryOfStrings is the case the layout was chosen for: 32 bytes and a header.
func TestGeometryOfStrings(t *testing.T) {
	g := geometry(t, 4096, true)
	sh := g.Shape(g.ClassFor(32 + wordSize))
	require.Equal(t, segment.Shape{SlotSize: 40, Slots: 1489, Units: 1, SumOffset: 65536 - 1489*4}, *sh)
	require.InDelta(t, 44.0, float64(segment.UnitSize)/float64(sh.Slots), 0.05, "bytes a string")
	require.Equal(t, uint32(1638), geometry(t, 4096, false).Shape(g.ClassFor(40)).Slots)
}

func TestGeometryTakesPagesOf16Slots(t *testing.T) {
	g := geometry(t, segment.UnitsMax, false)
	for c := segment.Class(1); c <= segment.ClassMax; c++ {
		require.GreaterOrEqual(t, g.Shape(c).Slots, uint32(16), "class %d", c)
	}
}

func TestGeometryRefusesSizes(t *testing.T) {
	for _, size := range []int{-miB, -1, 0, 1, segment.UnitSize, miB - 1, miB + 8, 1<<30 + segment.UnitSize} {
		g, err := segment.NewGeometry(size, false)
		require.Nil(t, g)
		require.EqualError(t, err,
			fmt.Sprintf("segment: size %d is not a multiple of 65536 between 131072 and 1073741824", size))
	}
	for _, size := range []int{2 * segment.UnitSize, 1 << 30} {
		_, err := segment.NewGeometry(size, false)
		require.NoError(t, err)
	}
}

func TestRunUnits(t *testing.T) {
	for _, c := range []struct{ n, units int }{
		{0, 1}, {1, 1}, {segment.UnitSize - 16, 1}, {segment.UnitSize - 15, 2},
		{2*segment.UnitSize - 16, 2}, {2*segment.UnitSize - 15, 3},
	} {
		require.Equal(t, c.units, segment.RunUnits(c.n), "%d bytes", c.n)
		require.GreaterOrEqual(t, segment.RunCapacity(c.units), c.n)
		require.Less(t, segment.RunCapacity(c.units-1), max(c.n, 1))
	}
}

func TestNewRefuses(t *testing.T) {
	g := geometry(t, 16, false)
	for _, c := range []struct {
		name         string
		bytes, descs int
		want         string
	}{
		{"half a unit", segment.UnitSize / 2, 128, "segment: 32768 bytes do not fit segments of 16 units"},
		{"not whole units", segment.UnitSize + 8, 128, "segment: 65544 bytes do not fit segments of 16 units"},
		{"more than a full segment", 17 * segment.UnitSize, 17 * 8, "segment: 1114112 bytes do not fit segments of 16 units"},
		{"too few descriptors", 16 * segment.UnitSize, 15 * 8, "segment: 120 bytes of descriptors for 16 units"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := segment.New(newMemory(t, segment.Heap, c.bytes), newMemory(t, segment.Heap, c.descs), g, 0)
			require.EqualError(t, err, c.want)
		})
	}
	short, err := segment.New(newMemory(t, segment.Heap, 3*segment.UnitSize), newMemory(t, segment.Heap, 128), g, 32)
	require.NoError(t, err, "a segment may be shorter than the others")
	require.Equal(t, 3, short.Units())
	require.Equal(t, 3, short.FreeUnits())
	require.Equal(t, uint32(32), short.First())
}
