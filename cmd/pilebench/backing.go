package main

import (
	"fmt"

	"github.com/bigpile/bigpile/pile"
	"github.com/bigpile/bigpile/serializer"
)

// backing is a kind of memory that a pile stands on.
type backing struct {
	name   string
	onHeap bool // the bare copy then stands on the Go heap, too
	value  pile.Backing
}

// backings lists what -backing takes.
func backings() []backing {
	return []backing{
		{name: "anonymous", value: pile.Anonymous},
		{name: "heap", onHeap: true, value: pile.Heap},
	}
}

func backingNames() (names []string) {
	for _, b := range backings() {
		names = append(names, b.name)
	}
	return names
}

// backing returns what the config names.
func (c *config) backingOf() backing {
	for _, b := range backings() {
		if b.name == c.backing {
			return b
		}
	}
	panic("pilebench: backing not validated: " + c.backing)
}

// openPile makes an empty pile as the flags say.
func (c *config) openPile() (*pile.Pile, error) { return c.openPileOf(nil) }

// openPileOf is openPile with a registry of types.
func (c *config) openPileOf(types *serializer.Registry) (*pile.Pile, error) {
	p, err := pile.New(pile.Options{
		Types:       types,
		SegmentSize: c.segmentSize,
		Backing:     c.backingOf().value,
		HugePages:   hugePages()[c.huge],
	})
	if err != nil {
		return nil, fmt.Errorf("make a pile: %w", err)
	}
	return p, nil
}

// closePile closes p and waits until its memory is unmapped, so that the next
// step has it.
func closePile(p *pile.Pile) error {
	if p == nil {
		return nil
	}
	err := p.Close()
	<-p.Done()
	return err
}
