package samples

import "testing"

// Every kind of value knows itself, and not its neighbour.
func TestValuesKnowTheirNumber(t *testing.T) {
	for _, i := range []int64{0, 1, 6, 7, 49, 9_999, 10_000, 123_456_789, PlainPersonMax} {
		for _, other := range []int64{i, i + 1} {
			right := i == other
			person, plain, product, list := NewPerson(i), NewPlainPerson(i), NewProduct(i), NewList(i)
			raw, err := person.MarshalMsg(nil)
			if err != nil {
				t.Fatal(err)
			}
			for what, is := range map[string]bool{
				"person": person.Is(other), "plain": plain.Is(other), "msgp": IsPersonMsgp(raw, other),
				"product": product.Is(other), "circle": IsCircle(NewCircle(i), other), "list": IsList(list, other),
			} {
				if is != right {
					t.Errorf("%s %d taken for %d: %v", what, i, other, is)
				}
			}
		}
	}
	if p := NewPerson(12); p.FirstName != "Gavial-0012" || p.LastName != "Buxarinovich-00012" {
		t.Error(p)
	}
}
