package pile_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/bigpile/bigpile/pile"
	"github.com/bigpile/bigpile/serializer"
	"github.com/stretchr/testify/require"
)

// hooked is stored by a hookCodec.
type hooked struct{ Data []byte }

// hookCodec is a user's codec that does something else first.
type hookCodec struct {
	onAppend, onDecode func()
}

func (c *hookCodec) Append(dst []byte, v any) ([]byte, error) {
	if c.onAppend != nil {
		c.onAppend()
	}
	return append(dst, v.(*hooked).Data...), nil
}

func (c *hookCodec) Decode(src []byte, v any) error {
	if c.onDecode != nil {
		c.onDecode()
	}
	v.(*hooked).Data = append([]byte{}, src...)
	return nil
}

// loud is a type with msgp's methods, of which the first does something else first.
type loud struct{ do func() }

func (l *loud) MarshalMsg(b []byte) ([]byte, error)   { l.do(); return append(b, 0xC0), nil }
func (l *loud) UnmarshalMsg(b []byte) ([]byte, error) { return b[1:], nil }
func (l *loud) Msgsize() int                          { return 1 }

func openWith(t *testing.T, o pile.Options, c serializer.Codec) (*pile.Pile, *pile.Typed[hooked]) {
	t.Helper()
	o.Types = serializer.NewRegistry()
	require.NoError(t, o.Types.RegisterCodec("hooked", hooked{}, c))
	p := open(t, o)
	typed, err := pile.Of[hooked](p)
	require.NoError(t, err)
	return p, typed
}

// marshalling are the calls within which marshal code of the user runs.
var marshalling = map[string]func(p *pile.Pile, typed *pile.Typed[hooked], ptr pile.PilePointer, c *hookCodec, act func()){
	"Put": func(p *pile.Pile, _ *pile.Typed[hooked], _ pile.PilePointer, c *hookCodec, act func()) {
		c.onAppend = act
		p.Put(hooked{[]byte("new")})
	},
	"Put of a msgp type": func(p *pile.Pile, _ *pile.Typed[hooked], _ pile.PilePointer, _ *hookCodec, act func()) {
		p.Put(&loud{act})
	},
	"Put inside a graph": func(p *pile.Pile, _ *pile.Typed[hooked], _ pile.PilePointer, c *hookCodec, act func()) {
		c.onAppend = act
		p.Put([]hooked{{[]byte("new")}})
	},
	"PutReserve": func(p *pile.Pile, _ *pile.Typed[hooked], _ pile.PilePointer, c *hookCodec, act func()) {
		c.onAppend = act
		p.PutReserve(hooked{[]byte("new")}, 100)
	},
	"Update": func(p *pile.Pile, _ *pile.Typed[hooked], ptr pile.PilePointer, c *hookCodec, act func()) {
		c.onAppend = act
		p.Update(ptr, hooked{[]byte("new")})
	},
	"Get": func(p *pile.Pile, _ *pile.Typed[hooked], ptr pile.PilePointer, c *hookCodec, act func()) {
		c.onDecode = act
		p.Get(ptr)
	},
	"Typed.Put": func(_ *pile.Pile, typed *pile.Typed[hooked], _ pile.PilePointer, c *hookCodec, act func()) {
		c.onAppend = act
		typed.Put(hooked{[]byte("new")})
	},
	"Typed.Get": func(_ *pile.Pile, typed *pile.Typed[hooked], ptr pile.PilePointer, c *hookCodec, act func()) {
		c.onDecode = act
		typed.Get(ptr)
	},
	"Typed.Update": func(_ *pile.Pile, typed *pile.Typed[hooked], ptr pile.PilePointer, c *hookCodec, act func()) {
		c.onAppend = act
		typed.Update(ptr, hooked{[]byte("new")})
	},
	"Typed.Modify": func(_ *pile.Pile, typed *pile.Typed[hooked], ptr pile.PilePointer, _ *hookCodec, act func()) {
		acted := false // what act changes makes Modify call again
		typed.Modify(ptr, func(h hooked) (hooked, error) {
			if !acted {
				acted = true
				act()
			}
			return h, nil
		})
	},
}

func TestMarshalCodeMayDoAnything(t *testing.T) {
	for caller, call := range marshalling {
		for action, act := range actions {
			t.Run(caller+" with "+action, func(t *testing.T) {
				for _, b := range backings() {
					c := &hookCodec{}
					p, typed := openWith(t, pile.Options{SegmentSize: 4 * miB, Backing: b}, c)
					ptr, err := typed.Put(hooked{[]byte("old")})
					require.NoError(t, err)
					other := put(t, p, pattern(30, 1))
					acted, recovered := 0, any(nil)
					within(t, action+" inside "+caller, func() {
						defer func() { recovered = recover() }()
						call(p, typed, ptr, c, func() {
							acted++
							act(t, p, other)
						})
					})
					require.Equal(t, 1, acted)
					if recovered != nil {
						require.True(t, recovered == any(errOwn), "the user's panic passes as it is: %v", recovered)
					}
					c.onAppend, c.onDecode = nil, nil
					if action == "panic" || action == "Goexit" {
						old, err := typed.Get(ptr)
						require.NoError(t, err)
						require.Equal(t, "old", string(old.Data), "nothing was stored")
						require.EqualValues(t, 2, p.Stats().Objects, "nothing was stored")
					}
					within(t, "work after "+action+" inside "+caller, func() { afterwards(t, p) })
				}
			})
		}
	}
}

// wrongCodec returns what wrong makes of the right bytes.
type wrongCodec struct {
	wrong func(dst, right []byte) []byte
}

func (c *wrongCodec) Append(dst []byte, v any) ([]byte, error) {
	n := len(dst)
	right := append(dst, v.(*hooked).Data...)
	return c.wrong(right[:n], right), nil
}

func (c *wrongCodec) Decode(src []byte, v any) error {
	v.(*hooked).Data = append([]byte{}, src...)
	return nil
}

// holder holds a value with a codec behind other bytes.
type holder struct {
	Name string
	Held hooked
}

func TestCodecThatBreaksItsContractIsFoundOut(t *testing.T) {
	wrongs := map[string]func(dst, right []byte) []byte{
		"nil":           func(_, _ []byte) []byte { return nil },
		"too little":    func(dst, _ []byte) []byte { return dst[:len(dst)-1] },
		"other bytes":   func(_, right []byte) []byte { return []byte(strings.Repeat("x", len(right))) },
		"without start": func(dst, right []byte) []byte { return append([]byte{}, right[len(dst):]...) },
	}
	for name, wrong := range wrongs {
		t.Run(name, func(t *testing.T) {
			p, _ := openWith(t, pile.Options{SegmentSize: miB}, &wrongCodec{wrong})
			v := holder{"a name before it", hooked{[]byte("held")}}
			_, err := p.Put(v)
			require.ErrorIs(t, err, serializer.ErrCodec)
			_, err = p.PutReserve(&v, 100)
			require.ErrorIs(t, err, serializer.ErrCodec)
			ptr := put(t, p, []byte("stays"))
			require.ErrorIs(t, p.Update(ptr, v), serializer.ErrCodec)
			require.Equal(t, "stays", string(get(t, p, ptr)))
			require.EqualValues(t, 1, p.Stats().Objects)
		})
	}
}

func TestCodecMayReturnABufferOfItsOwn(t *testing.T) {
	var own []byte
	c := &wrongCodec{func(_, right []byte) []byte { own = append(own[:0], right...); return own }}
	p, typed := openWith(t, pile.Options{SegmentSize: miB}, c)
	ptrs := map[pile.PilePointer]string{}
	for i := range 200 {
		want := strings.Repeat(string(rune('a'+i%26)), i)
		ptr, err := typed.Put(hooked{[]byte(want)})
		require.NoError(t, err)
		clear(own) // it is the codec's again
		ptrs[ptr] = want
		held, err := p.Put(holder{"n", hooked{[]byte(want)}})
		require.NoError(t, err)
		clear(own)
		v, err := p.Get(held)
		require.NoError(t, err)
		require.Equal(t, want, string(v.(holder).Held.Data))
	}
	for ptr, want := range ptrs {
		h, err := typed.Get(ptr)
		require.NoError(t, err)
		require.Equal(t, want, string(h.Data))
	}
}

// Msgp types that write more or fewer bytes than they read back.
type (
	longMsgp  struct{ V []byte }
	shortMsgp struct{ V []byte }
)

func (m *longMsgp) MarshalMsg(b []byte) ([]byte, error)    { return append(b, 1, 2), nil }
func (m *longMsgp) UnmarshalMsg(b []byte) ([]byte, error)  { return b[1:], nil }
func (m *longMsgp) Msgsize() int                           { return -7 } // no size, but no harm
func (m *shortMsgp) MarshalMsg(b []byte) ([]byte, error)   { return b, nil }
func (m *shortMsgp) UnmarshalMsg(b []byte) ([]byte, error) { return b, errShort }
func (m *shortMsgp) Msgsize() int                          { return math.MaxInt }

var errShort = errors.New("too few bytes")

func TestMsgpTypeThatReadsOtherwiseThanItWritesIsCorrupt(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for _, v := range []any{longMsgp{}, &longMsgp{}, shortMsgp{}} {
			ptr, err := p.Put(v)
			require.NoError(t, err)
			_, err = p.Get(ptr)
			require.ErrorIs(t, err, pile.ErrCorrupt, "%T", v)
		}
		short, err := pile.Of[shortMsgp](p)
		require.NoError(t, err)
		ptr, err := short.Put(shortMsgp{})
		require.NoError(t, err)
		_, err = short.Get(ptr)
		require.ErrorIs(t, err, errShort, "the type's own error is kept")
		require.NoError(t, p.Delete(ptr))
	})
}

func TestUpdateChangesTheTypeAtWill(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		values := []any{
			[]byte("raw"), "text", 42, node{1, 2}, &node{3, 4}, []string{"a", ""}, map[string]int{"x": 1}, strings.Repeat("long ", 30_000),
			graph{Name: "g"}, []byte{}, true, [3]float64{1, 2, 3}, strings.Repeat("s", 50),
		}
		plain, err := p.Put(values[0])
		require.NoError(t, err)
		reserved, err := p.PutReserve(values[0], 64)
		require.NoError(t, err)
		for round := range 3 {
			for i := range values {
				v := values[(i*(round+1))%len(values)]
				for _, ptr := range []pile.PilePointer{plain, reserved} {
					require.NoError(t, p.Update(ptr, v))
					got, err := p.Get(ptr)
					require.NoError(t, err)
					require.Equal(t, v, got)
				}
			}
		}
		require.ErrorIs(t, p.Update(plain, nil), pile.ErrNil)
		require.ErrorIs(t, p.Update(plain, make(chan int)), pile.ErrWrongType)
		require.EqualValues(t, 2, p.Stats().Objects)
	})
}

func TestNilOfATypeIsAValue(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		for _, v := range []any{(*node)(nil), (*graph)(nil), []string(nil), map[string]int(nil), (*longMsgp)(nil)} {
			ptr, err := p.Put(v)
			require.NoError(t, err, "%T", v)
			got, err := p.Get(ptr)
			require.NoError(t, err, "%T", v)
			require.Equal(t, v, got)
			reserved, err := p.PutReserve(v, 40)
			require.NoError(t, err)
			require.NoError(t, p.Update(reserved, v))
		}
	})
}

// Values share versions. Modify looped for ever when its fn updated a value that had one with the value being modified.
func TestModifyMayUpdateOtherValuesMeanwhile(t *testing.T) {
	eachVariant(t, func(t *testing.T, p *pile.Pile) {
		nodes, err := pile.Of[node](p)
		require.NoError(t, err)
		ptr, err := nodes.Put(node{})
		require.NoError(t, err)
		others := make([]pile.PilePointer, 2000) // some share its version, whatever the hash
		for i := range others {
			others[i], err = nodes.Put(node{})
			require.NoError(t, err)
		}
		within(t, "Modify that updates other values", func() {
			calls := 0
			for _, other := range others {
				err := nodes.Modify(ptr, func(n node) (node, error) {
					calls++
					n.Number++
					return n, nodes.Update(other, node{Number: n.Number})
				})
				if err != nil {
					t.Error(err)
				}
			}
			if calls != len(others) {
				t.Errorf("%d calls", calls)
			}
		})
		n, err := nodes.Get(ptr)
		require.NoError(t, err)
		require.EqualValues(t, len(others), n.Number)
	})
}
