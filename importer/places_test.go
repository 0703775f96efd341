package importer

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPlaces: rows are named as the program of the file numbers them, also after empty rows, repeated headers, rows
// before the header and another sheet.
func TestPlaces(t *testing.T) {
	t.Parallel()
	const header = "name\tpages\tpublished_at\tauthor\tprice\tgenre\n"
	row := func(name, pages, day string) string { return name + "\t" + pages + "\t" + day + "\tX\t1\tG\n" }
	one := "== One\nMy books\n\n" + header + row("A", "1", "2000-01-01") + "\n" + row("B", "0", "2000-01-01") + header + row("C", "0", "2000-01-01")
	for name, test := range map[string]struct {
		data    []byte
		options Options
		want    []string
	}{
		"a sheet":        {writeSheets(t, one), Options{}, []string{"row 4", "row 6", "row 8"}},
		"a row of it":    {writeSheets(t, one), Options{HeaderRow: 3}, []string{"row 4", "row 6", "row 8"}},
		"two sheets":     {writeSheets(t, one+"== Two\n\n"+header+row("D", "0", "2000-01-01")+"\n"+row("E", "0", "2000-01-01")), Options{}, []string{"row 4 of One", "row 6 of One", "row 8 of One", "row 3 of Two", "row 5 of Two"}},
		"without header": {writeSheets(t, "== S\n"+row("A", "1", "2000-01-01")+"\n"+row("B", "2", "2000-01-01")), Options{NoHeader: true, Columns: numbered}, []string{"row 1", "row 3"}},
		"a text":         {[]byte("My books\n\n" + strings.ReplaceAll(header+row("\"A\nB\"", "1", "2000-01-01")+"\n"+row("B", "2", "2000-01-01"), "\t", ",")), Options{}, []string{"line 4", "line 7"}},
	} {
		f, err := surveyOf(t, test.data, test.options)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		rows, err := f.First(t.Context(), 9)
		must(t, err)
		var places []string
		for _, row := range rows {
			places = append(places, row.Place().String())
		}
		if diff := cmp.Diff(test.want, places); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	_, err := surveyOf(t, writeSheets(t, one+row("A", "2", "3/4/2000")), Options{})
	for _, want := range []string{"as 3/4/2000 (row 9)", "row 4 and row 9: A, X"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

// numbered are the columns of a file without a header.
var numbered = map[string]string{"name": "#1", "pages": "#2", "published_at": "#3", "author": "#4", "price": "#5", "genre": "#6"}

// TestHeaderGiven: the first row is a header if the options say so, also of a sheet.
func TestHeaderGiven(t *testing.T) {
	t.Parallel()
	const rows = "A One,Bob Two,100,12.50,2001\nC Three,Dee Four,200,10.50,2002\n"
	for _, data := range [][]byte{[]byte(rows), writeSheets(t, "== S\n"+strings.ReplaceAll(rows, ",", "\t"))} {
		_, err := surveyOf(t, data, Options{})
		questions, _ := errors.AsType[Questions](err)
		if len(questions) == 0 || questions[0].Option != "no_header" || questions[0].Answers[1].Option != "header_row" {
			t.Fatalf("%v: %+v", err, questions)
		}
		_, err = surveyOf(t, data, Options{HeaderRow: 1})
		if questions, _ = errors.AsType[Questions](err); len(questions) == 0 || questions[0].Option == "no_header" {
			t.Errorf("a given header is asked for: %v", err)
		}
	}
}

// TestTies: all columns that may be a field alike are offered, with their first values. The columns of rejected rows
// are not.
func TestTies(t *testing.T) {
	t.Parallel()
	columns := func(text string) (found []string) {
		t.Helper()
		_, err := surveyOf(t, []byte(text), Options{})
		questions, _ := errors.AsType[Questions](err)
		for _, q := range questions {
			for _, c := range q.Candidates {
				found = append(found, c.Field+"="+c.Column+": "+strings.Join(c.First, "; "))
			}
		}
		slices.Sort(found)
		return found
	}
	want := []string{"price=A: 1.50; 2.50", "price=B: 3.50; 4.50", "price=C: 5.50; 6.50", "price=D: 7.50; 8.50"}
	if diff := cmp.Diff(want, columns("name,pages,published_at,author,genre,A,B,C,D\nN,1,2000,X Y,G,1.50,3.50,5.50,7.50\nM,2,2001,X Z,G,2.50,4.50,6.50,8.50\n")); diff != "" {
		t.Error(diff)
	}
	if found := columns("Row,Problem,Column,Found,How to fix it,name,pages,published_at,author,price\n1,Bad.,pages,x,Write it.,N,1,2000,X,1\n"); found != nil {
		t.Error(found)
	}
}

// TestOptionsInAnyCase: the values of options may be written in any case.
func TestOptionsInAnyCase(t *testing.T) {
	t.Parallel()
	o, invalid := ParseOptions(map[string][]string{"encoding": {"windows-1251"}, "dates": {"DMY"}})
	if o.Encoding != "Windows-1251" || o.Dates != "dmy" || len(invalid) > 0 {
		t.Errorf("%+v, %v", o, invalid)
	}
	if _, invalid = ParseOptions(map[string][]string{"encoding": {"windows"}}); !strings.HasPrefix(invalid["encoding"], "must be one of: auto, UTF-8") {
		t.Error(invalid)
	}
}
