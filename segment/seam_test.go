package segment_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/bigpile/bigpile/segment"
)

// stored is one store that went through the seam.
type stored struct {
	descriptor bool // of the descriptors, not of the memory
	offset     int
	word       uint64
}

func (s stored) String() string {
	if s.descriptor {
		d := segment.Descriptor(s.word)
		return fmt.Sprintf("unit %d: role %d class %d base %d length %d", s.offset/wordSize, d.Role(), d.Class(), d.Base(), d.Length())
	}
	return fmt.Sprintf("offset %#x (unit %d): %#x", s.offset, s.offset/segment.UnitSize, s.word)
}

// recorder is the observer of one region. Both regions of a segment write to one log, in store order.
type recorder struct {
	log        *[]stored
	descriptor bool
}

func (r recorder) Stored(offset int, w uint64) {
	*r.log = append(*r.log, stored{r.descriptor, offset, w})
}

// observe records all stores from now on.
func observe(s *segment.Segment) *[]stored {
	log := new([]stored)
	s.Memory().Observe(recorder{log, false})
	s.Descriptors().Observe(recorder{log, true})
	return log
}

// steps are the steps of a slot that exist (I7).
var steps = map[[2]string]bool{
	{"free", "value"}: true, {"free", "target"}: true, {"value", "link"}: true, {"link", "link"}: true,
	{"link", "value"}: true, {"value", "retired"}: true, {"link", "retired"}: true,
	{"target", "retired"}: true, {"retired", "free"}: true,
	{"target", "target"}: true, // no step: a flag is set
}

func stateOf(w segment.Word) string {
	if w.IsLink() {
		return "link"
	}
	return [...]string{"free", "value", "target", "retired"}[w.State()]
}

// replica is fresh memory into which a log is replayed store by store. No free map or counter of it
// is right, as after a crash; what it says is only what the stores said.
type replica struct {
	*segment.Segment
	wasOpen map[int]bool // heads whose page was open and has not been closed since
}

// replay plays the log into fresh memory and holds every prefix of it against the invariants (I16).
func replay(t tb, log []stored, p plan) *segment.Segment {
	t.Helper()
	r := &replica{newSegment(t, p), map[int]bool{}}
	for i, st := range log {
		if st.descriptor {
			r.described(t, i, st)
			r.Descriptors().Store(st.offset, segment.Word(st.word))
		} else {
			r.slotStored(t, i, st)
			r.Memory().Store(st.offset, segment.Word(st.word))
		}
		if found := problems(r.Segment); len(found) > 0 {
			t.Fatalf("after store %d (%v): %q; last stores %v", i, st, found, log[max(0, i-8):i+1])
		}
	}
	return r.Segment
}

// described checks a store of a descriptor: roles change in the order of I15, bases never fall (I12).
func (r *replica) described(t tb, i int, st stored) {
	unit := st.offset / wordSize
	old, d := r.Descriptor(unit), segment.Descriptor(st.word)
	require.NotZero(t, unit, "store %d: I3: unit 0 is not used", i)
	require.GreaterOrEqual(t, d.Base(), old.Base(), "store %d (%v): I12: the base fell", i, st)
	allowed := map[segment.Role][]segment.Role{
		segment.Empty:        {segment.Open, segment.Closed, segment.Continuation},
		segment.Open:         {segment.Closed},
		segment.Closed:       {segment.Open, segment.Empty, segment.Worn},
		segment.Continuation: {segment.Empty, segment.Worn},
	}
	require.Contains(t, allowed[old.Role()], d.Role(), "store %d (%v): from role %d", i, st, old.Role())
	switch d.Role() {
	case segment.Closed:
		r.wasOpen[unit] = old.Role() == segment.Open
	case segment.Open:
		require.False(t, r.wasOpen[unit], "store %d (%v): I15: opened again, but not emptied", i, st)
		r.formatted(t, i, unit, d)
	case segment.Empty, segment.Worn:
		delete(r.wasOpen, unit)
	}
}

// formatted expects that every header of the page that d publishes is written (I15) and all of its
// units described.
func (r *replica) formatted(t tb, i, unit int, d segment.Descriptor) {
	shape := r.Geometry().Shape(d.Class())
	for slot := range int(shape.Slots) {
		w := r.Memory().Load(unit*segment.UnitSize + slot*int(shape.SlotSize))
		require.Equal(t, segment.FreeWord(d.Base()), w, "store %d: I15: unit %d is published, slot %d is not written", i, unit, slot)
	}
	for k := 1; k < d.Length(); k++ {
		c := r.Descriptor(unit + k)
		require.Equal(t, []int{int(segment.Continuation), k}, []int{int(c.Role()), c.Length()},
			"store %d: I2: unit %d is published, unit %d is not described", i, unit, unit+k)
	}
}

// slotStored checks a store to the memory: the step of a slot (I7, I10), a length word of a run that
// nobody can see yet (I14), or a format of what nobody can read (I15).
func (r *replica) slotStored(t tb, i int, st stored) {
	unit := st.offset / segment.UnitSize
	require.NotZero(t, unit, "store %d: I3: unit 0 is not used", i)
	head := unit
	if d := r.Descriptor(unit); d.Role() == segment.Continuation {
		head = unit - d.Length()
	}
	d := r.Descriptor(head)
	old, w := r.Memory().Load(st.offset), segment.Word(st.word)
	shape := r.Geometry().Shape(d.Class())
	inPage := st.offset - head*segment.UnitSize
	switch {
	case d.Role() == segment.Empty:
		require.True(t, w.Is(segment.Free), "store %d (%v): a header is formatted free", i, st)
		require.GreaterOrEqual(t, w.Generation(), d.Base(), "store %d (%v): I11", i, st)
	case d.Class() == segment.ClassRun && inPage == wordSize:
		before := stateOf(r.Memory().Load(st.offset - wordSize))
		require.Contains(t, []string{"free", "link"}, before, "store %d (%v): I14", i, st)
	case d.Class() == segment.ClassRun:
		require.Zero(t, inPage, "store %d (%v): I5", i, st)
		r.step(t, i, st, old, w)
	default:
		require.Zero(t, inPage%int(shape.SlotSize), "store %d (%v): I4: no slot begins here", i, st)
		require.Less(t, inPage/int(shape.SlotSize), int(shape.Slots), "store %d (%v): I4", i, st)
		require.Equal(t, segment.Open, d.Role(), "store %d (%v): the page is not open", i, st)
		r.step(t, i, st, old, w)
	}
}

func (r *replica) step(t tb, i int, st stored, old, w segment.Word) {
	from, to := stateOf(old), stateOf(w)
	require.True(t, steps[[2]string{from, to}], "store %d (%v): I7: %s → %s", i, st, from, to)
	want := old.Generation()
	if to == "free" {
		want++
	}
	require.Equal(t, want, w.Generation(), "store %d (%v): I10: %s → %s", i, st, from, to)
}

// place is a slot in use.
type place struct {
	unit   int
	slot   uint32
	offset int
}

// driver does with a segment what a pile does, in the order in which a pile does it.
type driver struct {
	tb
	*segment.Segment
	pages  []int           // open pages
	values []place         // in state value
	links  map[place]place // head → target
	heads  []place         // keys of links
	gone   []place         // retired
	sums   bool
}

func newDriver(t tb, p plan) (*driver, *[]stored) {
	s := newSegment(t, p)
	s.ReserveUnit(0)
	return &driver{tb: t, Segment: s, links: map[place]place{}, sums: p.checksums}, observe(s)
}

func (d *driver) open(c segment.Class) (ok bool) {
	n := int(d.Geometry().Shape(c).Units)
	unit, ok := d.TakeUnits(n, false)
	if ok {
		d.OpenPage(unit, c)
		d.pages = append(d.pages, unit)
	}
	return ok
}

// put publishes n bytes in the page.
func (d *driver) put(page, n int, state segment.State, flags segment.Flags) (p place, ok bool) {
	slot, ok := d.ClaimOne(page)
	if !ok {
		return p, false
	}
	p = place{page, slot, offsetOf(d, d.Segment, page, slot)}
	d.fill(p, n, state, flags)
	if state == segment.Value {
		d.values = append(d.values, p)
	}
	return p, true
}

// fill writes payload and checksum, then publishes, with the generation that the slot has.
func (d *driver) fill(p place, n int, state segment.State, flags segment.Flags) {
	m, desc := d.Memory(), d.Descriptor(p.unit)
	old := m.Load(p.offset)
	length, large := n, desc.Class() == segment.ClassRun
	if large {
		m.SetRunLength(p.offset, n)
		length, flags = desc.Length(), flags|segment.Large
	}
	fill(m.Room(p.offset, n, large), uint32(n))
	if d.sums {
		at := segment.At(d.First()+uint32(p.unit), p.slot)
		d.SetSum(p.unit, p.slot, p.offset, segment.Sum(at, old.Generation(), m.Room(p.offset, n, large)))
	}
	w := segment.Header(state, flags, old.Generation(), 1, length)
	if old.IsLink() {
		require.True(d, m.CompareAndSwap(p.offset, old, w))
		return
	}
	m.Store(p.offset, w)
}

func (d *driver) run(n int, state segment.State) (p place, ok bool) {
	units := segment.RunUnits(n)
	unit, ok := d.TakeUnits(units, false)
	if !ok {
		return p, false
	}
	d.OpenRun(unit, units)
	p = place{unit: unit, offset: unit * segment.UnitSize}
	d.fill(p, n, state, 0)
	if state == segment.Value {
		d.values = append(d.values, p)
	}
	return p, true
}

// link makes a head, a value or a link, a link to the target t.
func (d *driver) link(head, t place) {
	m := d.Memory()
	old := m.Load(head.offset)
	require.True(d, m.CompareAndSwap(head.offset, old, segment.Link(old.Generation(), segment.At(d.First()+uint32(t.unit), t.slot))))
	if before, ok := d.links[head]; ok {
		d.retire(before)
	} else {
		d.heads = append(d.heads, head)
	}
	d.links[head] = t
}

// settle marks the target of a link, and home returns the value to the slot that linked to it.
func (d *driver) settle(head place) {
	t := d.links[head]
	d.Memory().Store(t.offset, d.Memory().Load(t.offset).WithFlags(segment.Settled))
}

func (d *driver) home(head place, n int) {
	t := d.links[head]
	d.fill(head, n, segment.Value, 0)
	d.retire(t)
	delete(d.links, head)
	d.values = append(d.values, head)
}

// retire makes a value, link or target retired. A run is closed at once.
func (d *driver) retire(p place) {
	m := d.Memory()
	w := m.Load(p.offset)
	if w.IsLink() {
		w = segment.Header(segment.Retired, 0, w.Generation(), 0, 0)
	}
	m.Store(p.offset, w.WithState(segment.Retired))
	if d.Descriptor(p.unit).Class() == segment.ClassRun {
		d.ClosePage(p.unit)
	}
	d.gone = append(d.gone, p)
}

// drop retires a link and its target.
func (d *driver) drop(head place) {
	t := d.links[head]
	d.retire(head)
	d.retire(t)
	delete(d.links, head)
}

// drain frees everything that is retired.
func (d *driver) drain() {
	for _, p := range d.gone {
		d.FreeSlot(p.unit, p.slot, p.offset)
		if d.Descriptor(p.unit).Class() == segment.ClassRun {
			d.empty(p.unit)
		}
	}
	d.gone = nil
}

// closeVacant closes and empties pages that hold nothing.
func (d *driver) closeVacant() (closed int) {
	kept := d.pages[:0]
	for _, page := range d.pages {
		if !d.IsVacant(page) {
			kept = append(kept, page)
			continue
		}
		d.ClosePage(page)
		d.empty(page)
		closed++
	}
	d.pages = kept
	return closed
}

func (d *driver) empty(page int) {
	n, usable, err := d.EmptyPage(page)
	require.NoError(d, err)
	if usable {
		d.GiveUnits(page, n)
		return
	}
	for u := page; u < page+n; u++ {
		d.ReserveUnit(u)
	}
}

// seamPlan makes a segment with all that can happen to a unit: never used, used, nearly worn.
func seamPlan(checksums bool) plan {
	return plan{backing: segment.Heap, units: 32, checksums: checksums, first: 0, describe: map[int]segment.Descriptor{
		2: emptied(5), 3: emptied(segment.GenerationMax - 1), 7: emptied(segment.GenerationMax),
	}}
}

// TestSeam runs through a life in a fixed order and replays every prefix of its stores.
func TestSeam(t *testing.T) {
	for _, checksums := range []bool{false, true} {
		t.Run(onOff("checksums", checksums), func(t *testing.T) {
			p := seamPlan(checksums)
			d, log := newDriver(t, p)
			for life := range 3 {
				runScript(d, life)
				require.Empty(t, problems(d.Segment), "life %d", life)
			}
			compareSegments(t, d.Segment, replay(t, *log, p))
		})
	}
}

func runScript(d *driver, life int) {
	// Other classes each time, so that headers come to lie in old payloads.
	small := classOf(d, d.Geometry(), []int{1024, 1280, 2048}[life])
	wide := classOf(d, d.Geometry(), []int{8192, 6144, 16384}[life])
	require.Equal(d, uint32(2), d.Geometry().Shape(wide).Units)
	for _, c := range []segment.Class{small, wide, small} {
		require.True(d, d.open(c))
	}
	must := func(p place, ok bool) place { require.True(d, ok); return p }
	at := d.pages
	a := must(d.put(at[0], 100, segment.Value, 0))
	b := must(d.put(at[0], 1000, segment.Value, segment.Reserve))
	c := must(d.put(at[1], 6000, segment.Value, 0))
	big := must(d.run(3*segment.UnitSize, segment.Value))
	d.link(a, must(d.put(at[1], 5000, segment.Target, 0)))               // value → link
	d.link(a, must(d.run(segment.UnitSize, segment.Target)))             // link → link, to a run
	d.link(b, must(d.put(at[2], 10, segment.Target, segment.Reserve)))   // value → link
	d.link(big, must(d.put(at[2], 11, segment.Target, segment.InTable))) // a run that is a link
	d.settle(b)                                                          // target → target
	d.home(b, 900)                                                       // link → value
	d.settle(big)
	d.home(big, segment.UnitSize) // a shorter value in the same run
	d.drop(a)                     // link → retired, target → retired
	for _, v := range []place{b, c, big} {
		d.retire(v) // value → retired
	}
	d.values = nil
	d.drain() // retired → free
	require.Equal(d, 3, d.closeVacant())
	require.True(d, d.AllEmpty())
}

// compareSegments expects that the stores of the log were all there were.
func compareSegments(t tb, live, copied *segment.Segment) {
	for u := range live.Units() {
		require.Equal(t, live.Descriptor(u), copied.Descriptor(u), "unit %d", u)
	}
	live.Heads(func(unit int, _ segment.Descriptor) bool {
		return live.Crawl(unit, func(sl segment.Slot) bool {
			require.Equal(t, sl.Word, copied.Memory().Load(sl.Offset), "unit %d slot %d", unit, sl.Index)
			return true
		})
	})
}

// TestSeamModel does the same with lives that nobody thought of.
func TestSeamModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := seamPlan(rapid.Bool().Draw(rt, "checksums"))
		d, log := newDriver(rt, p)
		sizes := rapid.SampledFrom([]int{1024, 1792, 2048, 4096, 5120, 8192, 16384})
		one := func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "i") }
		room := func(page int) int { return rapid.IntRange(0, d.Capacity(page)).Draw(rt, "n") }
		pick := func(list *[]place) place {
			if len(*list) == 0 {
				rt.Skip()
			}
			i := one(len(*list))
			got := (*list)[i]
			*list = append((*list)[:i], (*list)[i+1:]...)
			return got
		}
		target := func() (place, bool) {
			if len(d.pages) == 0 || one(4) == 0 {
				return d.run(segment.UnitSize*(one(3)+1), segment.Target)
			}
			page := d.pages[one(len(d.pages))]
			return d.put(page, room(page), segment.Target, 0)
		}
		relink := func(head place) {
			if to, ok := target(); ok {
				d.link(head, to)
			} else if _, linked := d.links[head]; !linked {
				d.values = append(d.values, head)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"open": func(*rapid.T) { d.open(d.Geometry().ClassFor(sizes.Draw(rt, "size"))) },
			"put": func(rt *rapid.T) {
				if len(d.pages) == 0 {
					rt.Skip()
				}
				page := d.pages[one(len(d.pages))]
				d.put(page, room(page), segment.Value, 0)
			},
			"run":  func(*rapid.T) { d.run(segment.UnitSize*(one(4)+1)-one(20), segment.Value) },
			"link": func(*rapid.T) { relink(pick(&d.values)) },
			"link again": func(*rapid.T) {
				head := pick(&d.heads)
				d.heads = append(d.heads, head)
				relink(head)
			},
			"home": func(*rapid.T) {
				head := pick(&d.heads)
				d.settle(head)
				d.home(head, room(head.unit))
			},
			"drop":  func(*rapid.T) { d.drop(pick(&d.heads)) },
			"drain": func(*rapid.T) { d.drain() },
			"retire": func(*rapid.T) {
				d.retire(pick(&d.values))
			},
			"close": func(*rapid.T) { d.drain(); d.closeVacant() },
		})
		require.Empty(rt, problems(d.Segment))
		compareSegments(rt, d.Segment, replay(rt, *log, p))
	})
}
