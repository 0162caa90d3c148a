package segment

import "math/bits"

// Size classes: multiples of 8 bytes from 16 to 128, then 8 classes a doubling up to 256 KiB.
//
//	class   1   2   3 …  15 |  16   17 …  23 |  24 …  31 | … | … 103
//	bytes  16  24  32 … 128 | 144  160 … 256 | 288 … 512 | … | … 262144
//
// Eight a doubling bounds the loss inside a slot to 1/9 of it. Four a doubling lost up to a fifth;
// sixteen gained one or two points of utilisation for twice as many half empty pages.

// A Class is the number of a size class. Zero is no class; ClassRun marks a run.
type Class uint16

const (
	slotSizeMin   = 16
	linearMax     = 128 // largest size reached in steps of 8
	slotSizeMax   = 256 << 10
	stepsPerTwice = 8

	linearClasses = (linearMax - slotSizeMin) / 8 // the last of them is number linearClasses+1
	doublings     = 11                            // 128 B → 256 KiB

	// ClassMax is the class of the largest slots.
	ClassMax Class = linearClasses + 1 + doublings*stepsPerTwice
	// ClassRun is the class in the descriptor of a run: one slot that fills its units.
	ClassRun Class = 127
	// ClassCount bounds arrays indexed by Class.
	ClassCount = 128
)

const _ = uint(linearMax<<doublings-slotSizeMax) + uint(slotSizeMax-linearMax<<doublings) // equal

// ClassFor returns the smallest class whose slots hold size bytes, header included, or ClassRun when
// no slot is large enough.
func ClassFor(size int) Class {
	if size <= linearMax {
		if size <= slotSizeMin {
			return 1
		}
		return Class((size+7)/8 - 1)
	}
	if size > slotSizeMax {
		return ClassRun
	}
	// size-1 has its top bit at position top; the three bits below it choose the step.
	top := bits.Len(uint(size-1)) - 1
	step := (size - 1) >> (top - 3) & 7
	return Class(linearClasses + 1 + (top-7)*stepsPerTwice + step + 1)
}

// slotSize returns the bytes of a slot of class c, header included.
func slotSize(c Class) int {
	if c <= linearClasses+1 {
		return int(c)*8 + 8
	}
	i := int(c) - (linearClasses + 1) - 1
	base := linearMax << (i / stepsPerTwice)
	return base + base/stepsPerTwice*(i%stepsPerTwice+1)
}
