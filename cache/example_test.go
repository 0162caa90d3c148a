package cache_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/bigpile/bigpile/cache"
	"github.com/bigpile/bigpile/pile"
)

// newCache returns a cache with a pile of its own.
func newCache() *cache.Cache {
	p, err := pile.New(pile.Options{MaxMemory: 64 << 20})
	if err != nil {
		log.Fatal(err)
	}
	c, err := cache.New(p, cache.Options{OwnPile: true})
	if err != nil {
		log.Fatal(err)
	}
	return c
}

// must keeps the examples short.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func Example() {
	p, err := pile.New(pile.Options{})
	if err != nil {
		log.Fatal(err)
	}
	c, err := cache.New(p, cache.Options{OwnPile: true})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	words, err := cache.OpenTable(c, "words", cache.TableOptions[string, string]{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := words.Put("hello", "world"); err != nil {
		log.Fatal(err)
	}
	v, ok := words.Get("hello")
	fmt.Println(v, ok)
	// Output: world true
}

// Session is what a session store keeps.
type Session struct {
	User  string
	Roles []string
}

func Example_sessions() {
	c := newCache()
	defer c.Close()

	o := cache.TableOptions[string, Session]{
		OnRemove: func(r cache.Removal[string, Session]) {
			if r.Cause == cache.CauseExpired {
				log.Printf("session of %s is over", r.Value.User)
			}
		},
	}
	o.DefaultMaxAge = 30 * time.Minute
	sessions := must(cache.OpenTable(c, "sessions", o))

	_, err := sessions.PutWith("token", Session{User: "ann", Roles: []string{"editor"}},
		cache.PutOptions{ExpiresAt: time.Now().Add(12 * time.Hour)})
	if err != nil {
		log.Fatal(err)
	}

	// On every request: the session goes on for another half hour, but not beyond its deadline.
	s, ok := sessions.Get("token")
	if ok {
		sessions.Rejuvenate("token")
	}
	fmt.Println(s.User, s.Roles)

	sessions.Remove("token") // log out
	fmt.Println(sessions.Len())
	// Output:
	// ann [editor]
	// 0
}

// readUser stands for a slow database.
func readUser(ctx context.Context, id int) (string, error) {
	if id < 0 {
		return "", cache.ErrNotFound
	}
	return fmt.Sprint("user ", id), ctx.Err()
}

func Example_readThrough() {
	c := newCache()
	defer c.Close()
	o := cache.TableOptions[int, string]{}
	o.DefaultMaxAge = time.Minute
	users := must(cache.OpenTable(c, "users", o))

	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	name, result, err := users.GetOrPut(ctx, 7, readUser)
	fmt.Println(name, result, err)

	name, result, err = users.GetOrPut(ctx, 7, readUser)
	fmt.Println(name, result, err)

	_, _, err = users.GetOrPut(ctx, -1, readUser)
	fmt.Println(err)
	// Output:
	// user 7 Inserted <nil>
	// user 7 Existing <nil>
	// cache: not found
}

func Example_counters() {
	c := newCache()
	defer c.Close()
	hits := must(cache.OpenTable(c, "hits", cache.TableOptions[string, int]{}))

	for range 3 {
		n, _, err := hits.Compute("/index", func(n int, _ bool) (int, cache.Op) {
			return n + 1, cache.Write
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(n, " ")
	}
	// Output: 1 2 3
}

func Example_sizing() {
	c := newCache()
	defer c.Close()
	o := cache.TableOptions[[16]byte, []byte]{}
	o.InitialCapacity = 100_000
	o.MaxBytes = 32 << 20
	blobs := must(cache.OpenTable(c, "blobs", o))

	for i := range 1000 {
		if _, err := blobs.Put([16]byte{byte(i), byte(i >> 8)}, make([]byte, 64)); err != nil {
			log.Fatal(err)
		}
	}
	s := blobs.Stats()
	fmt.Println(s.Entries, s.PayloadBytes/s.Entries, s.IndexBytes > 0)
	// Output: 1000 88 true
}

func ExampleTable_GetMany() {
	c := newCache()
	defer c.Close()
	t := must(cache.OpenTable(c, "t", cache.TableOptions[string, string]{}))
	must(t.PutMany([]string{"a", "b"}, []string{"1", "2"}, cache.PutOptions{}))

	keys := []string{"a", "none", "b"}
	t.GetMany(keys, func(i int, v string, ok bool) bool {
		fmt.Println(keys[i], v, ok)
		return true
	})
	// Output:
	// a 1 true
	// none  false
	// b 2 true
}

func ExampleTable_AppendValue() {
	c := newCache()
	defer c.Close()
	t := must(cache.OpenTable(c, "t", cache.TableOptions[string, []byte]{}))
	must(t.Put("k", []byte("value")))

	buf := make([]byte, 0, 64) // reused from call to call
	buf, ok := t.AppendValue(buf[:0], "k")
	fmt.Println(string(buf), ok)
	// Output: value true
}

func ExampleTable_Entries() {
	c := newCache()
	defer c.Close()
	t := must(cache.OpenTable(c, "t", cache.TableOptions[string, int]{}))
	must(t.PutWith("k", 1, cache.PutOptions{MaxAge: time.Hour, Priority: 5}))

	for e := range t.Entries() {
		fmt.Println(e.Key, e.Value, e.MaxAge, e.Priority)
	}
	// Output: k 1 1h0m0s 5
}
