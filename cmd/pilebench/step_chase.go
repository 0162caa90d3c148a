package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/bigpile/bigpile/pile"
)

// chase measures reads that depend on each other: each value holds the handle
// of the next, so that no two can be under way at once and every read is a trip
// to memory.
//
// All values make one random cycle. A value can only hold a handle that exists,
// so the cycle is built backwards in layers: the values of layer 0 are put
// first, those of layer 1 point to those of layer 0 by a random permutation,
// and so on up to chainDepth layers. A walk comes down through the layers, at a
// random place in each, and goes on at the top of the next chain, whose handle
// is in a small table: one step of chainDepth. All of the values are passed
// before any is passed again, so no cache helps.
type chase struct {
	v      *values
	pile   *pile.Pile
	bare   *bareMemory
	chains int64
	order  []uint32 // order[i] is the chain of the i-th value of the layer being built

	handles, places layer // of the last layer built; at the end, of the tops
}

// layer is a number for each chain, in the layer last built and in the one
// before it.
type layer struct {
	now, before []uint64
}

func newLayer(chains int64) layer {
	return layer{make([]uint64, chains), make([]uint64, chains)}
}

func (l *layer) turn() { l.now, l.before = l.before, l.now }

// chaseSizeMin has room for the handle of the next and a word to check.
const chaseSizeMin = 16

// id is the number that the content of a value is made from.
func (c *chase) id(chain, depth int64) int64 { return depth*c.chains + chain }

func (c *chase) size(id int64) int { return max(chaseSizeMin, c.v.source.size(id)) }

// chase is the step: it builds the cycle in a pile and in bare memory, brings
// both to the same pages, and lets them take turns.
func (v *values) chase() error {
	c := &chase{v: v, chains: v.b.plan.chains}
	return errors.Join(c.run(), closePile(c.pile), c.bare.close())
}

func (c *chase) run() error {
	b := c.v.b
	if err := c.build(); err != nil {
		return err
	}
	pages, err := c.evenPages()
	if err != nil {
		return err
	}
	rounds := b.rounds + 1
	steps := max(1, min(b.plan.readOps/2, c.chains*chainDepth)) / int64(b.goroutines)
	b.progress.begin("chase", 2*int64(rounds)*steps*int64(b.goroutines))
	measured, err := alternate(b, rounds, c.side("chase", steps, c.handles, c.readPile),
		c.side("bare chase", steps, c.places, c.readBare))
	if len(measured[0]) > 0 {
		b.report.add(row{
			op: "random-get", rate: measured[0].rate(), against: "bare chase",
			ratio: ratioOf(measured[0], measured[1]), allocs: known(measured[0].allocsPerOp()),
			bytes: bytesPerValue(c.pile),
		})
		b.report.chase = fmt.Sprintf("%s values, %s; %s", formatCount(c.chains*chainDepth),
			formatSize(int64(len(c.bare.memory))), pages)
	}
	return err
}

// build puts all layers, in the pile and in bare memory by turns.
func (c *chase) build() (err error) {
	b := c.v.b
	if c.pile, err = b.openPile(); err != nil {
		return err
	}
	if c.bare, err = newBareMemory(c.areaSizes(), b.backingOf(), b.huge); err != nil {
		return err
	}
	c.order = make([]uint32, c.chains)
	for i := range c.order {
		c.order[i] = uint32(i)
	}
	c.handles, c.places = newLayer(c.chains), newLayer(c.chains)
	random := rand.New(rand.NewPCG(b.seed, 1))
	b.progress.begin("build chase", c.chains*chainDepth)
	for depth := range int64(chainDepth) {
		random.Shuffle(len(c.order), func(i, k int) { c.order[i], c.order[k] = c.order[k], c.order[i] })
		c.handles.turn()
		c.places.turn()
		if err := inParallel(b, func(t *task) error { return c.buildPart(t, depth) }); err != nil {
			return err
		}
	}
	return nil
}

// buildPart puts one goroutine's values of a layer.
func (c *chase) buildPart(t *task, depth int64) error {
	var value []byte
	area := &c.bare.areas[t.worker]
	part := span{0, c.chains}.part(t.worker, t.workers)
	return eachChunk(t, part, chunkValues, func(first int64, count int) error {
		for _, n := range c.order[first : first+int64(count)] {
			chain := int64(n)
			id := c.id(chain, depth)
			value = append(value[:0], make([]byte, c.size(id))...)
			pattern{}.write(value[8:], uint64(id))
			binary.LittleEndian.PutUint64(value, c.handles.before[chain])
			handle, err := c.pile.PutBytes(value)
			if err != nil {
				return err
			}
			c.handles.now[chain] = uint64(handle)
			binary.LittleEndian.PutUint64(value, c.places.before[chain])
			c.places.now[chain] = appendBare(area, value)
		}
		return nil
	})
}

// areaSizes returns what the goroutines' values take in bare memory. Which
// chains a goroutine gets is random, so for values of many sizes there is some
// room to spare.
func (c *chase) areaSizes() []int64 {
	sizes := make([]int64, c.v.b.goroutines)
	if fixed, ok := c.v.source.(*fixedSource); ok {
		for w := range sizes {
			part := span{0, c.chains}.part(w, len(sizes))
			sizes[w] = part.count * chainDepth * stride(max(chaseSizeMin, fixed.bytes))
		}
		return sizes
	}
	total, largest := int64(0), int64(0)
	for id := range c.chains * chainDepth {
		one := stride(c.size(id))
		total, largest = total+one, max(largest, one)
	}
	for w := range sizes {
		sizes[w] = total/int64(len(sizes)) + total/20 + 64*largest
	}
	return sizes
}

// reader reads one value of the cycle into dst.
type reader func(dst []byte, number uint64) ([]byte, error)

func (c *chase) readPile(dst []byte, handle uint64) ([]byte, error) {
	return c.pile.AppendBytes(dst, pile.PilePointer(handle))
}

func (c *chase) readBare(dst []byte, place uint64) ([]byte, error) {
	return c.bare.read(dst, place), nil
}

// walker is how far a goroutine has come.
type walker struct {
	chain, depth int64
	number       uint64
	buffer       []byte
	_            [64]byte
}

// side makes a side of the comparison; the walks go on from round to round.
func (c *chase) side(name string, steps int64, tops layer, read reader) side {
	walkers := make([]walker, c.v.b.goroutines)
	for w := range walkers {
		walkers[w] = walker{chain: span{0, c.chains}.part(w, len(walkers)).first, depth: chainDepth - 1}
		walkers[w].number = tops.now[walkers[w].chain]
	}
	return side{name: name, work: func(t *task) (int64, error) {
		c.v.b.verdict.checked.Add(steps)
		w := walkers[t.worker]
		err := eachChunk(t, span{0, steps}, chunkValues, func(_ int64, count int) error {
			return c.walk(&w, count, tops.now, read)
		})
		walkers[t.worker] = w
		return steps, err
	}}
}

// walk takes some steps. A wrong value leads nowhere, so it ends the run.
func (c *chase) walk(w *walker, steps int, tops []uint64, read reader) error {
	for range steps {
		id := c.id(w.chain, w.depth)
		b, err := read(w.buffer[:0], w.number)
		if err != nil {
			c.v.b.verdict.lostValue("chase", id, w.number, err)
			return err
		}
		if len(b) != c.size(id) || !(pattern{}).check(b[8:], uint64(id)) {
			c.v.b.verdict.wrongValue("chase", id, w.number, b)
			return errors.New("the chase has lost its way")
		}
		w.buffer, w.number = b, binary.LittleEndian.Uint64(b)
		w.depth--
		if w.depth < 0 {
			w.depth = chainDepth - 1
			w.chain = (w.chain + 1) % c.chains
			w.number = tops[w.chain]
		}
	}
	return nil
}
