package pile_test

import (
	"errors"
	"fmt"
	"log"
	"sync"

	"github.com/bigpile/bigpile/pile"
)

// Entry is a node of a list that lives in the pile: it has no Go pointers, and so the collector never looks at it.
type Entry struct {
	Value int64
	Next  pile.PilePointer
}

// Any Go value goes in, cycles included, and comes back as it was.
func ExamplePile_Put() {
	type Person struct {
		Name   string
		Spouse *Person
	}
	p := examplePile()
	defer p.Close()

	ada := &Person{Name: "Ada"}
	ada.Spouse = &Person{Name: "William", Spouse: ada}
	ptr, err := p.Put(ada)
	if err != nil {
		log.Fatal(err)
	}
	v, err := p.Get(ptr)
	if err != nil {
		log.Fatal(err)
	}
	back := v.(*Person)
	fmt.Println(back.Spouse.Name, back.Spouse.Spouse == back)

	_, err = p.Put(struct{ Done chan int }{})
	fmt.Println(errors.Is(err, pile.ErrWrongType))
	// Output:
	// William true
	// true
}

// A list in the pile: each entry holds the handle of the next.
func ExampleOf() {
	p := examplePile()
	defer p.Close()
	entries, err := pile.Of[Entry](p)
	if err != nil {
		log.Fatal(err)
	}

	var head pile.PilePointer
	for i := range 3 {
		if head, err = entries.Put(Entry{Value: int64(i), Next: head}); err != nil {
			log.Fatal(err)
		}
	}
	for ptr := head; ptr != 0; {
		e, err := entries.Get(ptr)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Value)
		ptr = e.Next
	}
	// Output:
	// 2
	// 1
	// 0
}

// View shows a value without pointers where it lies, without a copy.
func ExampleTyped_View() {
	p := examplePile()
	defer p.Close()
	entries, err := pile.Of[Entry](p)
	if err != nil {
		log.Fatal(err)
	}
	var head pile.PilePointer
	for i := range 1000 {
		if head, err = entries.Put(Entry{Value: int64(i), Next: head}); err != nil {
			log.Fatal(err)
		}
	}

	var sum int64
	for ptr := head; ptr != 0; {
		err := entries.View(ptr, func(e *Entry) error {
			sum += e.Value
			ptr = e.Next
			return nil
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(sum)
	// Output: 499500
}

// Eight goroutines append to one list and lose nothing: Modify takes what it read for granted only if nobody changed it.
func ExampleTyped_Modify() {
	p := examplePile()
	defer p.Close()
	entries, err := pile.Of[Entry](p)
	if err != nil {
		log.Fatal(err)
	}
	head, err := entries.Put(Entry{}) // its Value counts the others
	if err != nil {
		log.Fatal(err)
	}

	var all sync.WaitGroup
	for g := range int64(8) {
		all.Go(func() {
			for i := range int64(100) {
				ptr, err := entries.Put(Entry{Value: g*100 + i})
				if err != nil {
					log.Fatal(err)
				}
				err = entries.Modify(head, func(h Entry) (Entry, error) {
					if err := entries.Update(ptr, Entry{Value: g*100 + i, Next: h.Next}); err != nil {
						return h, err
					}
					return Entry{Value: h.Value + 1, Next: ptr}, nil
				})
				if err != nil {
					log.Fatal(err)
				}
			}
		})
	}
	all.Wait()

	seen := map[int64]bool{}
	first, err := entries.Get(head)
	if err != nil {
		log.Fatal(err)
	}
	for ptr := first.Next; ptr != 0; {
		e, err := entries.Get(ptr)
		if err != nil {
			log.Fatal(err)
		}
		seen[e.Value] = true
		ptr = e.Next
	}
	fmt.Println(first.Value, len(seen))
	// Output: 800 800
}
