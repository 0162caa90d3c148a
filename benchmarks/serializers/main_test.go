package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// The run that CI makes: all values through all codecs, and right.
func TestSmoke(t *testing.T) {
	for _, o := range []options{{smoke: true}, {smoke: true, json: true}} {
		var stdout, stderr bytes.Buffer
		if err := o.run(&stdout, &stderr); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{nameGraph, nameMsgp, nameGob, nameGobStream, nameJSON, nameMsgpack, nameCBOR, "circle"} {
			if !strings.Contains(stdout.String(), name) {
				t.Errorf("no %s in\n%s", name, stdout.String())
			}
		}
	}
}

func TestWrongValuesAreFound(t *testing.T) {
	codecs, err := codecsFor[Person]()
	if err != nil {
		t.Fatal(err)
	}
	s := subject[Person]{name: "person", fresh: NewPerson, is: func(p *Person, i int64) bool { return p.Is(i + 1) },
		codecs: codecs, values: 2, repeat: 1}
	if _, err := s.measure(1, func() {}); !errors.Is(err, errWrong) {
		t.Error(err)
	}
}
