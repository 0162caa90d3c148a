//go:build !unix

package main

import "github.com/edsrzf/mmap-go"

const anonymousProtection = mmap.RDWR
