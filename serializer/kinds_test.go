package serializer

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"net/netip"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type (
	ident          string
	blob           []byte
	celsius        float64
	color          uint8
	pair[A, B any] struct {
		a A
		b B
	}
	inner struct {
		hidden int
		Shown  string
	}
	outer struct {
		inner
		*color
		Name string
		_    int
	}
	shape  interface{ area() float64 }
	square struct{ side float64 }
	circle struct{ r *float64 }
	empty  struct{}
)

func (s square) area() float64  { return s.side * s.side }
func (c *circle) area() float64 { return 3 * *c.r * *c.r }

// everything has a field of each kind, most of them unexported.
type everything struct {
	b     bool
	i     int
	i8    int8
	i16   int16
	i32   int32
	i64   int64
	u     uint
	u8    uint8
	u16   uint16
	u32   uint32
	u64   uint64
	f32   float32
	f64   float64
	c64   complex64
	c128  complex128
	s     string
	t     time.Time
	d     time.Duration
	n     big.Int
	np    *big.Int
	addr  netip.Addr
	pre   netip.Prefix
	u1    url.URL
	loc   *time.Location
	arr   [3]string
	bytes [5]byte
	bools [3]bool
	fl    []float64
	f3    []float32
	is    []int64
	i3    []int32
	bs    []bool
	raw   json.RawMessage
	ss    []string
	ps    []*int
	ms    []map[string]string
	es    []empty
	st    []inner
	m1    map[string]string
	m2    map[string]any
	m3    map[string]int
	m4    map[string]int64
	m5    map[string]float64
	m6    map[string]bool
	m7    map[int]inner
	m8    map[[2]int]*inner
	m9    map[any]any
	me    map[ident]struct{}
	a     any
	sh    shape
	sh2   shape
	err   error
	pp    **int
	o     outer
	g     pair[string, []int]
	anon  struct{ x, y int }
	id    ident
	bl    blob
	ce    celsius
}

func newEverything() everything {
	one, r, col := 1, 2.5, color(7)
	p := &one
	u, _ := url.Parse("https://user@example.com/a?b=c#d")
	huge, _ := new(big.Int).SetString("-123456789012345678901234567890", 10)
	return everything{true, math.MinInt, -128, -32768, math.MinInt32, math.MinInt64, math.MaxUint, 255, 65535, math.MaxUint32,
		math.MaxUint64, math.MaxFloat32, math.SmallestNonzeroFloat64, complex(1, -2), complex(math.Inf(1), 4), "héllo\x00\xff",
		time.Date(2024, 2, 29, 23, 59, 59, 999, time.FixedZone("X", -3600)), time.Hour, *huge, big.NewInt(0), netip.MustParseAddr("fe80::1%eth0"),
		netip.MustParsePrefix("10.0.0.0/8"), *u, time.UTC, [3]string{"a", "", "c"}, [5]byte{1, 2, 3, 4, 5}, [3]bool{true, false, true},
		[]float64{1, math.Copysign(0, -1)}, []float32{3}, []int64{0, -1, 1 << 40}, []int32{5, -6}, []bool{true, false}, json.RawMessage("{}"),
		[]string{"x", "", "yy"}, []*int{p, nil, p}, []map[string]string{{"a": "b"}, nil, {}}, make([]empty, 3), []inner{{1, "q"}, {}},
		map[string]string{"k": "v", "": ""}, map[string]any{"n": nil, "i": 1, "s": "t", "l": []any{1, "2", nil}, "m": map[string]any{"x": true}},
		map[string]int{"a": -1}, map[string]int64{"b": 2}, map[string]float64{"c": 0.5}, map[string]bool{"d": true},
		map[int]inner{3: {4, "five"}}, map[[2]int]*inner{{1, 2}: {6, "six"}}, map[any]any{1: "one", "two": 2, [2]int{1, 2}: nil, inner{1, "k"}: 3},
		map[ident]struct{}{"a": {}, "b": {}}, int16(-3), square{2}, &circle{&r}, errText("broken"), &p,
		outer{inner{1, "in"}, &col, "out", 0}, pair[string, []int]{"g", []int{1}}, struct{ x, y int }{1, 2}, "id", blob("bl"), 36.6}
}

type errText string

func (e errText) Error() string { return string(e) }

func TestEveryKind(t *testing.T) {
	v := newEverything()
	got := roundTrip(t, NewRegistry(), v)
	requireSame(t, v, got)
	require.Equal(t, "X", got.t.Location().String())
	require.Same(t, time.UTC, got.loc)
	require.Same(t, got.ps[0], got.ps[2])
	require.Same(t, got.ps[0], *got.pp)
	require.Equal(t, v.n.String(), got.n.String())
	require.Equal(t, v.u1.String(), got.u1.String())

	requireSame(t, everything{}, roundTrip(t, NewRegistry(), everything{}))
}

func check[T any](t *testing.T, name string, tier Tier, values ...T) {
	t.Run(name, func(t *testing.T) {
		r := NewRegistry()
		require.Equal(t, tier, typed[T](t, r).Tier())
		for _, v := range values {
			requireSame(t, v, roundTrip(t, r, v))
			requireSame(t, &v, throughBox(t, r, &v))
			requireSame(t, []any{v, &v, nil}, throughBox(t, r, []any{v, &v, nil}))
		}
	})
}

func TestTiersOfRoots(t *testing.T) {
	seven := 7
	check(t, "bytes", Raw, []byte("abc"), []byte{})
	check(t, "string", Raw, "abc", "")
	check(t, "named bytes", Raw, blob("abc"))
	check(t, "named string", Raw, ident("abc"), "")
	check(t, "bool", Plain, true, false)
	check(t, "int", Plain, 0, -1, math.MaxInt)
	check(t, "float", Plain, 1.5, math.NaN())
	check(t, "duration", Plain, time.Second)
	check(t, "array", Plain, [3]uint16{1, 2, 3})
	check(t, "empty", Plain, empty{})
	check(t, "plain struct", Plain, struct {
		A bool
		B int64
		C [2]struct {
			D int8
			E int32
		}
	}{A: true, B: 5})
	check(t, "pointer", Graph, &seven, nil)
	check(t, "slice", Graph, []int{1}, []int{}, nil)
	check(t, "map", Graph, map[string]int{"a": 1}, map[string]int{}, nil)
	check(t, "time", Graph, time.Time{}, time.Unix(1, 2).UTC(), time.Unix(-5, 0), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC))
	check(t, "strings", Graph, []string{"a", ""})
	check(t, "big", Graph, big.NewInt(-256), nil)
	check(t, "addr", Graph, netip.MustParseAddr("::1"), netip.Addr{})
	check(t, "person", Graph, newPerson(0), newPerson(1))
	check(t, "msgp", Msgp, msgpPerson{ID: 1, First: "a"}, msgpPerson{})
	check(t, "msgp tuple", Msgp, msgpPair{"a", nil})
	var none *msgpPair
	check(t, "msgp pointer", Msgp, &msgpPair{Name: "b"}, none)
}

func TestBytesAndStringsInterchange(t *testing.T) {
	r := NewRegistry()
	s, err := typed[string](t, r).DecodeValue(CodeBytes, []byte("x"))
	require.NoError(t, err)
	require.Equal(t, "x", s)
	b, err := typed[[]byte](t, r).DecodeValue(CodeString, []byte("y"))
	require.NoError(t, err)
	require.Equal(t, "y", string(b))
	_, err = typed[ident](t, r).DecodeValue(CodeString, []byte("z"))
	require.ErrorIs(t, err, ErrWrongType)
}

func TestTimes(t *testing.T) {
	r := NewRegistry()
	now := time.Now()
	got := roundTrip(t, r, now)
	require.Equal(t, now.Round(0), got, "local time, without the monotonic reading")
	utc := time.Date(2024, 1, 2, 3, 4, 5, 6, time.UTC)
	require.Equal(t, utc, roundTrip(t, r, utc))
	require.Equal(t, time.Time{}, roundTrip(t, r, time.Time{}))
	if berlin, err := time.LoadLocation("Europe/Berlin"); err == nil {
		summer := time.Date(2024, 7, 1, 0, 0, 0, 0, berlin)
		got := roundTrip(t, r, summer)
		require.True(t, summer.Equal(got))
		require.Equal(t, "Europe/Berlin", got.Location().String())
		_, offset := got.AddDate(0, 6, 0).Zone()
		require.Equal(t, 3600, offset, "the zone's rules came along, not only the offset")
	}
}

func TestInterfaceWithMethods(t *testing.T) {
	r := NewRegistry()
	side := 2.0
	got := roundTrip(t, r, []shape{square{3}, &circle{&side}, nil})
	require.Equal(t, 9.0, got[0].area())
	require.Equal(t, 12.0, got[1].area())
	require.Nil(t, got[2])
	errs := roundTrip(t, r, []error{errText("a"), nil})
	require.True(t, errors.Is(errs[0], errText("a")))
}

// embedsTime gets MarshalBinary from its embedded field: storing only what that writes would lose Note.
type embedsTime struct {
	time.Time
	Note string
}

// embedsMsgp gets msgp's methods from its embedded field.
type embedsMsgp struct {
	msgpPair
	Note string
}

func TestPromotedMethodsDoNotHideFields(t *testing.T) {
	r := NewRegistry()
	v := embedsTime{time.Unix(5, 0).UTC(), "keep"}
	require.Equal(t, v, roundTrip(t, r, v))
	w := embedsMsgp{msgpPair{Name: "n"}, "keep"}
	require.Equal(t, Graph, typed[embedsMsgp](t, r).Tier())
	require.Equal(t, w, roundTrip(t, r, w))
}

type guarded struct {
	mu sync.Mutex
	rw *sync.RWMutex
	n  int
}

func TestLocksComeBackUnlocked(t *testing.T) {
	r := NewRegistry()
	tt := typed[guarded](t, r)
	require.Equal(t, Graph, tt.Tier(), "a lock is not plain memory")
	v := guarded{n: 3, rw: &sync.RWMutex{}}
	v.mu.Lock()
	v.rw.Lock()
	b, err := tt.Append(nil, &v)
	require.NoError(t, err)
	var got guarded
	require.NoError(t, tt.Decode(tt.Code(), b, &got))
	require.Equal(t, 3, got.n)
	require.True(t, got.mu.TryLock())
	require.True(t, got.rw.TryLock())
}

// ownBinary embeds a type with the methods and has its own.
type ownBinary struct {
	time.Time
	note *string
}

func (o ownBinary) MarshalBinary() ([]byte, error) { return []byte(*o.note), nil }
func (o *ownBinary) UnmarshalBinary(b []byte) error {
	s := string(b) + " read"
	o.note = &s
	return nil
}

func TestOwnMethodsAreUsed(t *testing.T) {
	note := "n"
	got := throughBox(t, NewRegistry(), []any{ownBinary{note: &note}, &ownBinary{note: &note}}).([]any)
	require.Equal(t, "n read", *got[0].(ownBinary).note)
	require.Equal(t, "n read", *got[1].(*ownBinary).note)
}
