package survey

import (
	"slices"
	"strings"
	"testing"

	"library-catalogue/graph/model"
)

// TestEvidence scores cells for each field: those that speak for it, and others that cannot be the field or hardly are.
func TestEvidence(t *testing.T) {
	t.Parallel()
	tests := map[string][]struct {
		cells  string // between bars
		points int
	}{
		"name":         {{"The sea|A red hat|Old roads", 8}, {"The sea|The sea|The sea|The sea", 1}, {"Ann Lee|Bo Ek", 5}, {"1999|2005|1984", -1}, {"A3|B1", -1}},
		"description":  {{strings.Repeat("a long text ", 15), 10}, {"short", 0}, {"2001-05-31|2003-01-01", -1}},
		"pages":        {{"320|212|104", 10}, {"320 kap|212 kap", 5}, {"320 p.|212 p.", 10}, {"1999|2005", 1}, {"1|2|3", -1}, {"$ 3|$ 4", -1}},
		"published_at": {{"1999|2005", 10}, {"2001-05-31|x", 5}, {"x|y", -1}, {"http://a.example|http://b.example", -1}},
		"author":       {{"Ann Lee|Bo Ek", 10}, {"sea|hat", 2}, {"12|13|15", -1}},
		"isbn":         {{"9780306406157|0-306-40615-2", SurePoints}, {"9780306406157|x", 0}, {"x", -5}},
		"publisher":    {{"Oak Press|Elm Publishing", SurePoints}, {"Oak|Elm", 8}, {"2001-05-31", -1}},
		"language":     {{"English|German", 8}, {"1999|2005|2003", -1}},
		"shelf_mark":   {{"A3|B1", 1}, {"1999", 1}},
		"subtitle":     {{"The sea|A red hat|Old roads", -1}}, "series": {{"Novel|Novel", -1}}, "series_number": {{"1|2|3", -1}},
		"price":    {{"12,50 €|9,99 €", 10}, {"12.50|9.99", 7}, {"12 qq|7 qq", 6}, {"12|7", 2}, {"1999|2005", 1}, {"1|2|3", -1}, {"x", -1}},
		"genre":    {{"Novel|Poems|Novel|Poems", 6}, {"Novel", 2}, {"book|book|book|book", 1}, {"12 qq|7 qq", -1}},
		"category": {{"Novel|Poems|Novel|Poems", 6}, {"$ 3|$ 4", -1}},
	}
	if len(tests) != len(model.ImportFields) || len(evidence) != len(tests) {
		t.Errorf("%d fields, %d of them with evidence, %d tested", len(model.ImportFields), len(evidence), len(tests))
	}
	for field, columns := range tests {
		for _, column := range columns {
			var p Profile
			for cell := range strings.SplitSeq(column.cells, "|") {
				p.Add(cell, 2027)
			}
			if got := p.Points(field); got != column.points {
				t.Errorf("%q for %s: %d points, not %d", column.cells, field, got, column.points)
			}
		}
	}
}

// TestRefutes refutes a field by cells of which hardly one can be read as it.
func TestRefutes(t *testing.T) {
	t.Parallel()
	for cells, want := range map[string][]string{
		"Ann Lee|Bo Ek":   {"pages", "published_at", "isbn", "price"},
		"1999|2005":       {"isbn", "publisher"},
		"12,50 €|9,99 €":  {"pages", "published_at", "isbn", "genre", "category"},
		"9780306406157|x": {"pages", "published_at", "price"},
	} {
		var p Profile
		for cell := range strings.SplitSeq(cells, "|") {
			p.Add(cell, 2027)
		}
		got := slices.DeleteFunc(slices.Clone(model.ImportFields), func(field string) bool { return !p.Refutes(field) })
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q refutes %q, not %q", cells, got, want)
		}
	}
}

// TestPagesOrMoney: a sign that is a word for pages and a currency means what the name of the column says.
func TestPagesOrMoney(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"Seiten": true, "Preis": false, "Betrag": false} {
		p := Profile{Name: name}
		for _, cell := range []string{"304 S.", "211 S.", "187 S."} {
			p.Add(cell, 2030)
		}
		if got := p.Points("pages") > 0; got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}

// TestNumberedTitles: titles with numbers are no amounts of an unknown currency.
func TestNumberedTitles(t *testing.T) {
	t.Parallel()
	for _, cells := range [][]string{{"Naruto 1", "Naruto 2", "Naruto 3"}, {"Fluss 1 und Tal", "Berg 2", "Band 3 und 4"}} {
		p := Profile{Name: "Titel"}
		for _, cell := range cells {
			p.Add(cell, 2030)
		}
		if got := p.Points("name"); got <= 0 {
			t.Errorf("%q: %d points for the name", cells, got)
		}
	}
}
