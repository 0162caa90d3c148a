package serializer

import "time"

//go:generate go run github.com/tinylib/msgp@v1.6.5 -file msgp_types_test.go -o msgp_types_gen_test.go -tests=false -unexported

// msgpPerson is the person of the benchmarks with generated methods.
type msgpPerson struct {
	ID      uint64
	First   string
	Last    string
	Born    *time.Time
	Balance int64
	Scale   int8
	Floats  []float32
	Data    []byte
}

// msgpPair is stored as a tuple.
//
//msgp:tuple msgpPair
type msgpPair struct {
	Name  string
	Value *int64
}
