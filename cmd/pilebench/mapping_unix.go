//go:build unix

package main

import "github.com/edsrzf/mmap-go"

// anonymousProtection asks for private memory: without COPY mmap-go maps shared
// memory, which is accounted, faulted and made of huge pages differently.
const anonymousProtection = mmap.COPY
