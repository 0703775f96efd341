package importer

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGaps reads files with empty cells, other genres and nested JSON. Each want is the rows, or the questions.
func TestGaps(t *testing.T) {
	t.Parallel()
	const header, book = "Title,Pages,Year,Author,Price,Genre,Category\n", `{"title":"A","pages":1,"year":2000,"author":"X","price":1,"genre":"G"}`
	for name, test := range map[string]struct {
		text     string
		defaults string
		want     string
	}{
		"empty cells are a part of the questions": {"Title,Pages,Year,Author,Genre\nA,,2000,X,G\nB,2,2000,X,\n,,2000,,\n", "",
			"the header has no column price. It has: Title, Pages, Year, Author, Genre. 1 row has no pages. 1 row has no genre"},
		"empty cells alone are no question": {header + "A,,2000,X,1,G,C\n", "", "row 1 (line 2): The pages field is required."},
		"marks of no value": {header + "A,N/A,2000,X,-,G,C\nB,0,2000,X,null,G,C\n", "pages=7 price=0",
			"A||7|2000-01-01|X|0.00|G|C B||7|2000-01-01|X|0.00|G|C"},
		"no pages in the catalogue's own columns": {"name,pages,published_at,author,price,genre\nA,0,2000-01-01,X,1,G\n", "pages=7", "A||7|2000-01-01|X|1.00|G|"},
		"the same without a default":              {"name,pages,published_at,author,price,genre\nA,0,2000-01-01,X,1,G\n", "", `row 1 (line 2): pages "0": The pages field must be at least 1.`},
		"no dates": {header + "A,1,00/00/0000,X,1,G,C\nA,1,0000-00-00,X,1,G,C\nA,1,[s.a.],X,1,G,C\nA,1,o. J.,X,1,G,C\nA,1,n.d.,X,1,G,C\nA,1,–,X,1,G,C\n",
			"published_at=1900-01-01", strings.TrimSpace(strings.Repeat("A||1|1900-01-01|X|1.00|G|C ", 6))},
		"legal deposits and impressions": {header + "A,1,D.L. 1982,X,1,G,C\nB,1,DL 1982,X,1,G,C\nC,1,impr. 1982,X,1,G,C\n", "",
			"A||1|1982-01-01|X|1.00|G|C B||1|1982-01-01|X|1.00|G|C C||1|1982-01-01|X|1.00|G|C"},

		"a category without a genre is the genre": {"Title,Pages,Year,Author,Price,Kategorie,Tags\nA,1,2000,X,1,G,t\nB,1,2000,X,1,,t\n", "category=C",
			"A||1|2000-01-01|X|1.00|G|C B||1|2000-01-01|X|1.00|t|C"},
		"unless the genre has a default": {"Title,Pages,Year,Author,Price,Kategorie\nA,1,2000,X,1,C\n", "genre=G", "A||1|2000-01-01|X|1.00|G|C"},
		"a category with other words":    {"Title,Pages,Year,Author,Price,Kategorien 1\nA,1,2000,X,1,G\n", "", "A||1|2000-01-01|X|1.00|G|"},

		"a price paid is no list price":        {"Title,Pages,Year,Author,Purchase Price,Cover Price,Genre\nA,1,2000,X,1,2,G\nB,1,2000,X,1,,G\n", "price=0", "A||1|2000-01-01|X|2.00|G| B||1|2000-01-01|X|0.00|G|"},
		"but counts alone":                     {"Title,Pages,Year,Author,Purchase Price,Genre\nA,1,2000,X,1,G\n", "", "A||1|2000-01-01|X|1.00|G|"},
		"a column data with dates":             {"Titolo,Pagine,Data,Autore,Prezzo,Genere\nA,1,1/2000,X,1,G\n", "", "A||1|2000-01-01|X|1.00|G|"},
		"a column data without one is no date": {"Title,Pages,Data,Author,Price,Genre\nA,1,x,X,1,G\n", "", "the header has no column published_at. It has: Title, Pages, Data, Author, Price, Genre"},
		"pages that are none are asked": {"Title,Seiten,Year,Author,Price,Genre\nA,many,2000,X,1,G\nB,few,2000,X,1,G\n", "",
			"the header has no column pages (did you mean Seiten?). It has: Title, Seiten, Year, Author, Price, Genre:\n  the column Seiten is filled, but not readable as pages: many; few"},
		"another unit": {header + "A,2 tomos,2000,X,1,G,C\n", "", `row 1 (line 2): Pages "2 tomos": "tomos" is not known as a unit of pages, and not the unit of this column.`},
		"one JSON record without fields is asked": {`[{"title":"A","author":"X"}]`, "pages=1 genre=G price=0", "the header has no column published_at. It has: author, title"},

		"a list of books in objects": {"{\n\"items\": [\n{\"volumeInfo\":" + book + "}]}", "", "A||1|2000-01-01|X|1.00|G|"},
		"a list in a list of one":    {`{"data":{"me":[{"id":7,"books":[{"book":` + book + `}]}],"n":[{}]}}`, "", "A||1|2000-01-01|X|1.00|G|"},
		"two lists of books": {`{"shelves":[{"books":[` + book + `]},{"books":[` + book + `]}]}`, "",
			"the JSON has several lists of books: put all books in one array"},
		"no list of books": {"{\n\"a\": 1\n}", "",
			"the file is one JSON value without a list of books: write an array of objects, or one object in each line"},
		"objects in lists": {`[{"title":"A","pages":1,"year":2000,"author":[{"role":null,"author":{"name":"X"}},{"author":{"name":"Y"}}],"price":1,"genre":[{"tag":"G","n":1}]}]`, "",
			"A||1|2000-01-01|X, Y|1.00|G|"},
		"texts in nested objects": {`[{"book":{"title":"A","pages":1,"year":2000,"author":"X","price":1,"tags":{"Genre":["G"],"Mood":["M"]}}}]`, "", "A||1|2000-01-01|X|1.00|G|"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := surveyOf(t, []byte(test.text), Options{Defaults: defaultsOf(test.defaults)})
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = strings.Join(readBooks(t, f), " ")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// defaultsOf returns the defaults in a list of FIELD=VALUE.
func defaultsOf(list string) map[string]string {
	defaults := map[string]string{}
	for _, pair := range strings.Fields(list) {
		field, value, _ := strings.Cut(pair, "=")
		defaults[field] = value
	}
	return defaults
}

// TestUnfilled: other questions come with the fields that need a default, so that one answer is enough.
func TestUnfilled(t *testing.T) {
	t.Parallel()
	f, err := surveyOf(t, []byte("Title,Pages,Year,Author,Price,Genre\nA,1,3/4/2000,X,1,G\nB,,3/4/2000,X,1,G\n"), Options{})
	questions, _ := errors.AsType[Questions](err)
	if len(questions) != 1 || questions[0].Option != "dates" {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"pages", "category"}, f.Unfilled()); diff != "" {
		t.Error(diff)
	}
}

// TestEncodings: a text that several encodings can have is asked about, with the text in each.
func TestEncodings(t *testing.T) {
	t.Parallel()
	const text = "name,pages,published_at,author,price,genre\n\xca,1,2000-01-01,X,1,G\n"
	_, err := surveyOf(t, []byte(text), Options{})
	questions, _ := errors.AsType[Questions](err)
	if len(questions) != 1 || questions[0].Option != "encoding" || questions[0].Answers[0].Meaning != "reads Ê,1,2000-01-01,X,1,G" {
		t.Fatalf("%v: %+v", err, questions)
	}
	for encoding, want := range map[string]string{"Windows-1252": "Ê", "Windows-1251": "К", "Windows-1250": "Ę"} {
		f, err := surveyOf(t, []byte(text), Options{Encoding: encoding})
		must(t, err)
		if got := readBooks(t, f); !strings.HasPrefix(got[0], want+"|") || !strings.HasPrefix(f.Kind().String(), "CSV in "+encoding) {
			t.Errorf("%s: %s, %q", encoding, f.Kind(), got)
		}
	}
}
