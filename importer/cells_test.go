package importer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/graph/model"
)

// TestCells reads one cell of a field, as programs and people of several countries write it.
func TestCells(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ field, cell, want string }{
		{"published_at", "1997年11月", "1997-11-01"}, {"published_at", "2015년 3월", "2015-03-01"}, {"published_at", "2003年2月9号", "2003-02-09"},
		{"published_at", "1987-00-00", "1987-01-01"}, {"published_at", "1995-07-00", "1995-07-01"},
		{"published_at", "Dienstag, 4. März 2003", "2003-03-04"}, {"published_at", "Fri Jan 02 1998 00:00:00 GMT+0100 (CET)", "1998-01-02"},
		{"published_at", "٢٠٠٧", "2007-01-01"}, {"published_at", "१९९५", "1995-01-01"},
		{"published_at", "00-00-0000", "1900-01-01"}, {"published_at", "0000/00/00 00:00", "1900-01-01"}, {"published_at", "1/0/1900 0:00", "1900-01-01"},
		{"pages", "416쪽", "416"}, {"pages", "共288页", "288"}, {"pages", "３０４頁", "304"}, {"pages", "210 стр.", "210"},
		{"price", "Fr. 25.-", "25.00"}, {"price", "Rs 1,50,000/-", "150000.00"}, {"price", "129:-", "129.00"}, {"price", "12,– €", "12.00"},
		{"price", "kart. : DM 19,80", "19.80"}, {"price", "Qz 12", "Qz 12"}, {"price", "12o", "12o"}, {"price", `="7,50"`, "7.50"}, {"pages", "p. 304", "304"}, {"pages", "x, 288", "288"},
		{"name", `="2001"`, "2001"}, {"genre", "\u200eG", "\u200eG"},
		{"author", `["Eva Tal"]`, "Eva Tal"}, {"author", "['Eva Tal', 'Uwe See', 'Jan Hof']", "Eva Tal, Uwe See, Jan Hof"}, {"author", `{"Eva Tal",Plato}`, "Eva Tal, Plato"},
		{"author", "Hill, Mary,", "Mary Hill"}, {"name", "Water and wine :", "Water and wine"}, {"name", "Either/Or", "Either/Or"}, {"name", "2001", "2001"},
	} {
		row := map[string]string{"name": "A", "pages": "1", "published_at": "2000", "author": "X", "price": "1", "genre": "G"}
		row[test.field] = test.cell
		text := "Title,Page count,Year,Writer,Cost,Genre\n"
		for i, field := range []string{"name", "pages", "published_at", "author", "price", "genre"} {
			text += strings.Repeat(",", min(i, 1)) + `"` + strings.ReplaceAll(row[field], `"`, `""`) + `"`
		}
		f, err := surveyOf(t, []byte(text+"\n"), Options{Defaults: map[string]string{"published_at": "1900-01-01"}})
		must(t, err)
		book := readRow(t, f)
		if got := book[test.field]; got != test.want && got+".00" != test.want {
			t.Errorf("%s %q: %q, not %q", test.field, test.cell, got, test.want)
		}
	}
}

// readRow returns the values of the first row.
func readRow(t *testing.T, f *File) map[string]string {
	t.Helper()
	rows, err := f.Open(t.Context())
	must(t, err)
	row, err := rows.Next()
	must(t, err)
	values := map[string]string{}
	for field := range row.form {
		values[field] = row.Value(field)
	}
	return values
}

// TestReadableOfSeveral takes the first of several columns whose value can be read.
func TestReadableOfSeveral(t *testing.T) {
	t.Parallel()
	for _, test := range [][2]string{
		{`"=""""",9780192553355`, "9780192553355"}, {"9.78019E+12,9780192553355", "9780192553355"}, {"n/a,0192553356", "9780192553355"},
		{"9780192553355,9780451450524", "9780192553355"}, {"9780192553356,9780192553357", ""}, {",", ""},
	} {
		f, err := surveyOf(t, []byte("Title,Pages,Year,Author,Price,Genre,ISBN,ISBN13\nA,1,2000,X,1,G,"+test[0]+"\n"), Options{})
		must(t, err)
		if got := readRow(t, f)["isbn"]; got != test[1] {
			t.Errorf("%s: %q, want %q", test[0], got, test[1])
		}
	}
}

// TestExport: the texts of our own export stay as they are, also if they look like a list or a catalogue card.
func TestExport(t *testing.T) {
	t.Parallel()
	want := map[string]string{"name": `["A", "B"] /`, "description": `{"A"}`, "pages": "1", "published_at": "2000-01-01", "author": `["Doe, Jane"]`,
		"price": "1.00", "genre": `['G']`, "category": `["C"]`, "isbn": "9783161484100", "publisher": `["P"] :`, "language": "de", "shelf_mark": "[A] /",
		"subtitle": "A; B", "series": "[S] ;", "series_number": "1.5"}
	text := strings.Join(model.ImportFields, ",") + "\n"
	for i, field := range model.ImportFields {
		text += strings.Repeat(",", min(i, 1)) + `"` + strings.ReplaceAll(want[field], `"`, `""`) + `"`
	}
	f, err := surveyOf(t, []byte(text+"\n"), Options{})
	must(t, err)
	if diff := cmp.Diff(want, readRow(t, f)); diff != "" {
		t.Error(diff)
	}
}

// TestRows reads files whose rows differ from the header, and JSON without a list.
func TestRows(t *testing.T) {
	t.Parallel()
	const header, rest = "Title,Pages,Year,Author,Price,Genre", ",1,2000,X,1,G"
	const book = `{"title":"%","pages":1,"year":2000,"author":"X","price":1,"genre":"G"}`
	row := func(name string) string { return name + "||1|2000-01-01|X|1.00|G|" }
	with := func(name string) string { return strings.Replace(book, "%", name, 1) }
	for name, test := range map[string]struct{ text, want string }{
		"without the last empty cells":     {header + ",Shelf,Note\nA" + rest + "\nB" + rest + ",s\n", row("A") + " " + row("B")},
		"semicolons at the end of rows":    {strings.ReplaceAll(header+"\nA"+rest+",\nB"+rest+",,\n", ",", ";"), row("A") + " " + row("B")},
		"a header on each page":            {header + "\nA" + rest + "\n" + header + "\nB" + rest + "\n" + header + "\n", row("A") + " " + row("B")},
		"backslashes before quotes":        {`"Title","Pages","Year","Author","Price","Genre"` + "\n" + `"The \"Old\", and the \"New\"","1","2000","X","1","G"` + "\n", row(`The "Old", and the "New"`)},
		"indented objects after others":    {strings.ReplaceAll(with("A"), ",", ",\n  ") + "\n\n" + strings.ReplaceAll(with("B"), ",", ",\n  "), row("A") + " " + row("B")},
		"objects in one line":              {with("A") + " " + with("B"), row("A") + " " + row("B")},
		"books by ISBN":                    {`{"9780001":` + with("A") + `,"9780002":` + with("B") + `}`, row("A") + " " + row("B")},
		"books by key under two keys":      {`{"db":{"books":{"a":` + with("A") + `,"b":` + with("B") + `}}}`, row("A") + " " + row("B")},
		"a number as a title":              {`[` + strings.Replace(with("%"), `"%"`, "451", 1) + `]`, row("451")},
		"the second of two columns, empty": {"Author," + header + "\n,A" + rest + "\nY,B,1,2000,,1,G\n", row("A") + " " + strings.Replace(row("B"), "X", "Y", 1)},
	} {
		f, err := surveyOf(t, []byte(test.text), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(readBooks(t, f), " "); got != test.want {
			t.Errorf("%s: %s, not %s", name, got, test.want)
		}
	}
}
