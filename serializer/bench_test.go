package serializer

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// product is a nested record with localised strings.
type product struct {
	ID          uint64
	Names       map[string]string
	Description map[string]string
	Tags        []string
	Variants    []variant
	Rating      float64
	Active      bool
	Created     time.Time
	Parent      *int64
}

type variant struct {
	SKU, Color string
	Weight     float64
	Stock      int
	Prices     []price
}

type price struct {
	Currency string
	Amount   int64
	Scale    int8
}

func newProduct(i int) product {
	parent := int64(i)
	p := product{ID: uint64(i), Names: map[string]string{}, Description: map[string]string{}, Rating: 4.5, Active: true,
		Tags: []string{"garden", "outdoor", "metal", "new"}, Created: time.Date(2024, 5, 6, 7, 8, 9, 1234, time.UTC), Parent: &parent}
	for _, lang := range []string{"en", "de", "fr", "es", "ru"} {
		p.Names[lang] = "Garden chair in " + lang
		p.Description[lang] = "A long and winding description of a garden chair that folds, in language " + lang
	}
	for j := range 3 {
		p.Variants = append(p.Variants, variant{fmt.Sprint("SKU-", i, "-", j), "blue", 3.25, 100 * j,
			[]price{{"EUR", 4999, 2}, {"USD", 5999, 2}}})
	}
	return p
}

func BenchmarkTiers(b *testing.B) {
	benchTier(b, "tier=raw/value=64B", "", Raw, string(make([]byte, 64)))
	benchTier(b, "tier=plain/value=64B", "", Plain, [8]uint64{1, 2, 3})
	benchTier(b, "tier=plain/value=padded", "", Plain, padded{A: true})
	benchTier(b, "tier=msgp/value=person", "", Msgp, msgpPerson(newPerson(200_000_001)))
	benchTier(b, "tier=graph/value=person", "graph", Graph, msgpPerson(newPerson(200_000_001)))
	benchTier(b, "tier=graph/value=product", "", Graph, newProduct(12345))
	people := make([]person, 4000)
	for i := range people {
		people[i] = newPerson(i)
	}
	benchTier(b, "tier=graph/value=4000persons", "", Graph, people)
	ring := &link{}
	for range 1000 {
		ring = &link{next: ring}
	}
	benchTier(b, "tier=graph/value=1000nodes", "", Graph, ring)
}

// benchTier measures writing and reading v; a name registers its type for the tier.
func benchTier[T any](b *testing.B, label, name string, tier Tier, v T) {
	r := NewRegistry()
	if name != "" {
		if err := r.RegisterTier(name, v, tier); err != nil {
			b.Fatal(err)
		}
	}
	t := typed[T](b, r)
	stored, err := t.Append(nil, &v)
	if err != nil || t.Tier() != tier {
		b.Fatal(t.Tier(), err)
	}
	b.Run(label+"/op=append", func(b *testing.B) {
		b.ReportAllocs()
		buf := make([]byte, 0, 2*len(stored))
		for b.Loop() {
			buf, _ = t.AppendValue(buf[:0], v)
		}
		b.ReportMetric(float64(len(stored)), "bytes")
	})
	b.Run(label+"/op=decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := t.DecodeValue(t.Code(), stored); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkPlainInPlace(b *testing.B) {
	t := typed[[8]uint64](b, NewRegistry())
	mem := aligned(64)
	v := [8]uint64{1, 2, 3}
	b.Run("op=copy", func(b *testing.B) {
		src := aligned(64)
		for b.Loop() {
			copy(mem, src)
		}
	})
	b.Run("op=put", func(b *testing.B) {
		for b.Loop() {
			t.PutPlain(mem, &v)
		}
	})
	b.Run("op=view", func(b *testing.B) {
		for b.Loop() {
			w, err := t.ViewPlain(mem)
			if err != nil || w[0] != 1 {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkStandard(b *testing.B) {
	benchStandard(b, "person", newPerson(200_000_001))
	benchStandard(b, "product", newProduct(12345))
}

func benchStandard[T any](b *testing.B, label string, v T) {
	asJSON, _ := json.Marshal(v)
	b.Run("codec=json/value="+label+"/op=append", func(b *testing.B) {
		for b.Loop() {
			_, _ = json.Marshal(v)
		}
		b.ReportMetric(float64(len(asJSON)), "bytes")
	})
	b.Run("codec=json/value="+label+"/op=decode", func(b *testing.B) {
		for b.Loop() {
			var w T
			_ = json.Unmarshal(asJSON, &w)
		}
	})
	var asGob bytes.Buffer
	_ = gob.NewEncoder(&asGob).Encode(v)
	b.Run("codec=gob/value="+label+"/op=append", func(b *testing.B) {
		for b.Loop() {
			_ = gob.NewEncoder(&bytes.Buffer{}).Encode(v)
		}
		b.ReportMetric(float64(asGob.Len()), "bytes")
	})
	b.Run("codec=gob/value="+label+"/op=decode", func(b *testing.B) {
		for b.Loop() {
			var w T
			_ = gob.NewDecoder(bytes.NewReader(asGob.Bytes())).Decode(&w)
		}
	})
}
