package samples

import (
	"testing"

	"github.com/bigpile/bigpile/pile"
	"github.com/bigpile/bigpile/serializer"
)

// What a person takes when there are 200 million of them: names and numbers grow with the count. The persons are spread
// evenly over it, as so many are not needed to know.
func TestBytesAPersonAt200Million(t *testing.T) {
	const persons, apart = 400_000, 500
	for tier, most := range map[serializer.Tier]float64{serializer.Graph: 72, serializer.Msgp: 88} {
		types := serializer.NewRegistry()
		if err := types.RegisterTier("person", Person{}, tier); err != nil {
			t.Fatal(err)
		}
		p, err := pile.New(pile.Options{SegmentSize: 64 << 20, Types: types})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		typed, err := pile.Of[Person](p)
		if err != nil {
			t.Fatal(err)
		}
		for k := range int64(persons) {
			if _, err := typed.Put(NewPerson(k * apart)); err != nil {
				t.Fatal(err)
			}
		}
		s := p.Stats()
		each := float64(s.AllocatedBytes) / persons
		t.Logf("%v: %.2f bytes a person, of which %.2f its own", tier, each, float64(s.Bytes)/persons)
		if each > most {
			t.Errorf("%v: %.2f bytes a person, at most %.0f", tier, each, most)
		}
	}
}
