package pile_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/bigpile/bigpile/pile"
)

// The program of README.md.
func Example() {
	p, err := pile.New(pile.Options{MaxMemory: 1 << 30})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	ptr, err := p.PutString("Hello")
	if err != nil {
		log.Fatal(err)
	}
	if err := p.UpdateString(ptr, "Hello, under the same handle"); err != nil {
		log.Fatal(err)
	}
	s, err := p.GetString(ptr)
	fmt.Println(s, err)
	err = p.Delete(ptr)
	_, gone := p.GetString(ptr)
	fmt.Println(err, errors.Is(gone, pile.ErrStalePointer))
	// Output:
	// Hello, under the same handle <nil>
	// <nil> true
}

// examplePile returns a pile, which examples without a background need no errors of.
func examplePile() *pile.Pile {
	p, err := pile.New(pile.Options{SegmentSize: 16 << 20})
	if err != nil {
		log.Fatal(err)
	}
	return p
}

// examplePut stores a string and returns its handle.
func examplePut(p *pile.Pile, s string) pile.PilePointer {
	ptr, err := p.PutString(s)
	if err != nil {
		log.Fatal(err)
	}
	return ptr
}

// A nil slice is stored as an empty one.
func ExamplePile_PutBytes() {
	p := examplePile()
	defer p.Close()

	ptr, err := p.PutBytes([]byte{1, 2, 3})
	if err != nil {
		log.Fatal(err)
	}
	empty, err := p.PutBytes(nil)
	if err != nil {
		log.Fatal(err)
	}

	b, err := p.GetBytes(ptr)
	fmt.Println(b, err)
	b, err = p.GetBytes(empty)
	fmt.Println(b, b == nil, err)
	// Output:
	// [1 2 3] <nil>
	// [] false <nil>
}

// Strings and bytes interchange: what was put as one may be got as the other.
func ExamplePile_GetBytes() {
	p := examplePile()
	defer p.Close()

	b, err := p.GetBytes(examplePut(p, "abc"))
	fmt.Println(b, err)
	// Output: [97 98 99] <nil>
}

// With a buffer that is large enough a read does not allocate.
func ExamplePile_AppendBytes() {
	p := examplePile()
	defer p.Close()
	first, second := examplePut(p, "one"), examplePut(p, "two")

	buf := make([]byte, 0, 64)
	for _, ptr := range []pile.PilePointer{first, second} {
		var err error
		if buf, err = p.AppendBytes(buf[:0], ptr); err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(buf))
	}
	// Output:
	// one
	// two
}

// A View shows the bytes where they are. They stay as they were until the function returns, even if
// the value is updated or deleted meanwhile; they must not be kept, nor written to.
func ExamplePile_View() {
	p := examplePile()
	defer p.Close()
	ptr := examplePut(p, "a line of text")

	words := 0
	err := p.View(ptr, func(b []byte) error {
		if err := p.Delete(ptr); err != nil { // a callback may do anything with the pile
			return err
		}
		words = len(strings.Fields(string(b)))
		return nil
	})
	fmt.Println(words, err)

	_, err = p.SizeOf(ptr)
	fmt.Println(errors.Is(err, pile.ErrStalePointer))
	// Output:
	// 4 <nil>
	// true
}

// The handle stays the same whatever the size and the type of the new value.
func ExamplePile_Update() {
	p := examplePile()
	defer p.Close()
	ptr := examplePut(p, "short")

	if err := p.Update(ptr, []byte(strings.Repeat("long ", 1000))); err != nil {
		log.Fatal(err)
	}
	n, err := p.SizeOf(ptr)
	fmt.Println(n, err)
	fmt.Println(p.Stats().Objects, p.Stats().Links)
	// Output:
	// 5000 <nil>
	// 1 1
}

// A value that will grow takes a slot with room from the start.
func ExamplePile_PutReserve() {
	p := examplePile()
	defer p.Close()

	ptr, err := p.PutReserve("empty", 200)
	if err != nil {
		log.Fatal(err)
	}
	if err := p.Update(ptr, strings.Repeat("x", 200)); err != nil {
		log.Fatal(err)
	}
	n, err := p.SizeOf(ptr)
	fmt.Println(n, err)
	// Output: 200 <nil>
}

// On an error the handles that were appended are those of the values that were stored.
func ExamplePile_PutMany() {
	p := examplePile()
	defer p.Close()

	ptrs, err := p.PutMany([][]byte{[]byte("a"), []byte("bc"), []byte("def")}, nil)
	fmt.Println(len(ptrs), err, p.Stats().Bytes)
	// Output: 3 <nil> 6
}

// The function is called for each handle in order; a handle without a value gets an error.
func ExamplePile_GetMany() {
	p := examplePile()
	defer p.Close()
	ptrs := []pile.PilePointer{examplePut(p, "a"), examplePut(p, "b"), examplePut(p, "c")}
	if err := p.Delete(ptrs[1]); err != nil {
		log.Fatal(err)
	}

	err := p.GetMany(ptrs, func(i int, b []byte, err error) bool {
		fmt.Printf("%d %q stale: %v\n", i, b, errors.Is(err, pile.ErrStalePointer))
		return true
	})
	fmt.Println(err)
	// Output:
	// 0 "a" stale: false
	// 1 "" stale: true
	// 2 "c" stale: false
	// <nil>
}

// DeleteMany goes on past handles that cannot be deleted.
func ExamplePile_DeleteMany() {
	p := examplePile()
	defer p.Close()
	a, b := examplePut(p, "a"), examplePut(p, "b")

	n, err := p.DeleteMany([]pile.PilePointer{a, a, b})
	fmt.Println(n, errors.Is(err, pile.ErrStalePointer))
	// Output: 2 true
}

// The loop may change the pile.
func ExamplePile_All() {
	p := examplePile()
	defer p.Close()
	examplePut(p, "Hello")
	if _, err := p.PutBytes([]byte{1, 2}); err != nil {
		log.Fatal(err)
	}

	for ptr, e := range p.All() {
		fmt.Println(e.Kind, e.Type, e.Size, ptr.Valid())
		if err := p.Delete(ptr); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(p.Stats().Objects)
	// Unordered output:
	// string string 5 true
	// bytes []byte 2 true
	// 0
}

func ExamplePile_Stats() {
	p := examplePile()
	defer p.Close()
	ptr := examplePut(p, "0123456789")
	examplePut(p, "abc")
	if _, err := p.GetString(ptr); err != nil {
		log.Fatal(err)
	}
	if err := p.Delete(ptr); err != nil {
		log.Fatal(err)
	}

	s := p.Stats()
	fmt.Println("values", s.Objects, "bytes", s.Bytes)
	fmt.Println("puts", s.Puts, "gets", s.Gets, "deletes", s.Deletes)
	fmt.Println("segments", s.Segments, "mapped", s.MappedBytes, "in pages and runs", s.AllocatedBytes)
	// Output:
	// values 1 bytes 3
	// puts 2 gets 1 deletes 1
	// segments 1 mapped 16777216 in pages and runs 131072
}

// Compact returns memory that nothing uses, here a whole segment.
func ExamplePile_Compact() {
	p := examplePile()
	defer p.Close()
	ptr, err := p.PutBytes(make([]byte, 10<<20))
	if err != nil {
		log.Fatal(err)
	}
	if err := p.Delete(ptr); err != nil {
		log.Fatal(err)
	}

	freed, err := p.Compact(context.Background(), nil)
	fmt.Println(freed >= 10<<20, err)
	fmt.Println(p.Stats().Segments)
	// Output:
	// true <nil>
	// 0
}

// Errors are matched with errors.Is; what they print says more.
func ExamplePile_Delete() {
	p := examplePile()
	ptr := examplePut(p, "x")
	if err := p.Delete(ptr); err != nil {
		log.Fatal(err)
	}
	examplePut(p, "y") // may go to the same place

	fmt.Println(errors.Is(p.Delete(ptr), pile.ErrStalePointer))
	_, err := p.PutBytes(make([]byte, p.MaxValueSize()+1))
	fmt.Println(errors.Is(err, pile.ErrTooLarge))
	if err := p.Close(); err != nil {
		log.Fatal(err)
	}
	_, err = p.PutString("z")
	fmt.Println(errors.Is(err, pile.ErrClosed))
	// Output:
	// true
	// true
	// true
}

// Check looks at every slot and compares every counter with the truth.
func ExamplePile_Check() {
	p := examplePile()
	defer p.Close()
	examplePut(p, "x")

	fmt.Println(p.Check(context.Background()))
	// Output: <nil>
}

// As text a handle is 16 hexadecimal digits.
func ExamplePilePointer_UnmarshalText() {
	var ptr pile.PilePointer
	fmt.Println(ptr.UnmarshalText([]byte("0000000000001000")), ptr, ptr.Valid())
	fmt.Println(errors.Is(ptr.UnmarshalText([]byte("12")), pile.ErrInvalidPointer), ptr)
	// Output:
	// <nil> 0000000000001000 true
	// true 0000000000001000
}
