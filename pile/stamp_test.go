package pile_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// A stamped value tells who it belongs to, which version it is, how long it is and whether every byte is there:
//
//	owner 8 | version 8 | length 8 | pattern of owner and version | crc32 4
const leastStamp = 28

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func stamp(owner, version uint64, n int) []byte {
	n = max(n, leastStamp)
	b := pattern(n, owner<<32^version)
	binary.LittleEndian.PutUint64(b, owner)
	binary.LittleEndian.PutUint64(b[8:], version)
	binary.LittleEndian.PutUint64(b[16:], uint64(n))
	binary.LittleEndian.PutUint32(b[n-4:], crc32.Checksum(b[:n-4], castagnoli))
	return b
}

// readStamp gives the version, or says why b is not a whole value of this owner.
func readStamp(b []byte, owner uint64) (version uint64, err error) {
	if len(b) < leastStamp {
		return 0, fmt.Errorf("value of owner %d: only %d bytes", owner, len(b))
	}
	n := len(b)
	found, version, length := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	if length != uint64(n) || binary.LittleEndian.Uint32(b[n-4:]) != crc32.Checksum(b[:n-4], castagnoli) {
		return 0, fmt.Errorf("torn value of owner %d: says owner %d, version %d, length %d of %d, bad checksum", owner, found, version, length, n)
	}
	if found != owner {
		return 0, fmt.Errorf("foreign value: owner %d in place of %d", found, owner)
	}
	return version, nil
}
