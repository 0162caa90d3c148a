package serializer

// Numbers are written in groups of seven bits, lowest first; the top bit of a byte says that another follows. The ninth byte, if
// there is one, carries eight bits, so that no number takes ten:
//
//	0xxxxxxx                      < 2⁷
//	1xxxxxxx 0xxxxxxx             < 2¹⁴
//	…
//	1xxxxxxx ×8 xxxxxxxx          < 2⁶⁴
//
// Signed numbers are folded first (zig-zag): 0, -1, 1, -2, … become 0, 1, 2, 3, …

// appendUvarint appends x.
func appendUvarint(b []byte, x uint64) []byte {
	switch {
	case x < 1<<7:
		return append(b, byte(x))
	case x < 1<<14:
		return append(b, byte(x)|0x80, byte(x>>7))
	case x < 1<<21:
		return append(b, byte(x)|0x80, byte(x>>7)|0x80, byte(x>>14))
	case x < 1<<28:
		return append(b, byte(x)|0x80, byte(x>>7)|0x80, byte(x>>14)|0x80, byte(x>>21))
	}
	return appendLong(append(b, byte(x)|0x80, byte(x>>7)|0x80, byte(x>>14)|0x80, byte(x>>21)|0x80), x>>28)
}

// appendLong appends what is left of a number after its first four bytes.
func appendLong(b []byte, x uint64) []byte {
	for range 4 {
		if x < 1<<7 {
			return append(b, byte(x))
		}
		b = append(b, byte(x)|0x80)
		x >>= 7
	}
	return append(b, byte(x))
}

// appendVarint appends a signed number.
func appendVarint(b []byte, x int64) []byte { return appendUvarint(b, zigzag(x)) }

func zigzag(x int64) uint64   { return uint64(x)<<1 ^ uint64(x>>63) }
func unzigzag(x uint64) int64 { return int64(x>>1) ^ -int64(x&1) }

// uvarint reads the number at src[pos:] and returns it with the position behind it, negative when src ends within it.
func uvarint(src []byte, pos int) (uint64, int) {
	if uint(pos) < uint(len(src)) && src[pos] < 0x80 {
		return uint64(src[pos]), pos + 1
	}
	return uvarintLong(src, pos)
}

func uvarintLong(src []byte, pos int) (uint64, int) {
	if uint(pos) >= uint(len(src)) {
		return 0, -1
	}
	var x uint64
	src = src[pos:]
	for i := 0; i < len(src) && i < 8; i++ {
		x |= uint64(src[i]&0x7f) << (7 * i)
		if src[i] < 0x80 {
			return x, pos + i + 1
		}
	}
	if len(src) < 9 {
		return 0, -1
	}
	return x | uint64(src[8])<<56, pos + 9
}
