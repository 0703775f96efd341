package importer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"library-catalogue/graph/model"
)

// TestDuplicatesDifferInEachField asks about two rows of one book that differ in one field. With another name, ISBN or
// shelf mark they are different books.
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
				cell := values[model.ImportField(field).Kind][i]
				switch field {
				case "isbn":
					cell = []string{"9783161484100", "9780306406157"}[i]
				case "language":
					cell = []string{"de", "en"}[i]
				}
				cells = append(cells, cell)
			}
			text += strings.Join(cells, ",") + "\n"
		}
		_, err := surveyOf(t, []byte(text), Options{})
		if isKey := slices.Contains([]string{"name", "isbn", "shelf_mark"}, differing); isKey != (err == nil) || !isKey && !strings.Contains(err.Error(), ": A, A: "+differing+" ") {
			t.Errorf("%s: %v", differing, err)
		}
	}
}

// TestSameBooks asks about rows that the store would take for the same book, if they have different values.
func TestSameBooks(t *testing.T) {
	t.Parallel()
	const one, ten, other = "9780192553355", "0192553356", "9780451450524"
	for name, test := range map[string]struct {
		rows []string // name|author|isbn|shelf_mark|pages
		want string   // the places of the first and the differing row of each book
	}{
		"equal rows":                              {[]string{"A|X Y|" + one + "||10", "A|X Y|" + one + "||10"}, ""},
		"ISBN-10 and ISBN-13 of one book":         {[]string{"A|X Y|" + one + "||10", "A|X Y|" + ten + "||10"}, ""},
		"the same with other pages":               {[]string{"A|X Y|" + one + "||10", "A|X Y|" + ten + "||20"}, "2-3"},
		"an ISBN in the second row":               {[]string{"A|X Y|||10", "A|X Y|" + one + "||20"}, "2-3"},
		"an ISBN in the first row":                {[]string{"A|X Y|" + one + "||20", "A|X Y|||10"}, "2-3"},
		"an ISBN alone is a different value":      {[]string{"A|X Y|" + one + "||10", "A|X Y|||10"}, "2-3"},
		"a shelf mark in one row":                 {[]string{"A|X Y||A 1|10", "A|X Y|||10"}, "2-3"},
		"an author in another spelling":           {[]string{"A|X Y|" + one + "||10", "A|X Y & Rick Roe|" + one + "||10"}, "2-3"},
		"an author who is inverted":               {[]string{"A|Jane Doe|||10", "A|Doe, Jane|||20"}, "2-3"},
		"a name with a sign of a card":            {[]string{"A river|X Y|||10", "A River /|X Y|||20"}, "2-3"},
		"a name of signs":                         {[]string{"???|X Y|||10", "???|X Y|||20"}, "2-3"},
		"far apart":                               {[]string{"A|X Y|||10", "B|X Y|||10", "C|X Y|||10", "A|X Y|||20"}, "2-5"},
		"two editions":                            {[]string{"A|X Y|" + one + "||10", "A|X Y|" + other + "||20"}, ""},
		"an edition of each, and the first again": {[]string{"A|X Y|" + one + "||10", "A|X Y|" + other + "||10", "A|X Y|" + one + "||20"}, "2-4"},
		"copies":                              {[]string{"A|X Y|" + one + "|A 1|10", "A|X Y|" + one + "|A 2|10"}, ""},
		"a row that may be two editions":      {[]string{"A|X Y|" + one + "||10", "A|X Y|" + other + "||10", "A|X Y|||30"}, ""},
		"a row that becomes an edition":       {[]string{"A|X Y|||10", "A|X Y|" + one + "||10", "A|X Y|" + other + "||10"}, "2-3"},
		"an edition beside one with two rows": {[]string{"A|X Y|" + one + "||10", "A|X Y|||10", "A|X Y|" + other + "||10", "A|X Y|" + other + "||20"}, "2-3 4-5"},
		"the copy without an ISBN is closest": {[]string{"A|X Y||A 1|10", "A|X Y|" + one + "|A 2|10", "A|X Y|||20"}, "2-4"},
		"other authors":                       {[]string{"A|X Y|||10", "A|Z Y|||20"}, ""},
		"other names of one ISBN":             {[]string{"A|X Y|" + one + "||10", "B|X Y|" + one + "||20"}, ""},
		"ISBNs that cannot be read":           {[]string{"A|X Y|9.78019E+12||10", "A|X Y|9.78045E+12||20"}, "2-3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "Title|Author|ISBN|Shelf mark|Pages|Year|Price|Genre\n"
			for _, row := range test.rows {
				text += row + "|2000|1|G\n"
			}
			_, err := surveyOf(t, []byte(text), Options{Delimiter: '|'})
			got := ""
			for _, found := range regexp.MustCompile(`line (\d+) and line (\d+): `).FindAllStringSubmatch(fmt.Sprint(err), -1) {
				got = strings.TrimSpace(got + " " + found[1] + "-" + found[2])
			}
			if got != test.want || test.want == "" && err != nil {
				t.Errorf("%q, want %q: %v", got, test.want, err)
			}
		})
	}
}

// TestDuplicateRules reads the rows of one book as the option says.
func TestDuplicateRules(t *testing.T) {
	t.Parallel()
	const text = "Title,Author,Pages,Year,Price,Genre\nA,X Y,1,2000,1,G\nB,X Y,1,2000,1,G\nA,X Y,2,2000,1,G\nA,X Y,2,2000,1,G\n"
	for rule, want := range map[string]string{
		DuplicatesFirst: "A1 B1", DuplicatesLast: "B1 A2", DuplicatesKeep: "A1 B1 A2 apart A2 apart",
		DuplicatesReject: "rejected: Row 3 B1 rejected: Row 1 rejected: Row 1",
	} {
		f, err := surveyOf(t, []byte(text), Options{Duplicates: rule})
		must(t, err)
		rows, err := f.First(t.Context(), 9)
		must(t, err)
		got := ""
		for _, row := range rows {
			switch {
			case len(row.Problems) > 0:
				got += " rejected: " + strings.TrimSuffix(row.Problems[0].Message.String(), " is the same book, with other values.")
			case !row.Skipped:
				got += " " + row.Value("name") + row.Value("pages") + map[bool]string{true: " apart"}[!row.form[model.Apart].Missing()]
			}
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%s: %s, want %s", rule, got, want)
		}
	}
}
