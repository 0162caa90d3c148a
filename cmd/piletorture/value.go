package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync/atomic"

	"github.com/bigpile/bigpile/pile"
)

// A value in the pile, little endian:
//
//	owner 8 | version 8 | length 8 | words that follow from owner and version | crc32 4
const valueHeader, leastValue = 24, 28

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// object is one owner. Its writer holds the lock of its cell; readers look at the atomics only.
type object struct {
	owner   uint64
	ptr     pile.PilePointer
	written atomic.Uint64 // versions up to here may be seen
	settled atomic.Uint64 // versions below this must not be seen any more
	dying   atomic.Bool   // set before Delete or Purge: from then on it may be stale
}

// encode appends the value of a version with n bytes, n at least leastValue.
func encode(dst []byte, owner, version uint64, n int) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, owner)
	dst = binary.LittleEndian.AppendUint64(dst, version)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(n))
	for x := owner*0x9e3779b97f4a7c15 ^ version; len(dst)-start < n-4; x += 0x9e3779b97f4a7c15 {
		dst = binary.LittleEndian.AppendUint64(dst, x)
	}
	dst = dst[:start+n-4]
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// decode gives the version of a whole value of this owner, or what is there instead.
func decode(b []byte, owner uint64) (version uint64, err error) {
	if len(b) < leastValue {
		return 0, fmt.Errorf("%d bytes: % x", len(b), b)
	}
	found, version, n := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	switch sum := binary.LittleEndian.Uint32(b[len(b)-4:]); {
	case n != uint64(len(b)) || sum != crc32.Checksum(b[:len(b)-4], castagnoli):
		return 0, fmt.Errorf("torn: owner %d, version %d, length %d of %d bytes; begins % x", found, version, n, len(b), b[:valueHeader])
	case found != owner:
		return 0, fmt.Errorf("foreign: owner %d, version %d, %d bytes", found, version, n)
	}
	return version, nil
}
