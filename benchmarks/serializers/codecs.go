package main

import (
	"bytes"
	"encoding/gob"
	"encoding/json"

	"github.com/fxamacker/cbor/v2"
	"github.com/tinylib/msgp/msgp"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/bigpile/bigpile/serializer"
)

// codec is one way to turn a T into bytes and back, with what may be reused from value to value reused.
type codec[T any] struct {
	name   string
	encode func(dst []byte, v *T) ([]byte, error) // appends; dst is empty
	decode func(b []byte, v *T) error             // *v is zero
}

// The names of the codecs in the tables.
const (
	nameGraph     = "bigpile graph"
	nameMsgp      = "msgp generated"
	nameJSON      = "encoding/json"
	nameGob       = "gob"
	nameGobStream = "gob, one stream"
	nameMsgpack   = "vmihailenco/msgpack"
	nameCBOR      = "fxamacker/cbor"
)

// msgpValue is what msgp generates on a *T.
type msgpValue[T any] interface {
	*T
	msgp.Marshaler
	msgp.Unmarshaler
}

// codecsFor returns all codecs for a type with generated methods.
func codecsFor[T any, P msgpValue[T]]() ([]codec[T], error) {
	graph, err := graphCodec[T]()
	if err != nil {
		return nil, err
	}
	packed, err := cborCodec[T]()
	if err != nil {
		return nil, err
	}
	stream, err := gobStreamCodec[T]()
	return []codec[T]{graph, msgpCodec[T, P](), gobCodec[T](), stream, jsonCodec[T](), msgpackCodec[T](), packed}, err
}

// graphCodec stores T, and the types with generated methods in it, by the graph codec.
func graphCodec[T any]() (codec[T], error) {
	types := serializer.NewRegistry()
	var zero T
	if err := types.RegisterTier("value", zero, serializer.Graph); err != nil {
		return codec[T]{}, err
	}
	t, err := serializer.For[T](types)
	if err != nil {
		return codec[T]{}, err
	}
	return codec[T]{
		name:   nameGraph,
		encode: t.Append,
		decode: func(b []byte, v *T) error { return t.Decode(t.Code(), b, v) },
	}, nil
}

func msgpCodec[T any, P msgpValue[T]]() codec[T] {
	return codec[T]{
		name:   nameMsgp,
		encode: func(dst []byte, v *T) ([]byte, error) { return P(v).MarshalMsg(dst) },
		decode: func(b []byte, v *T) error { _, err := P(v).UnmarshalMsg(b); return err },
	}
}

func jsonCodec[T any]() codec[T] {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	return codec[T]{
		name: nameJSON,
		encode: func(dst []byte, v *T) ([]byte, error) {
			out.Reset()
			err := enc.Encode(v)
			return append(dst, out.Bytes()...), err
		},
		decode: func(b []byte, v *T) error { return json.Unmarshal(b, v) },
	}
}

// gobCodec writes values that stand alone, each with the description of its types, as values in a store have to.
func gobCodec[T any]() codec[T] {
	var out bytes.Buffer
	return codec[T]{
		name: nameGob,
		encode: func(dst []byte, v *T) ([]byte, error) {
			out.Reset()
			err := gob.NewEncoder(&out).Encode(v)
			return append(dst, out.Bytes()...), err
		},
		decode: func(b []byte, v *T) error { return gob.NewDecoder(bytes.NewReader(b)).Decode(v) },
	}
}

// gobStreamCodec is gob at its best: one encoder and one decoder, so that types are described once. A value does not stand
// alone then: it cannot be read without the stream's beginning.
func gobStreamCodec[T any]() (codec[T], error) {
	var out bytes.Buffer
	var in bytes.Reader
	var zero T
	enc, dec := gob.NewEncoder(&out), gob.NewDecoder(&in)
	if err := enc.Encode(&zero); err != nil {
		return codec[T]{}, err
	}
	in.Reset(bytes.Clone(out.Bytes()))
	if err := dec.Decode(&zero); err != nil {
		return codec[T]{}, err
	}
	return codec[T]{
		name: nameGobStream,
		encode: func(dst []byte, v *T) ([]byte, error) {
			out.Reset()
			err := enc.Encode(v)
			return append(dst, out.Bytes()...), err
		},
		decode: func(b []byte, v *T) error {
			in.Reset(b)
			return dec.Decode(v)
		},
	}, nil
}

// msgpackCodec writes structs as arrays, without field names, which is its fastest and shortest.
func msgpackCodec[T any]() codec[T] {
	var out bytes.Buffer
	var in bytes.Reader
	enc, dec := msgpack.NewEncoder(&out), msgpack.NewDecoder(&in)
	enc.UseArrayEncodedStructs(true)
	enc.UseCompactInts(true)
	return codec[T]{
		name: nameMsgpack,
		encode: func(dst []byte, v *T) ([]byte, error) {
			out.Reset()
			err := enc.Encode(v)
			return append(dst, out.Bytes()...), err
		},
		decode: func(b []byte, v *T) error {
			in.Reset(b)
			dec.ResetReader(&in)
			return dec.Decode(v)
		},
	}
}

// cborCodec writes times as seconds, as all that are measured have no fraction.
func cborCodec[T any]() (codec[T], error) {
	enc, err := cbor.EncOptions{Time: cbor.TimeUnix}.UserBufferEncMode()
	if err != nil {
		return codec[T]{}, err
	}
	dec, err := cbor.DecOptions{}.DecMode()
	var out bytes.Buffer
	return codec[T]{
		name: nameCBOR,
		encode: func(dst []byte, v *T) ([]byte, error) {
			out.Reset()
			err := enc.MarshalToBuffer(v, &out)
			return append(dst, out.Bytes()...), err
		},
		decode: func(b []byte, v *T) error { return dec.Unmarshal(b, v) },
	}, err
}
