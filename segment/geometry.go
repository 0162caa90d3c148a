package segment

import "fmt"

const (
	// UnitSize is the bytes of a unit, the grain in which segments are cut.
	UnitSize = 64 << 10
	// UnitShift is log2 of UnitSize.
	UnitShift = 16
	// SlotsMax bounds the slots of one page; a slot index takes 12 bits of a location.
	SlotsMax = 4096

	wordSize     = 8
	checksumSize = 4
	runHeader    = 16 // header word and length word of a run

	// UnitsMax bounds the units of a segment, so that a run length takes 14 bits.
	UnitsMax = 1 << 14
)

const _ = uint(SlotsMax - UnitSize/slotSizeMin)

// Shape says how pages of one size class are cut.
type Shape struct {
	SlotSize  uint32 // bytes of a slot, header included
	Slots     uint32 // slots of a page; 0 when the class is not used in this geometry
	Units     uint32 // units of a page
	SumOffset uint32 // byte offset of the checksum column in the page; 0 without checksums
}

// Offset returns where a slot of the page at unit begins, in bytes from the start of the segment.
func (s *Shape) Offset(unit int, slot uint32) int {
	return unit<<UnitShift + int(slot)*int(s.SlotSize)
}

// Geometry says how segments of one pile are cut. All segments of a pile share one, also a segment
// that is shorter than the others.
type Geometry struct {
	Units     int  // units of a full segment
	Checksums bool // whether pages have a checksum column
	SlotMax   int  // bytes of the largest slot in use
	shapes    [ClassCount]Shape
}

// NewGeometry returns the geometry of segments of size bytes, a multiple of UnitSize.
//
// A page is so large that 16 slots of its class fit (15 with checksums), so that its tail wastes at
// most 1/17, but never larger than 1/16 of a segment: in segments below 64 MiB pages of large classes
// hold fewer slots, and waste up to a third. A class that does not fit twice into such a page is left
// to runs.
func NewGeometry(size int, checksums bool) (*Geometry, error) {
	units := size / UnitSize
	if size%UnitSize != 0 || units < 2 || units > UnitsMax {
		return nil, fmt.Errorf("segment: size %d is not a multiple of %d between %d and %d",
			size, UnitSize, 2*UnitSize, UnitsMax*UnitSize)
	}
	g := &Geometry{Units: units, Checksums: checksums}
	pageMax := max(1, units/16)
	for c := Class(1); c <= ClassMax; c++ {
		g.shapes[c] = shape(c, pageMax, checksums)
		if g.shapes[c].Slots > 0 {
			g.SlotMax = int(g.shapes[c].SlotSize)
		}
	}
	g.shapes[ClassRun] = Shape{Slots: 1}
	return g, nil
}

func shape(c Class, pageMax int, checksums bool) Shape {
	size := slotSize(c)
	units := 1
	for units*UnitSize < 16*size && units*2 <= pageMax {
		units *= 2
	}
	column := 0
	if checksums {
		column = checksumSize
	}
	slots := min(units*UnitSize/(size+column), SlotsMax)
	if slots < 2 {
		return Shape{}
	}
	s := Shape{SlotSize: uint32(size), Slots: uint32(slots), Units: uint32(units)}
	if checksums {
		s.SumOffset = uint32(units*UnitSize - slots*checksumSize)
	}
	return s
}

// Shape returns how pages of class c are cut.
func (g *Geometry) Shape(c Class) *Shape { return &g.shapes[c&(ClassCount-1)] }

// ClassFor returns the class for a slot of size bytes, header included: ClassRun when this geometry
// has no slots of that size.
func (g *Geometry) ClassFor(size int) Class {
	if size > g.SlotMax {
		return ClassRun
	}
	return ClassFor(size)
}

// RunUnits returns the units that a run for n payload bytes takes.
func RunUnits(n int) int { return (n + runHeader + UnitSize - 1) / UnitSize }

// RunCapacity returns the payload bytes of a run of that many units.
func RunCapacity(units int) int { return units*UnitSize - runHeader }
