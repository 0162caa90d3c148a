package serializer

import (
	"io"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInterfaceWords checks what unsafe_iface.go takes for granted.
func TestInterfaceWords(t *testing.T) {
	one := 1
	values := []any{1, "s", 2.5, &one, map[int]int{1: 2}, struct{ p *int }{&one}, [1]*int{&one}, struct{ a, b int }{1, 2}, []int{1},
		errText("e"), struct{}{}, [0]int{}}
	for _, v := range values {
		word, direct := typeWord(nil, reflect.TypeOf(v))
		box := reflect.New(reflect.TypeOf(v))
		box.Elem().Set(reflect.ValueOf(v))
		got := anyOf(word, direct, box.UnsafePointer())
		require.Equal(t, v, got)
		require.Equal(t, v, reflect.NewAt(reflect.TypeOf(v), valueInside(addressOf(&got), direct)).Elem().Interface())
	}
	word, direct := typeWord(reflect.TypeFor[error](), reflect.TypeFor[errText]())
	require.False(t, direct)
	text := errText("boxed")
	var err error
	setInterface(addressOf(&err), word, addressOf(&text))
	require.EqualError(t, err, "boxed")
	word, direct = typeWord(reflect.TypeFor[io.Reader](), reflect.TypeFor[*reader]())
	require.True(t, direct)
	rd := &reader{}
	var ior io.Reader
	setInterface(addressOf(&ior), word, addressOf(rd))
	require.Same(t, rd, ior)
}

type reader struct{ n int }

func (r *reader) Read([]byte) (int, error) { return r.n, io.EOF }
