package importer

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"library-catalogue/graph/model"
	"library-catalogue/importer/source"
)

// survey surveys a file.
func surveyOf(t *testing.T, data []byte, o Options) (*File, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, data, 0o600))
	in, err := source.Open(t.Context(), path, nil)
	must(t, err)
	t.Cleanup(in.Close)
	o.LastYear = 2027
	return Survey(t.Context(), in, o)
}

// readBooks returns the good rows of a file that are not skipped, as an export would write them, and the
// messages of the bad ones.
func readBooks(t *testing.T, f *File) (books []string) {
	t.Helper()
	rows, err := f.Open(t.Context())
	must(t, err)
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return books
		}
		must(t, err)
		if row.Skipped {
			continue
		}
		if len(row.Problems) == 0 {
			book := row.form.ImportBook()
			problems := book.Validate()
			if len(problems) == 0 {
				books = append(books, fmt.Sprintf("%s|%s|%d|%s|%s|%s|%s|%s", book.Name, book.Text("description"), book.Pages, book.PublishedAt, book.Author, book.Price, book.Genre, book.Category))
				continue
			}
			f.reject(row, problems)
		}
		books = append(books, row.Error())
	}
}

// table are the cells of a file, with what other files have: all delimiters, quotes,
// line ends, letters that are not ASCII, currencies and thousands.
func table(days [2]string) [][]string {
	return [][]string{
		{"Title", "SUMMARY", " Num_Pages", "Publication Date", "author(s)", "List Price", "Genre", "isbn"},
		{`Straße, nach; "Süden" | Tab` + "\t.", "Zwei\nZeilen", "1,024", days[0], "Émile Böhm", "€1.299,50", "Reise", "1"},
		{"Emma", "", "474 pages", days[1], "Jane Austen", "7,5", "Roman", "2"},
	}
}

// dayForms are the ways to write days that a file may have, and as what they are read.
var dayForms = []struct{ written, read [2]string }{
	{[2]string{"31-Jul-14", "1-Aug-68"}, [2]string{"2014-07-31", "1968-08-01"}},
	{[2]string{"2001", "1815.0"}, [2]string{"2001-01-01", "1815-01-01"}},
	{[2]string{"2001-05", "05/1815"}, [2]string{"2001-05-01", "1815-05-01"}},
	{[2]string{"2001/05/01", "1815/12/3"}, [2]string{"2001-05-01", "1815-12-03"}},
	{[2]string{"1 January 2003", "March 2nd, 1815"}, [2]string{"2003-01-01", "1815-03-02"}},
	{[2]string{"12/31/1999 0:00", "3/4/1815"}, [2]string{"1999-12-31", "1815-03-04"}},
	{[2]string{"31.12.1999", "3.4.1815"}, [2]string{"1999-12-31", "1815-04-03"}},
	{[2]string{"2001-05-01T00:00:00Z", "20010502"}, [2]string{"2001-05-01", "2001-05-02"}},
}

// writeCSV writes cells with a delimiter and a line end.
func writeCSV(cells [][]string, delimiter rune, end string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Comma = delimiter
	_ = w.WriteAll(cells)
	lines := strings.Split(b.String(), "\n")
	return strings.Join(lines[:2], end) + "\n" + strings.Join(lines[2:], end) // a line end stands in a cell
}

func encode(t *testing.T, e encoding.Encoding, text string) []byte {
	t.Helper()
	data, err := e.NewEncoder().Bytes([]byte(text))
	must(t, err)
	return data
}

// TestFiles reads a table of files as a person would.
func TestFiles(t *testing.T) {
	t.Parallel()
	charsets := []struct {
		name   string
		encode func(string) []byte
	}{
		{"UTF-8", func(s string) []byte { return []byte(s) }},
		{"UTF-8 with a mark", func(s string) []byte { return []byte("\uFEFF" + s) }},
		{"UTF-16", func(s string) []byte { return encode(t, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), s) }},
		{"Windows-1252", func(s string) []byte { return encode(t, charmap.Windows1252, s) }},
		{"UTF-16 without a mark", func(s string) []byte { return encode(t, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), s) }},
	}
	ends := []string{"\n", "\r\n", "\r"}
	type file struct {
		name string
		data []byte
		days [2]string
	}
	var files []file
	for i, charset := range charsets {
		for j, delimiter := range ",;\t|" {
			n := 4*i + j
			form, end := dayForms[n%len(dayForms)], ends[n%len(ends)]
			files = append(files, file{fmt.Sprintf("%s %q %q %s", charset.name, delimiter, end, form.written[0]),
				charset.encode(writeCSV(table(form.written), delimiter, end)), form.read})
		}
	}
	plain := dayForms[5]
	text := []byte(writeCSV(table(plain.written), ';', "\r\n"))
	var gz bytes.Buffer
	packer := gzip.NewWriter(&gz)
	_, _ = packer.Write(text)
	must(t, packer.Close())
	zst, err := zstd.NewWriter(nil)
	must(t, err)
	var objects []map[string]string
	cells := table(plain.written)
	for _, row := range cells[1:] {
		object := map[string]string{}
		for i, name := range cells[0] {
			object[strings.TrimSpace(name)] = row[i]
		}
		objects = append(objects, object)
	}
	array, err := json.MarshalIndent(objects, "", "  ")
	must(t, err)
	var lines bytes.Buffer
	for _, object := range objects {
		must(t, json.NewEncoder(&lines).Encode(object))
	}
	files = append(files,
		file{".gz", gz.Bytes(), plain.read},
		file{".zst", zst.EncodeAll(text, nil), plain.read},
		file{".xlsx", spreadsheet(t), [2]string{"1999-12-31", "1915-03-04"}},
		file{"JSON array", array, plain.read},
		file{"JSON Lines", lines.Bytes(), plain.read},
	)
	for _, test := range files {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f, err := surveyOf(t, test.data, Options{Defaults: map[string]string{"category": "Alles"}})
			must(t, err)
			want := []string{
				`Straße, nach; "Süden" | Tab` + "\t.|Zwei\nZeilen|1024|" + test.days[0] + "|Émile Böhm|1299.50|Reise|Alles",
				"Emma||474|" + test.days[1] + "|Jane Austen|7.50|Roman|Alles",
			}
			if diff := cmp.Diff(want, readBooks(t, f)); diff != "" {
				t.Errorf("%+v\n%s", f.Columns(), diff)
			}
		})
	}
	if len(files) < 24 {
		t.Errorf("%d files", len(files))
	}
}

// spreadsheet is the table with numbers and days as a spreadsheet has them, each day in
// another format, an empty row before the header, and a hidden sheet before it.
func spreadsheet(t *testing.T) []byte {
	t.Helper()
	book := excelize.NewFile()
	defer book.Close()
	check := func(err error) {
		t.Helper()
		must(t, err)
	}
	const sheet = "Books"
	index, err := book.NewSheet(sheet)
	check(err)
	book.SetActiveSheet(index)
	check(book.SetSheetRow("Sheet1", "A1", &[]any{"hidden"}))
	check(book.SetSheetVisible("Sheet1", false))
	cells := table([2]string{})
	header := make([]any, len(cells[0]))
	for i, name := range cells[0] {
		header[i] = name
	}
	check(book.SetSheetRow(sheet, "A2", &header))
	for i, row := range [][]any{
		{cells[1][0], cells[1][1], 1024, time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC), cells[1][4], 1299.5, cells[1][6]},
		{cells[2][0], nil, 474, time.Date(1915, 3, 4, 0, 0, 0, 0, time.UTC), cells[2][4], 7.5, cells[2][6]},
	} {
		check(book.SetSheetRow(sheet, fmt.Sprintf("A%d", i+3), &row))
	}
	for cell, format := range map[string]string{"C3": `#,##0`, "D3": "dd.mm.yyyy", "D4": "m/d/yy", "F3": `[$€-407] #,##0.00`, "C4": `0" pages"`} {
		style, err := book.NewStyle(&excelize.Style{CustomNumFmt: &format})
		check(err)
		check(book.SetCellStyle(sheet, cell, cell, style))
	}
	var b bytes.Buffer
	check(book.Write(&b))
	return b.Bytes()
}

// TestQuestions: what a file leaves open is asked, with what there is to say.
func TestQuestions(t *testing.T) {
	t.Parallel()
	const header = "name,pages,published_at,author,price,genre\n"
	for name, test := range map[string]struct {
		text string
		want string
	}{
		"day or month":    {header + "A,1,3/4/2005,X,1,G\n", "the column published_at can be read in two ways, as 3/4/2005 (line 2); mdy makes that 2005-03-04; dmy makes that 2005-04-03"},
		"both":            {header + "A,1,13/4/2005,X,1,G\nB,1,4/13/2005,X,1,G\n", "4/13/2005 (line 3) must be month, day, year, as in 1 row, and 13/4/2005 (line 2) must be day, month, year, as in 1 row; mdy rejects the second; dmy rejects the first"},
		"one book twice":  {header + "A,1,2005-01-01,X,1,G\nB,1,2005-01-01,X,1,G\nA,2,2005-01-01,X,$1.00,G\n", "1 book has several rows with different values:\n  line 2 and line 4: A, X: pages 1 or 2; keep imports all, as different books; last imports the last of the rows; first imports the first; reject imports none"},
		"no columns":      {"a;b\nx y;z\n", "the header has no column name (did you mean a?), pages, published_at, author (did you mean b?), price, genre. It has: a, b:\n  name may be a: x y"},
		"empty":           {"", "the file is empty: it needs a header"},
		"array cut":       {`[{"name":"A"},`, "the JSON array is truncated"},
		"no comma":        {"[{\"name\":\"A\"}\n\n{\"name\":\"B\"}]", "the JSON array is broken in line 3: invalid character '{' after array element (expecting ',' or ']')"},
		"comma at end":    {`[{"name":"A"},]`, "the JSON array is broken in line 1: invalid character"},
		"two commas":      {`[{"name":"A"},,{"name":"B"}]`, "the JSON array is broken in line 1: invalid character"},
		"comma in object": {"[{\"name\":\"A\"},\n{\"name\":\"B\",}]", "the JSON array is broken in line 2: invalid character"},
		"more than array": {`[{"name":"A"}] 1`, "data follows the JSON array"},
		"old Excel":       {"\xD0\xCF\x11\xE0\x00", "the file is an old Excel file (.xls): save it as .xlsx or CSV"},
		"other zip":       {"PK\x03\x04\x00", "neither a spreadsheet (.xlsx, .ods) nor text"},
		"gzip cut":        {"\x1f\x8b\x08\x00\x00\x00\x00\x00", "the compressed file is truncated"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := surveyOf(t, []byte(test.text), Options{})
			got := fmt.Sprint(err)
			questions, _ := errors.AsType[Questions](err)
			for _, q := range questions {
				for _, a := range q.Answers {
					got += "; " + a.Value + " " + a.Meaning
				}
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestDuplicates: which of the rows of one book is taken. Rows that mean the same are no
// question, however they are written.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	const text = "name,pages,published_at,author,price,genre\n" +
		"A,1,2005-01-01,X,1,G\nB,1,2005-01-01,X,1,G\nA,2,2005-01-01,X,1,G\nB,1,1 January 2005,X,$1.00,G\nA,bad,2005-01-01,X,1,G\nA,3,2005-01-01,X,1,G\n"
	for how, want := range map[string]string{"last": "2 4 6", "first": "1 2 4", "reject": "2 4"} {
		f, err := surveyOf(t, []byte(text), Options{Duplicates: how})
		must(t, err)
		rows, err := f.Open(t.Context())
		must(t, err)
		var taken []string
		for range 6 {
			row, err := rows.Next()
			must(t, err)
			if book := row.form.ImportBook(); !row.Skipped && len(row.Problems) == 0 && len(book.Validate()) == 0 {
				taken = append(taken, fmt.Sprint(row.Number))
			}
		}
		if got := strings.Join(taken, " "); got != want {
			t.Errorf("%s: the rows %s, not %s", how, got, want)
		}
	}
}

// TestSomeBrokenCharacters: a text in UTF-8 stays one where a row of it is broken, and
// only that row is bad.
func TestSomeBrokenCharacters(t *testing.T) {
	t.Parallel()
	f, err := surveyOf(t, []byte("name,pages,published_at,author,price,genre\nÄ,1,2005-01-01,Ü,1,G\nB\xff,1,2005-01-01,X,1,G\n"), Options{})
	must(t, err)
	want := []string{"Ä||1|2005-01-01|Ü|1.00|G|", `row 2 (line 3): name "B�": The name field must be valid UTF-8 without NUL characters.`}
	if diff := cmp.Diff(want, readBooks(t, f)); diff != "" {
		t.Error(diff)
	}
}

// TestQuotesAsSigns: a line whose quotes are no frame of cells is read as it stands,
// where that is how it has its cells.
func TestQuotesAsSigns(t *testing.T) {
	t.Parallel()
	f, err := surveyOf(t, []byte("name,pages,published_at,author,price,genre\n\"A\" Is for Apple,1,2005-01-01,X,1,G\n\"Open,1,2005-01-01,X,1,G\n"), Options{})
	must(t, err)
	want := []string{`"A" Is for Apple||1|2005-01-01|X|1.00|G|`, "row 2 (line 3): The quotes are unbalanced: a quoted cell ends with a quote, and a quote inside is doubled."}
	if diff := cmp.Diff(want, readBooks(t, f)); diff != "" {
		t.Error(diff)
	}
}

// TestNothingUnescaped: no text of a file is shown with control characters.
func TestNothingUnescaped(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b]0;owned\x07\x1b[2J\u202e\r"
	for _, text := range []string{
		"name,pages,published_at,author,price,genre,\"x" + hostile + "\"\nA" + hostile + "," + hostile + "," + hostile + ",X,1" + hostile + "," + hostile + ",\nB,1,3 May 2005,X,$1,G,\n",
		"\"a" + hostile + "\"\n1\n",
		"name,pages,\"date" + hostile + "\",author,price,genre\nA,1,3/4/2005" + hostile + ",X,1,G\n",
		"name,pages,published_at,author,price,genre\n\"A" + hostile + "\",1,2005-01-01,\"X" + hostile + "\",1,G\n\"A" + hostile + "\",2,2005-01-01,\"X" + hostile + "\",1,G\n",
		`{"name":"A","` + "\x1b[2J" + `":1}` + "\n",
	} {
		var shown string
		f, err := surveyOf(t, []byte(text), Options{})
		if err != nil {
			shown = err.Error()
		} else {
			first, err := f.First(t.Context(), 3)
			must(t, err)
			shown = f.Kind().String()
			for _, row := range first {
				shown += row.Error()
			}
			rows, err := f.Open(t.Context())
			must(t, err)
			for {
				row, err := rows.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				must(t, err)
				if len(row.Problems) == 0 {
					book := row.form.ImportBook()
					f.reject(row, book.Validate())
				}
				shown += row.Error()
			}
		}
		if i := strings.IndexAny(shown, "\x1b\x07\u202e\r"); i >= 0 {
			t.Errorf("of %q is shown %q", text, shown)
		}
	}
}

// TestSpellings: a field is found by a name as headers are compared.
func TestSpellings(t *testing.T) {
	t.Parallel()
	for _, field := range model.ImportFields {
		for _, name := range slices.Concat(model.ImportField(field).Spellings, model.ImportField(field).Fallbacks) {
			if foldName(name) != name {
				t.Errorf("%s: %q is not folded", field, name)
			}
		}
	}
}

// must ends the test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
