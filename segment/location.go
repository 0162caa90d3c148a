package segment

// A Location names a slot of a pile.
//
//	 39                  12 11           0
//	+----------------------+--------------+
//	| page 28              | slot 12      |
//	+----------------------+--------------+
//
// The page is the number of its first unit, counted over all segments: 2²⁸ units of 64 KiB are
// 16 TiB. A page has at most 4096 slots (64 KiB / 16 B).
type Location uint64

const (
	slotBits = 12
	pageBits = 28
	// LocationBits is the width of a Location.
	LocationBits = pageBits + slotBits
	locationMask = 1<<LocationBits - 1

	// PageCount is how many units one pile can address.
	PageCount = 1 << pageBits
)

const _ = uint(1<<slotBits - SlotsMax)

// At returns the location of a slot; page must be below PageCount and slot below SlotsMax.
func At(page, slot uint32) Location { return Location(page)<<slotBits | Location(slot) }

// Page returns the number of the first unit of the page.
func (l Location) Page() uint32 { return uint32(l >> slotBits) }

// Slot returns the index of the slot in its page.
func (l Location) Slot() uint32 { return uint32(l) & (1<<slotBits - 1) }
