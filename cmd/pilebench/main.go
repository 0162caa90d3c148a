// Command pilebench measures a pile on this machine and prints one table.
//
//	go run ./cmd/pilebench
//
// needs no flag: it sizes itself to the memory it may use, fills a pile, reads
// it back, and sets each figure beside two others: the published one of the
// ancestor (NFX Pile), and what this machine can do at best, measured in the
// same run (a loop that only copies the same values). Every value that is read
// is compared with what was put; a wrong or lost one makes the exit code 1.
// Run it with -h for the flags.
package main

import (
	"context"
	"os"
	"os/signal"
)

// The exit codes.
const (
	exitFine        = 0
	exitFailed      = 1 // a wrong or lost value, or the run could not go on
	exitUsage       = 2
	exitInterrupted = 130 // 128 + SIGINT, as shells report it
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // from now on a second Ctrl-C kills
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
