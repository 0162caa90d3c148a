//go:build unix

package segment

import "github.com/edsrzf/mmap-go"

// COPY makes the mapping private. A shared anonymous mapping would be shmem, for which the kernel
// has other, mostly disabled, huge page rules.
const anonymousProt = mmap.COPY
