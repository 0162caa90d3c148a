//go:build !unix

package main

import "time"

// clockName says what processorTime is.
const clockName = "wall time"

func processorTime() time.Duration { return wallTime() }
