package segment

import (
	"io"
	"os"
)

// writeZeros extends f to size by writing what is missing: where no system call reserves blocks,
// only a written block is a reserved one.
func writeZeros(f *os.File, size int64) error {
	have, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	zeros := make([]byte, 1<<20)
	for have < size {
		n, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-have)], have)
		if err != nil {
			return err
		}
		have += int64(n)
	}
	return nil
}
