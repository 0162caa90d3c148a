package segment

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func doNotDump(b []byte) {
	// Only keeps core files small; a kernel that cannot do it changes nothing else.
	_ = unix.Madvise(b, unix.MADV_DONTDUMP)
}

func populate(b []byte) error {
	for {
		err := unix.Madvise(b, unix.MADV_POPULATE_WRITE)
		switch {
		case err == nil, errors.Is(err, unix.EINVAL): // EINVAL: before Linux 5.14
			return nil
		case !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN):
			return err
		}
	}
}

func discard(b []byte) (bool, error) {
	err := unix.Madvise(b, unix.MADV_DONTNEED)
	return err == nil, err
}

func protect(b []byte, on bool) error {
	if on {
		return unix.Mprotect(b, unix.PROT_NONE)
	}
	return unix.Mprotect(b, unix.PROT_READ|unix.PROT_WRITE)
}

func preferHuge(b []byte) error {
	if err := unix.Madvise(b, unix.MADV_HUGEPAGE); err != nil {
		return ErrNoHugePages // a kernel built without them
	}
	return nil
}

func collapse(b []byte) error {
	if err := unix.Madvise(b, unix.MADV_COLLAPSE); err != nil {
		return ErrNoHugePages // before Linux 6.1, or no free huge page right now
	}
	return nil
}

func reserve(f *os.File, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EOPNOTSUPP):
			return writeZeros(f, size)
		default:
			return err
		}
	}
}
