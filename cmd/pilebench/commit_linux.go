package main

import "golang.org/x/sys/unix"

// commit makes b, which begins at a page, writable without a page fault. One
// call for many pages costs a small part of the faults it saves.
func commit(b []byte) {
	if len(b) > 0 && unix.Madvise(b, unix.MADV_POPULATE_WRITE) != nil {
		touch(b) // before Linux 5.14
	}
}

// adviseHuge says how b, not yet written, is to be paged.
func adviseHuge(b []byte, huge string) {
	switch huge {
	case "always":
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // advice: where it is not taken the output shows it
	case "never":
		_ = unix.Madvise(b, unix.MADV_NOHUGEPAGE)
	}
}

// collapse turns the pages of b into huge pages, and reports whether it could.
func collapse(b []byte) bool {
	return len(b) == 0 || unix.Madvise(b, unix.MADV_COLLAPSE) == nil
}
