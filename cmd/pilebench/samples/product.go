package samples

import (
	"strconv"
	"time"
)

// Product is a nested record with localized strings.
type Product struct {
	ID          uint64
	Names       map[string]string
	Description map[string]string
	Tags        []string
	Variants    []Variant
	Rating      float64
	Active      bool
	Created     time.Time
	Parent      *int64
}

// Variant is a product as it is sold.
type Variant struct {
	SKU, Color string
	Weight     float64
	Stock      int
	Prices     []Price
}

// Price is an amount in a currency.
type Price struct {
	Currency string
	Amount   Decimal
}

// productNames are in the languages of the shop.
func productNames() [5][3]string {
	return [5][3]string{
		{"en", "Folding garden chair", "A chair for the garden that folds, of oiled acacia and powder-coated steel; the seat is 44 cm high. Article "},
		{"de", "Klappbarer Gartenstuhl", "Ein klappbarer Stuhl für den Garten aus geölter Akazie und pulverbeschichtetem Stahl, Sitzhöhe 44 cm. Artikel "},
		{"fr", "Chaise de jardin pliante", "Une chaise pliante pour le jardin, en acacia huilé et acier thermolaqué; l'assise est à 44 cm. Article "},
		{"ru", "Складной садовый стул", "Складной стул для сада из промасленной акации и стали с порошковым покрытием, высота 44 см. Артикул "},
		{"zh", "折叠花园椅", "可折叠的花园椅，采用上油相思木和粉末涂层钢制成，座高44厘米。商品编号 "},
	}
}

// NewProduct makes product i.
func NewProduct(i int64) Product {
	number := strconv.FormatInt(i, 10)
	parent := i / 10
	p := Product{
		ID: uint64(i), Names: make(map[string]string, 5), Description: make(map[string]string, 5),
		Tags: []string{"garden", "outdoor", "wood", "new"}, Rating: float64(i%50) / 10, Active: i%3 != 0,
		Created: time.Unix(1_700_000_000+i, 123_000).UTC(), Parent: &parent,
	}
	for _, text := range productNames() {
		p.Names[text[0]] = text[1]
		p.Description[text[0]] = text[2] + number
	}
	for k, color := range []string{"blue", "green", "anthracite"} {
		amount := 4900 + i%100
		p.Variants = append(p.Variants, Variant{
			SKU: "GC-" + number + "-" + strconv.Itoa(k), Color: color, Weight: 3.25, Stock: int(i%200) + k,
			Prices: []Price{{"EUR", Decimal{amount, 2}}, {"USD", Decimal{amount + 1000, 2}}},
		})
	}
	return p
}

// Is reports whether p is product i, in what depends on the number and in what is nested.
func (p *Product) Is(i int64) bool {
	number := strconv.FormatInt(i, 10)
	if p.ID != uint64(i) || p.Parent == nil || *p.Parent != i/10 || p.Rating != float64(i%50)/10 || p.Active != (i%3 != 0) ||
		!p.Created.Equal(time.Unix(1_700_000_000+i, 123_000)) || len(p.Tags) != 4 || len(p.Variants) != 3 ||
		len(p.Names) != 5 || len(p.Description) != 5 {
		return false
	}
	for _, text := range productNames() {
		if p.Names[text[0]] != text[1] || p.Description[text[0]] != text[2]+number {
			return false
		}
	}
	amount := Decimal{4900 + i%100, 2}
	for k, v := range p.Variants {
		if v.SKU != "GC-"+number+"-"+strconv.Itoa(k) || v.Stock != int(i%200)+k || len(v.Prices) != 2 ||
			v.Prices[0].Amount != amount || v.Prices[1].Currency != "USD" {
			return false
		}
	}
	return true
}
