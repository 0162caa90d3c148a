package segment

import "github.com/edsrzf/mmap-go"

// A section backed by the paging file is private to the process as long as it has no name.
const anonymousProt = mmap.RDWR
