package serializer

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// token is stored by a codec: its fields alone could not be.
type token struct {
	text string
	//lint:ignore U1000 only its type matters
	done chan int
}

// tokenCodec stores a token's text; its fields make it misbehave.
type tokenCodec struct {
	append func(dst []byte, t *token) ([]byte, error)
	decode func(src []byte, t *token) error
}

func (c *tokenCodec) Append(dst []byte, v any) ([]byte, error) {
	if c.append != nil {
		return c.append(dst, v.(*token))
	}
	return append(dst, v.(*token).text...), nil
}

func (c *tokenCodec) Decode(src []byte, v any) error {
	if c.decode != nil {
		return c.decode(src, v.(*token))
	}
	v.(*token).text = string(src)
	return nil
}

func withCodec(t *testing.T, c Codec) *Registry {
	r := NewRegistry()
	require.NoError(t, r.RegisterCodec("token", token{}, c))
	return r
}

func TestCodec(t *testing.T) {
	r := withCodec(t, &tokenCodec{})
	require.Equal(t, Custom, typed[token](t, r).Tier())
	long := strings.Repeat("x", 1000)
	require.Equal(t, token{text: long}, roundTrip(t, r, token{text: long}))
	v := map[string][]*token{"a": {{text: "1"}, nil, {text: long}}}
	require.Equal(t, v, roundTrip(t, r, v))
	require.Equal(t, &token{text: "p"}, throughBox(t, r, &token{text: "p"}))
	require.Equal(t, []any{token{text: "i"}}, throughBox(t, r, []any{token{text: "i"}}))
}

func TestCodecThatMisbehaves(t *testing.T) {
	own := []byte("own buffer of the codec, longer than what it was given")
	cases := map[string]struct {
		codec tokenCodec
		want  error
	}{
		"too little":  {tokenCodec{append: func(dst []byte, _ *token) ([]byte, error) { return dst[:0], nil }}, ErrCodec},
		"nothing":     {tokenCodec{append: func([]byte, *token) ([]byte, error) { return nil, nil }}, ErrCodec},
		"other bytes": {tokenCodec{append: func([]byte, *token) ([]byte, error) { return own, nil }}, ErrCodec},
		"error":       {tokenCodec{append: func(dst []byte, _ *token) ([]byte, error) { return dst, errTest }}, errTest},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := withCodec(t, &c.codec)
			for _, v := range []any{token{}, []token{{}}, []any{token{}}} {
				_, out, err := r.Append([]byte("before"), v)
				require.ErrorIs(t, err, c.want)
				require.Equal(t, "before", string(out))
			}
		})
	}
	t.Run("buffer of its own with the right start", func(t *testing.T) {
		var kept []byte
		r := withCodec(t, &tokenCodec{append: func(dst []byte, v *token) ([]byte, error) {
			kept = append([]byte(string(dst)), v.text...)
			return kept, nil
		}})
		tt := typed[token](t, r)
		b, err := tt.Append(nil, &token{text: "abc"})
		require.NoError(t, err)
		kept[0] = 'X'
		require.Equal(t, "abc", string(b), "the codec has no hold on what was stored")
	})
	t.Run("decode error", func(t *testing.T) {
		r := withCodec(t, &tokenCodec{decode: func([]byte, *token) error { return errTest }})
		code, b, err := r.Append(nil, token{text: "a"})
		require.NoError(t, err)
		_, err = r.Decode(code, b)
		require.ErrorIs(t, err, errTest)
		require.ErrorIs(t, err, ErrCorrupt)
	})
}

var errTest = errors.New("test error")

// lazyMsgp leaves bytes unread and returns a short slice.
//
//lint:ignore U1000 only its type matters
type lazyMsgp struct{ p *int }

func (l *lazyMsgp) MarshalMsg(b []byte) ([]byte, error)   { return append(b, 1, 2, 3), nil }
func (l *lazyMsgp) UnmarshalMsg(b []byte) ([]byte, error) { return b[1:], nil }
func (l *lazyMsgp) Msgsize() int                          { return math.MaxInt }

func TestMsgpThatMisbehaves(t *testing.T) {
	r := NewRegistry()
	tt := typed[lazyMsgp](t, r)
	require.Equal(t, Msgp, tt.Tier())
	b, err := tt.Append(nil, &lazyMsgp{})
	require.NoError(t, err, "an absurd Msgsize is not believed")
	require.ErrorIs(t, tt.Decode(tt.Code(), b, &lazyMsgp{}), ErrCorrupt)
	_, err = r.Decode(tt.Code(), b)
	require.ErrorIs(t, err, ErrCorrupt)
}

func TestPanicInCodec(t *testing.T) {
	boom := true
	r := withCodec(t, &tokenCodec{append: func(dst []byte, v *token) ([]byte, error) {
		if boom {
			panic("boom")
		}
		return append(dst, v.text...), nil
	}, decode: func(src []byte, v *token) error {
		if boom {
			panic("boom")
		}
		v.text = string(src)
		return nil
	}})
	n := new(int)
	v := []any{n, token{text: "t"}, n}
	for range 3 {
		require.PanicsWithValue(t, "boom", func() { _, _, _ = r.Append(nil, v) })
	}
	boom = false
	code, b, err := r.Append(nil, v)
	require.NoError(t, err)
	boom = true
	require.PanicsWithValue(t, "boom", func() { _, _ = r.Decode(code, b) })
	boom = false
	requireSame(t, v, throughBox(t, r, v))
}

// TestCodecCallsBack has a codec that uses the registry it belongs to.
func TestCodecCallsBack(t *testing.T) {
	var r *Registry
	r = withCodec(t, &tokenCodec{append: func(dst []byte, v *token) ([]byte, error) {
		_, dst, err := r.Append(dst, []any{v.text, 1})
		return dst, err
	}, decode: func(src []byte, v *token) error {
		x, err := r.Decode(typedCode(r), src)
		if err == nil {
			v.text = x.([]any)[0].(string)
		}
		return err
	}})
	v := []*token{{text: "a"}, {text: "b"}}
	requireSame(t, v, roundTrip(t, r, v))
}

func typedCode(r *Registry) Code {
	tt, _ := For[[]any](r)
	return tt.Code()
}

func TestRegister(t *testing.T) {
	r := NewRegistry()
	require.NoError(t, r.Register("a", person{}))
	require.NoError(t, r.Register("a", person{}), "the same again")
	require.ErrorIs(t, r.Register("a", link{}), ErrName, "taken")
	require.ErrorIs(t, r.Register("b", person{}), ErrName, "has another name")
	require.ErrorIs(t, r.Register("", link{}), ErrName)
	require.ErrorIs(t, r.Register("c", nil), ErrUnsupported)
	require.ErrorIs(t, r.Register("c", 5), ErrName, "predeclared")
	require.ErrorIs(t, r.Register("string", link{}), ErrName, "a predeclared type's name")
	require.ErrorIs(t, r.RegisterTier("d", link{}, Plain), ErrUnsupported)
	require.ErrorIs(t, r.RegisterTier("d", link{}, Msgp), ErrUnsupported)
	require.ErrorIs(t, r.RegisterTier("d", link{}, Custom), ErrUnsupported)
	require.ErrorIs(t, r.RegisterCodec("d", link{}, nil), ErrCodec)
	code := typed[person](t, r).Code()
	require.Equal(t, firstRegistered, code)
	require.Equal(t, "a", r.TypeName(code))
	require.Equal(t, "*a", r.TypeName(typed[*person](t, r).Code()))
	require.Equal(t, "int", r.TypeName(typed[int](t, r).Code()))
	require.Empty(t, r.TypeName(9999))

	typed[link](t, r)
	require.ErrorIs(t, r.Register("late", link{}), ErrInUse)
	typed[[]token2](t, r)
	require.ErrorIs(t, r.RegisterCodec("late", token2{}, &tokenCodec{}), ErrInUse, "used inside another type")
}

//lint:ignore U1000 only its type matters
type token2 struct{ p *int }

func TestRegisterTier(t *testing.T) {
	r := NewRegistry()
	require.NoError(t, r.RegisterTier("graph", msgpPerson{}, Graph))
	require.NoError(t, r.RegisterTier("flat", padded{}, Graph))
	require.Equal(t, Graph, typed[msgpPerson](t, r).Tier())
	require.Equal(t, Graph, typed[*msgpPerson](t, r).Tier())
	require.Equal(t, Graph, typed[padded](t, r).Tier())
	v := msgpPerson{ID: 1, Last: "x"}
	require.Equal(t, v, roundTrip(t, r, v))
}

func TestTypesOfOneNameAreToldApart(t *testing.T) {
	r := NewRegistry()
	a := func() any { type local struct{ A *int }; return local{} }()
	b := func() any { type local struct{ B *int }; return local{} }()
	_, _, err := r.Append(nil, a)
	require.NoError(t, err)
	_, _, err = r.Append(nil, b)
	require.ErrorIs(t, err, ErrName)
	require.NoError(t, r.Register("other", b))
	_, _, err = r.Append(nil, b)
	require.NoError(t, err)
}

func TestConcurrentFirstUse(t *testing.T) {
	for range 20 {
		r := NewRegistry()
		codes := make([]Code, 16)
		var wg sync.WaitGroup
		for i := range codes {
			wg.Go(func() {
				v := []any{newPerson(i), &link{value: i}, map[string]any{"a": square{1}}}
				code, b, err := r.Append(nil, tree{payload: v})
				if err != nil {
					t.Error(err)
					return
				}
				got, err := r.Decode(code, b)
				if err != nil {
					t.Error(err)
					return
				}
				requireSame(t, tree{payload: v}, got)
				codes[i] = code
			})
		}
		wg.Wait()
		for _, c := range codes {
			require.Equal(t, codes[0], c)
		}
		seen := map[Code]bool{}
		for _, rec := range r.Export() {
			require.False(t, seen[rec.Code])
			seen[rec.Code] = true
		}
	}
}

func TestRegistriesAreIndependent(t *testing.T) {
	a, b := NewRegistry(), NewRegistry()
	typed[link](t, a)
	ca, cb := typed[person](t, a).Code(), typed[person](t, b).Code()
	require.NotEqual(t, ca, cb)
	_, ba, err := a.Append(nil, newPerson(1))
	require.NoError(t, err)
	got, err := b.Decode(cb, ba)
	require.NoError(t, err)
	require.Equal(t, newPerson(1), got)
	_, err = b.Decode(ca+100, ba)
	require.ErrorIs(t, err, ErrUnknownType)
}

func TestWrongTypeNamesBoth(t *testing.T) {
	r := NewRegistry()
	code, b, err := r.Append(nil, newPerson(1))
	require.NoError(t, err)
	for _, err := range []error{
		typed[link](t, r).Decode(code, b, new(link)), typed[padded](t, r).Decode(code, b, new(padded)),
		typed[string](t, r).Decode(code, b, new(string)), typed[*person](t, r).Decode(code, b, new(*person)),
		typed[msgpPair](t, r).Decode(code, b, new(msgpPair)),
	} {
		require.ErrorIs(t, err, ErrWrongType)
		require.ErrorContains(t, err, "serializer.person")
		require.ErrorContains(t, err, "wanted")
	}
}

func TestRegistryFull(t *testing.T) {
	r := NewRegistry()
	records := []TypeRecord{{Code: 65535, Name: "last", Tier: Custom}}
	require.NoError(t, r.Import(records))
	_, err := For[link](r)
	require.ErrorIs(t, err, ErrTooManyTypes)
	_, err = For[int](r)
	require.NoError(t, err, "predeclared types have codes of their own")
}
