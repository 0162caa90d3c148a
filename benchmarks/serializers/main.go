// Command serializers compares the graph codec of bigpile with gob, encoding/json, vmihailenco/msgpack, fxamacker/cbor and
// the code that msgp generates, on the same values: the ancestor's person, a product, a graph with cycles, and a list of
// 4,000 persons.
//
//	go run ./serializers
//
// The codecs take turns, round by round, and processor time is measured, so what else the machine does weighs on all of
// them. Every value that was decoded is compared with what was encoded; a wrong one makes the exit code 1.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"
)

var errWrong = errors.New("a decoded value is not what was encoded")

// started is when the program was.
var started = time.Now()

// collectorPercent is GOGC in the run: there is next to nothing on the heap, and so the collector would be most of some figures.
const collectorPercent = 800

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 25, "measured rounds, at least 8; the median counts")
	flag.BoolVar(&o.json, "json", false, "print JSON, one object a line")
	flag.BoolVar(&o.smoke, "smoke", false, "few short rounds: shows that all values come back right, not how fast")
	flag.Parse()
	if flag.NArg() > 0 || o.rounds < 8 || o.rounds > 1000 {
		fmt.Fprintln(os.Stderr, "serializers: takes flags only, and -rounds from 8 to 1000")
		os.Exit(2)
	}
	debug.SetGCPercent(collectorPercent)
	if err := o.run(os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "serializers:", err)
		os.Exit(1)
	}
}

type options struct {
	rounds      int
	json, smoke bool
}

// run measures everything and prints it.
func (o *options) run(stdout, stderr io.Writer) error {
	rounds := o.rounds
	if o.smoke {
		rounds = 2
	}
	var results []result
	for _, measure := range []func(rounds, repeat int, progress func()) ([]result, error){persons, products, circles, lists} {
		repeat := 64
		if o.smoke {
			repeat = 1
		}
		found, err := measure(rounds, repeat, func() { fmt.Fprint(stderr, ".") })
		if err != nil {
			return err
		}
		results = append(results, found...)
	}
	fmt.Fprintln(stderr)
	if o.json {
		return printJSON(stdout, results)
	}
	return printTable(stdout, results, rounds)
}

func persons(rounds, repeat int, progress func()) ([]result, error) {
	codecs, err := codecsFor[Person]()
	if err != nil {
		return nil, err
	}
	s := subject[Person]{name: "person", fresh: NewPerson, is: (*Person).Is, codecs: codecs,
		values: 128, repeat: repeat, base: 200_000_000}
	return s.measure(rounds, progress)
}

func products(rounds, repeat int, progress func()) ([]result, error) {
	codecs, err := codecsFor[Product]()
	if err != nil {
		return nil, err
	}
	s := subject[Product]{name: "product", fresh: NewProduct, is: (*Product).Is, codecs: codecs,
		values: 32, repeat: repeat, base: 100_000}
	return s.measure(rounds, progress)
}

// circles has the graph codec alone: the others follow pointers without looking whether they were there before.
func circles(rounds, repeat int, progress func()) ([]result, error) {
	graph, err := graphCodec[*Member]()
	if err != nil {
		return nil, err
	}
	s := subject[*Member]{name: "circle", fresh: NewCircle, is: func(m **Member, i int64) bool { return IsCircle(*m, i) },
		codecs: []codec[*Member]{graph}, values: 32, repeat: repeat, base: 100_000}
	return s.measure(rounds, progress)
}

func lists(rounds, repeat int, progress func()) ([]result, error) {
	codecs, err := codecsFor[List]()
	if err != nil {
		return nil, err
	}
	s := subject[List]{name: "list of 4000", fresh: NewList, is: (*List).Is, codecs: codecs, values: 1, repeat: repeat, base: 50_000}
	return s.measure(rounds, progress)
}
