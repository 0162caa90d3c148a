package serializer_test

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/bigpile/bigpile/serializer"
)

type Employee struct {
	Name    string
	Manager *Employee
	reports []*Employee
}

// A value keeps its shape: two employees who know each other still do, unexported fields included.
func ExampleFor() {
	r := serializer.NewRegistry()
	employees, err := serializer.For[*Employee](r)
	if err != nil {
		fmt.Println(err)
		return
	}
	boss := &Employee{Name: "Ann"}
	boss.reports = []*Employee{{Name: "Bob", Manager: boss}}

	stored, err := employees.Append(nil, &boss)
	if err != nil {
		fmt.Println(err)
		return
	}
	var back *Employee
	if err := employees.Decode(employees.Code(), stored, &back); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(employees.Tier(), back.reports[0].Name, back.reports[0].Manager == back)
	// Output: graph Bob true
}

type Session struct {
	User string
	//lint:ignore U1000 only its type matters
	notify chan string
}

// What cannot be stored is refused with the path to it.
func ExampleFor_unsupported() {
	_, err := serializer.For[[]Session](serializer.NewRegistry())
	fmt.Println(errors.Is(err, serializer.ErrUnsupported), err)
	// Output: true serializer: type cannot be stored: []serializer_test.Session[].notify: chan
}

// A registered name stays when the type is moved or renamed.
func ExampleRegistry_Register() {
	r := serializer.NewRegistry()
	if err := r.Register("employee", Employee{}); err != nil {
		fmt.Println(err)
		return
	}
	code, stored, err := r.Append(nil, Employee{Name: "Ann"})
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := r.Decode(code, stored)
	fmt.Println(r.TypeName(code), v.(Employee).Name, err)
	// Output: employee Ann <nil>
}

// Point is stored by a codec: two CBOR-like fixed-width integers.
type Point struct{ X, Y int32 }

type pointCodec struct{}

const pointHead = 0x82 // CBOR: an array of two

func (pointCodec) Append(dst []byte, v any) ([]byte, error) {
	p := v.(*Point)
	dst = append(dst, pointHead)
	for _, x := range []int32{p.X, p.Y} {
		head := byte(0x1a) // CBOR: an unsigned integer of four bytes
		if x < 0 {
			head, x = 0x3a, ^x // a negative one: -1-n
		}
		dst = binary.BigEndian.AppendUint32(append(dst, head), uint32(x))
	}
	return dst, nil
}

func (pointCodec) Decode(src []byte, v any) error {
	if len(src) != 11 || src[0] != pointHead {
		return errors.New("not a point")
	}
	p := v.(*Point)
	for i, x := range []*int32{&p.X, &p.Y} {
		field := src[1+5*i:]
		*x = int32(binary.BigEndian.Uint32(field[1:5]))
		if field[0] == 0x3a {
			*x = ^*x
		}
	}
	return nil
}

// A codec stores its type alone and inside other values. One for code that vtprotobuf or a CBOR library generated has the same two
// methods, which call MarshalToSizedBufferVT or Marshal on v.
func ExampleRegistry_RegisterCodec() {
	r := serializer.NewRegistry()
	if err := r.RegisterCodec("point", Point{}, pointCodec{}); err != nil {
		fmt.Println(err)
		return
	}
	code, stored, err := r.Append(nil, map[string]*Point{"a": {X: 1, Y: -2}})
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := r.Decode(code, stored)
	fmt.Println(*v.(map[string]*Point)["a"], err)
	// Output: {1 -2} <nil>
}
