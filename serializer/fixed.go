package serializer

import "encoding/binary"

// Floats are written as their bits, lowest byte first, on every platform.

func appendFixed32(b []byte, x uint32) []byte { return binary.LittleEndian.AppendUint32(b, x) }
func appendFixed64(b []byte, x uint64) []byte { return binary.LittleEndian.AppendUint64(b, x) }

func appendFloats64(b []byte, bits []uint64) []byte {
	for _, x := range bits {
		b = appendFixed64(b, x)
	}
	return b
}

func appendFloats32(b []byte, bits []uint32) []byte {
	for _, x := range bits {
		b = appendFixed32(b, x)
	}
	return b
}
