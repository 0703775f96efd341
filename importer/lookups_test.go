package importer

import (
	"bytes"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/graph/model"
	"library-catalogue/importer/source"
)

// form returns a form of pairs of fields and values.
func form(pairs ...string) model.Form {
	made := model.Form{}
	for i := 0; i < len(pairs); i += 2 {
		made[pairs[i]] = model.Text(pairs[i+1])
	}
	return made
}

// foundBook returns a book of a source.
func foundBook(of string, pairs ...string) *model.FoundBook {
	return &model.FoundBook{Source: of, Form: form(pairs...)}
}

// TestFill fills each field from the first book that has it, never one with a value, and no part of another whole.
func TestFill(t *testing.T) {
	t.Parallel()
	found := []*model.FoundBook{
		foundBook("dnb", "name", "Seas", "subtitle", "a tale", "publisher", "South", "series", "Waters", "series_number", "2", "genre", "Sagas", "category", "Fiction"),
		foundBook("loc", "name", "Seas", "subtitle", "another", "publisher", "North", "pages", "7", "series", "Lakes", "series_number", "3"),
	}
	const all = "name description pages author genre category publisher subtitle series series_number"
	for _, test := range []struct {
		book         model.Form
		fields, want string
	}{
		{form(), all, "pages: 7 (loc); name: Seas (dnb); genre: Sagas (dnb); category: Fiction (dnb); publisher: South (dnb); subtitle: a tale (dnb); series: Waters (dnb); series_number: 2 (dnb)"},
		{form(), "publisher series_number", "publisher: South (dnb)"},
		{form("name", "SEAS", "publisher", "Mine", "pages", "x", "genre", "Mine", "series", "lakes"), all, "subtitle: a tale (dnb); series_number: 3 (loc)"},
		{form("name", "Seas: a tale"), "subtitle", ""},
	} {
		values, sources := Fill(test.book, strings.Fields(test.fields), found)
		var got []string
		for _, field := range append([]string{"pages"}, model.ImportFields...) {
			if v := values[field].Written(); v != "" && (field != "pages" || got == nil) {
				got = append(got, field+": "+v+" ("+sources[field]+")")
			}
		}
		if diff := cmp.Diff(test.want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%v %s (-want +got):\n%s", test.book, test.fields, diff)
		}
	}
}

// TestLookUp completes lists. Their own values are read as without look-ups, and places are those of the list.
func TestLookUp(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file    string
		options map[string][]string
		asked   int64
		want    []string // place, problems, name, date, price, pages, author
	}{
		"no header":      {"9783161484100\n\n978-0-306-40615-7\n", nil, 2, []string{"line 1||Seas|2005-04-03|9.50|7|Cy Three", "line 3||Seas|2005-04-03|9.50|7|Cy Three"}},
		"misspelt first": {"978316148410\n9783161484100\n", nil, 1, []string{"line 1|The row has no valid ISBN.|||||", "line 2||Seas|2005-04-03|9.50|7|Cy Three"}},
		"own notation": {"Titel;ISBN;Preis;Jahr\nMeer;9783161484100;1.234,50;31/12/2001\nSee;9783161484100;;3/4/2002\nTal;9783161484100;7;\n", nil, 3,
			[]string{"line 2||Meer|2001-12-31|1234.50|7|Cy Three", "line 3||See|2002-04-03|9.50|7|Cy Three", "line 4||Tal|2005-04-03|7|7|Cy Three"}},
		"columns by number": {"a,b\nMeer,9783161484100\n", map[string][]string{"map": {"name=#1", "isbn=#2"}}, 1, []string{"line 2||Meer|2005-04-03|9.50|7|Cy Three"}},
		"defaults":          {"isbn,name\n9783161484100,\n,Mine\n", map[string][]string{"default": {"price=1", "publisher=None"}}, 1, []string{"line 2||Seas|2005-04-03|9.50|7|Cy Three", "line 3|The row has no valid ISBN.|Mine||1||"}},
		"bad rows":          {"isbn,name\n9783161484100,Meer,x\n9783161484100,\n", nil, 1, []string{"line 2|The row has 3 cells, the header has 2.|||||", "line 3||Seas|2005-04-03|9.50|7|Cy Three"}},
		"empty record":      {"isbn\n9788804668237\n", nil, 1, []string{"line 2|The record has none of the missing values.|||||"}},
		"nothing lacks":     {"isbn,name,author,pages,published_at,price,genre\n9783161484100,A,B,1,2000-01-01,1.00,G\n", nil, 0, []string{"line 2||A|2000-01-01|1.00|1|B"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options, invalid := ParseOptions(test.options)
			if len(invalid) > 0 {
				t.Fatal(invalid)
			}
			open := func(text []byte) *source.Source {
				in, err := source.Open(t.Context(), "-", bytes.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				return in
			}
			list, err := Survey(t.Context(), open([]byte(test.file)), options.ForLookups())
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			w, err := NewRejectsWriter(list, &out)
			if err != nil {
				t.Fatal(err)
			}
			var asked atomic.Int64
			err = list.LookUp(t.Context(), func(isbn string) ([]*model.FoundBook, string) {
				if asked.Add(1); isbn == "9788804668237" {
					return []*model.FoundBook{foundBook("dnb")}, ""
				}
				return []*model.FoundBook{foundBook("dnb", "name", "Seas", "author", "Cy Three", "published_at", "2005-04-03", "price", "9.50", "pages", "7", "genre", "Sagas")}, ""
			}, w.Add)
			if err != nil || w.Flush() != nil || asked.Load() != test.asked {
				t.Fatalf("%d look-ups: %v", asked.Load(), err)
			}
			completed, err := Survey(t.Context(), open(out.Bytes()), options)
			if err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			rows, err := completed.First(t.Context(), 9)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, row := range rows {
				place, problem := row.Place().String(), row.unfound
				for _, p := range row.Problems {
					problem += p.Message.String()
				}
				got = append(got, strings.Join([]string{place, problem, row.Value("name"), row.Value("published_at"), row.Value("price"), row.Value("pages"), row.Value("author")}, "|"))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, &out)
			}
		})
	}
}

// TestListWithoutHeader asks whether the first row with an ISBN is a book, so that it is not lost as a header.
func TestListWithoutHeader(t *testing.T) {
	t.Parallel()
	in, err := source.Open(t.Context(), "-", strings.NewReader("9783161484100,Meer\n9780306406157,Tal\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Survey(t.Context(), in, Options{}.ForLookups())
	if questions, ok := errors.AsType[Questions](err); !ok || questions[0].Option != "no_header" {
		t.Errorf("the error is %v", err)
	}
}
