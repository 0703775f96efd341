package importer

import (
	"strings"
	"testing"

	"library-catalogue/graph/model"
)

// TestAmounts reads amounts of columns with a decimal point, and with a decimal comma.
func TestAmounts(t *testing.T) {
	t.Parallel()
	const bad = "not read"
	for text, want := range map[string]struct{ point, comma string }{
		"12.5":         {"12.5", "12.5"},
		"12,5":         {"12.5", "12.5"},
		"1.299":        {"1.299", "1299"},
		"1,299":        {"1299", "1.299"},
		"1,299.00":     {"1299.00", "1299.00"},
		"1.299,00":     {"1299.00", "1299.00"},
		"1'299.50":     {"1299.50", "1299.50"},
		"1 299,50 €":   {"1299.50", "1299.50"},
		"1,299,000":    {"1299000", "1299000"},
		"$ 9.99":       {"9.99", "9.99"},
		"US$9.99":      {"9.99", "9.99"},
		"9.99 USD":     {"9.99", "9.99"},
		"kr. 99":       {"99", "99"},
		"99 kr.":       {"99", "99"},
		"1e2":          {"1e2", "1e2"},
		"12,34,5":      {bad, bad},
		"1,2345.00":    {bad, bad},
		"Free":         {bad, bad},
		"about 12":     {bad, bad},
		"9.7813E+12 x": {bad, bad},
		"$":            {bad, bad},
		"":             {bad, bad},
	} {
		for comma, want := range map[bool]string{false: want.point, true: want.comma} {
			got, ok := parseAmount(text, comma)
			if !ok {
				got = bad
			}
			if got != want {
				t.Errorf("%q, comma %v: %s, not %s", text, comma, got, want)
			}
		}
	}
}

// TestDecimalComma: the cells that leave nothing open decide for those that do.
func TestDecimalComma(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cells []string
		want  bool
	}{
		{[]string{"1.299", "9,99"}, true}, {[]string{"1.299,00"}, true}, {[]string{"1,299.00", "1,299"}, false},
		{[]string{"1,299"}, false}, {[]string{"1.299"}, false}, {[]string{"9,99", "9.99"}, false}, {nil, false},
	} {
		var s amountSurvey
		for _, cell := range test.cells {
			s.add(cell)
		}
		if s.comma() != test.want {
			t.Errorf("%q: %v", test.cells, s.comma())
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"352": "352", "1,024": "1024", "1.024": "1024", "352.0": "352", "352 pages": "352", "352 p.": "352", "1 024": "1024",
		"304 p": "304", "304 S.": "304", "304 Seiten": "304", "xii, 304 pages": "304", "XII-304 p.": "304", "xii, 304 p. : ill. ; 23 cm": "304",
		"[4], 304, [2] p.": "304", "[304] p.": "304", "1 vol. (304 p.)": "304", "1 online resource (xii, 1,024 pages)": "1024", "ca. 300 S.": "300",
		"304 páginas ; 21 cm": "304", "304 с.": "304", "2 v. (304, 290 p.)": "", "12-34 p.": "", "304 cm": "", "xii p.": "", "3 DVDs": "",
		"4 p. l., 304 p.": "304", "2 p.l., iii-xii, 304 p.": "304", "1 p. l., [7]-304 p.": "304", "1 f., 304 p.": "304", "[304] p., 4 p.": "304",
		"16 p. of plates, 304 p.": "304", "12 S., 304 S.": "304", "4 p., 1 024 p.": "1024", "1 f., 304 p. (12 p.)": "304", "4 p. l., 12-304 p.": "",
		"viii,120,304p.": "304", "[4],120,304 p.": "304", "xii,304,120 p.": "304", "xii, 304,120 p.": "304", "viii,4,120 p.": "120",
		"12-304 p.": "", "12-304": "", "1 vol. (120-304 p.)": "", "5/120": "", "12x304": "",
		"3.5": "", "many": "", "9.78E+12": "", "p": "", "1,2": "", "": "",
	} {
		if got, ok := parsePages(text); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
}

// FuzzCells: what is read of a cell is what the catalogue takes, whatever the cell.
func FuzzCells(f *testing.F) {
	for _, seed := range []string{"31-Jul-14", "1.299,50 €", "3/4/05", "1st May 2001", "352 pages", "١٢/٣/٢٠٠٥", "\xff-Jan-01", "2001 05", "1’299"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, order := range []string{datesAuto, datesMDY, datesDMY} {
			if day, layout, ok := parseDate(text, order, 2027); ok && (layout == "" || day.String() < "0001" || len(day.String()) != 10) {
				t.Errorf("%q: %s, %q", text, day, layout)
			}
		}
		var dates dateSurvey
		dates.add(1, text, 2027)
		for _, comma := range []bool{false, true} {
			if plain, ok := parseAmount(text, comma); ok {
				if _, ok := model.ParseCents(plain); !ok {
					t.Errorf("%q: %q is no amount", text, plain)
				}
			}
		}
		if plain, ok := parsePages(text); ok {
			if _, ok := model.ParseCents(plain); !ok || plain == "" {
				t.Errorf("%q: %q is no number", text, plain)
			}
		}
	})
}

// TestDuplicatesDifferInEachField: two rows of one book that differ in any one field are
// asked about.
func TestDuplicatesDifferInEachField(t *testing.T) {
	t.Parallel()
	values := map[model.Kind][2]string{
		model.KindText: {"A", "B"}, model.KindInt: {"1", "2"}, model.KindDate: {"2005-01-01", "2005-01-02"}, model.KindCents: {"1", "2"},
	}
	for _, differing := range model.ImportFields {
		text := strings.Join(model.ImportFields, ",") + "\n"
		for row := range 2 {
			var cells []string
			for _, field := range model.ImportFields {
				i := 0
				if field == differing {
					i = row
				}
				cells = append(cells, values[model.ImportField(field).Kind][i])
			}
			text += strings.Join(cells, ",") + "\n"
		}
		_, err := survey(t, []byte(text), Options{})
		if isKey := differing == "name" || differing == "author"; isKey != (err == nil) || !isKey && !strings.Contains(err.Error(), ": A, A: "+differing+" ") {
			t.Errorf("%s: %v", differing, err)
		}
	}
}
