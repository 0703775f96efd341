package importer

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/citation"
)

// shelf returns the books of a file with the fields of libraries, or the reason of a bad row.
func shelf(t *testing.T, f *File) (books []string) {
	t.Helper()
	rows, err := f.First(t.Context(), 100)
	must(t, err)
	for _, row := range rows {
		if len(row.Problems) > 0 {
			books = append(books, row.Error())
			continue
		}
		var texts []string
		for _, field := range []string{"name", "author", "published_at", "pages", "price", "genre", "category", "isbn", "publisher", "language", "shelf_mark", "description"} {
			texts = append(texts, row.Value(field))
		}
		books = append(books, strings.Join(texts, "|"))
	}
	return books
}

// TestLibraries reads files of library programs, with all fields of libraries.
func TestLibraries(t *testing.T) {
	t.Parallel()
	defaults := map[string]string{"price": "0", "genre": "Unsorted", "category": "Books", "pages": "1", "published_at": "1900-01-01"}
	koha := []string{
		"Über den Fluß: Erzählungen aus Brontë's Zeit|Łucja Müller|1982-01-01|276|12.00|Rivers|Books|9783518373903|Suhrkamp|de|833.914 MUE|Erste Fassung.",
		"The red river|Jane Austen and Bob Two|2019-01-01|320|0|Novels|Books|9780192834409|Oxford University Press|en|823.7 AUS|",
	}
	const csv = "CSV in UTF-8, delimited by commas"
	const kohaUnused = "040$a 040$c 041$h 100$d 100$e 245$c 260$a 264$a 264$c 300$b 300$c " +
		"650$v 700$a 700$e 852$a 852$b 942$2 942$c 952$0 952$1 952$2 952$4 952$6 952$7 952$9 952$a 952$b 952$c 952$d 952$g 952$o 952$p 952$v 952$y"
	for file, want := range map[string]struct {
		kind   string
		books  []string
		unused string // names, or * for any
	}{
		"koha.mrc":     {"MARC (ISO 2709) in MARC-8", koha, kohaUnused},
		"koha.marcxml": {"MARCXML in UTF-8", koha, kohaUnused},
		"librarything.mrk": {"MARCMaker text in UTF-8", []string{
			"Dune|Frank Herbert|1990-01-01|535|0|Unsorted|Books|9780441172719|Ace|en|77|",
		}, "653$a"},
		"zotero.bib": {"BibTeX in UTF-8", []string{
			"Dune|Frank Herbert|1965-08-01|1|0|Science fiction|Books|9780441172719|Chilton|en||",
			`The Cyberiad: Fables for the Cybernetic Age|Stanisław Lem, Jan van der Berg|2002-12-16|295|0|Unsorted|Books|9780156027595|Harvest \& Co|en||Fables for the cybernetic age – 50% off.`,
		}, "address file shorttitle translator"},
		"zotero.ris": {"RIS in UTF-8", []string{
			"Dune|Frank Herbert|1965-08-01|412|0|Science fiction|Books|9780441172719|Chilton|en|PS3558.E63|",
			"The Cyberiad|Stanisław Lem|2002-12-16|295|0|Unsorted|Books|9780156027595|Harvest|en||Fables for the cybernetic age.",
		}, "A4 CY"},
		"goodreads.csv": {csv, []string{
			"Dune (Dune, #1)|Frank Herbert|1965-01-01|658|0|Unsorted|Books|9780593099322|Ace|||",
			"Emma|Jane Austen|2003-01-01|474|0|Unsorted|Books||Penguin Books|||",
			"The Cyberiad|Stanisław Lem|1965-01-01|295|0|Unsorted|Books|9780156027595|Harvest|||",
		}, "*"},
		"zotero.csv": {csv, []string{
			"Dune|Frank Herbert|1965-01-01|412|0|Science fiction|Books|9780441172719|Chilton|en||",
			"The Cyberiad|Stanisław Lem|2002-12-16|295|0|Unsorted|Books||Harvest|||Fables for the cybernetic age.",
		}, "*"},
		"librarything.tsv": {"CSV in UTF-16, delimited by tabs", []string{
			"Dune|Frank Herbert|1990-01-01|535 |7.99|Fiction|Books|9780441172719|Ace|en||Dune by Frank Herbert (1990)",
			"Die unendliche Geschichte|Michael Ende|1979-01-01|428|0|Unsorted|Books||Thienemann|de||",
			"Momo|Michael Ende|1973-01-01|304 |12.50|Kinderbuch|Books||Thienemann|||",
		}, "*"},
		"calibre-catalog.csv": {csv, []string{ // of calibredb catalog
			"Die unendliche Geschichte|Michael Ende|1979-09-02T00:00:00+00:00|1|0|Fantasy|Books|9783522176842|Thienemann|de||Ein Buch.\n",
			"Emma & {Co}|Jane Austen & Ursula K. Le Guin|1900-01-01|1|0|Unsorted|Books|9780192834409|Oxford University Press|en||",
		}, "*"},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile("testdata/programs/" + file)
			must(t, err)
			f, err := surveyOf(t, data, Options{Defaults: defaults, LastYear: 2027})
			must(t, err)
			if f.Kind().String() != want.kind || want.unused != "*" && strings.Join(f.Unused(), " ") != want.unused || f.IsPlain() {
				t.Errorf("%s; unused: %s", f.Kind(), strings.Join(f.Unused(), " "))
			}
			if diff := cmp.Diff(want.books, shelf(t, f)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDamagedRecords: a bad record is named as its file counts, and the others are read.
func TestDamagedRecords(t *testing.T) {
	t.Parallel()
	koha, err := os.ReadFile("testdata/programs/koha.mrc")
	must(t, err)
	defaults := map[string]string{"price": "0", "genre": "Unsorted", "category": "Books", "pages": "1", "published_at": "1900-01-01", "author": "Nobody"}
	end := strings.IndexByte(string(koha), '\x1d') + 1
	for name, test := range map[string]struct{ data, want string }{
		"ISO 2709": {"00099nam\x1d" + string(koha[:end]) + "00100nam\x1d", "record 1: The record has 9 bytes, too few for a leader.||||record 3: The record has 9 bytes, too few for a leader."},
		"MARCMaker": {
			"=LDR  x\n=200  1\\$aIl nome della rosa\n=700  \\1$aEco$bUmberto\n\n=LDR  x\n=245  00$aA\n\n=LDR  x\n245\n",
			"record 1: The record is UNIMARC, which is not read.||||record 3: The line \"245\" is no field: a field begins like =245  10$a.",
		},
		"BibTeX": {"@book{a,title={A}}\n@book{b,\ntitle={B\n@book{c,title={C}}", "||row 2 (line 2): The entry is not closed: a brace or a quote is missing.||"},
		"RIS":    {"TY  - BOOK\nTI  - A\nER  - \nTY  - BOOK\nTI  - \xff\nER  - \nTY  - BOOK\nTI  - C\nPY  - soon\nER  - \n", "||row 2 (line 4): The record is not UTF-8.||"},
	} {
		f, err := surveyOf(t, []byte(test.data), Options{Defaults: defaults, Encoding: map[bool]string{true: "UTF-8"}[name == "RIS"]})
		must(t, err)
		var bad []string
		for _, book := range shelf(t, f) {
			if strings.Count(book, "|") > 5 {
				book = ""
			}
			bad = append(bad, book)
		}
		if got := strings.Join(bad, "||"); got != test.want || f.Rows != 3 {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	if _, err := surveyOf(t, koha, Options{Encoding: "Windows-1252"}); err == nil || !strings.Contains(err.Error(), "leave it out") {
		t.Error(err)
	}
}

// TestLibraryValues reads values as libraries write them, in the formats that have fixed fields.
func TestLibraryValues(t *testing.T) {
	t.Parallel()
	defaults := map[string]string{"price": "0", "genre": "Unsorted", "category": "Books", "pages": "7", "published_at": "1900-01-01", "author": "Nobody"}
	marc := func(lines ...string) string {
		return "=LDR  00000nam a2200000 a 4500\n=245  10$aA\n" + strings.Join(lines, "\n") + "\n\n"
	}
	const coded = `=008  980101s1998\\\\xxu           000 0 eng d`
	json := func(names ...string) string {
		fields := `{"245": {"subfields": [{"a": "A"}]}}, {"300": {"subfields": [{"a": "v. ;"}, {"c": "23 cm"}]}}, {"655": {"subfields": [{"a": "Tales, Irish."}]}}`
		for _, name := range names {
			fields += `, {"700": {"subfields": [{"a": "` + name + `"}]}}`
		}
		return `{"leader": "00000nam a2200000 a 4500", "fields": [` + fields + "]}\n"
	}
	for text, want := range map[string]string{
		marc(`=260  \\$c5758.`):                                                          `record 1: published_at "5758": The year 5758 is after next year.`,
		marc(`=260  \\$c9999.`):                                                          `record 1: published_at "9999": The year 9999 is after next year.`,
		marc(coded, `=260  \\$c5758.`):                                                   "A|Nobody|1998-01-01|7|0|Unsorted|Books|||en||",
		marc(coded, `=264  \1$c[date of publication not identified]`):                    "A|Nobody|1998-01-01|7|0|Unsorted|Books|||en||",
		marc(`=264  \1$c[date of publication not identified]`):                           "A|Nobody|1900-01-01|7|0|Unsorted|Books|||||",
		marc(`=300  \\$aleaves ;$c20 cm`):                                                "A|Nobody|1900-01-01|7|0|Unsorted|Books|||||",
		marc(`=300  \\$a96 lehekülge`):                                                   "A|Nobody|1900-01-01|96|0|Unsorted|Books|||||",
		marc(`=020  \\$a0192553356:$cLeinen : EUR 9.50 (DE), EUR 9.80 (AT)`):             "A|Nobody|1900-01-01|7|9.50|Unsorted|Books|9780192553355||||",
		strings.Replace(marc(""), "nam", "dam", 1):                                       "record 1: The record is marked as deleted (leader, position 5).",
		json("Chong, Kyong-mo,", "Choe, Tal-gon.") + json():                              "A|Kyong-mo Chong, Tal-gon Choe|1900-01-01|7|0|Tales, Irish|Books|||||",
		strings.Replace(json(), "nam", "dam", 1) + json():                                "row 1 (line 1): The record is marked as deleted (leader, position 5).",
		"@book{a, title={A}, year={5758}}\n":                                             `row 1 (line 1): published_at "5758": The year 5758 is after next year.`,
		"@book{a, title={A}, year={1984{\\noopsort{b}}}, pages={xi + 868}}\n":            "A|Nobody|1984-01-01|868|0|Unsorted|Books|||||",
		"@book{a, title={A}, year={2001c}, month=may, pagetotal={[4], 96}}\n":            "A|Nobody|2001-05-01|96|0|Unsorted|Books|||||",
		"TY  - BOOK\nTI  - A\nY1  - 2015/octubre\nSP  - pp. 12\nER  - \n":                "A|Nobody|2015-10-01|12|0|Unsorted|Books|||||",
		"TY  - BOOK\nTI  - A\nPY  - 2015/Winter\nSP  - x, 96\nER  - \n":                  "A|Nobody|2015-01-01|96|0|Unsorted|Books|||||",
		"Title,Author,Price\nA,Ann One,\"=\"\"\"\"\"\n":                                  "A|Ann One|1900-01-01|7|0|Unsorted|Books|||||",
		"Title,Author,ISBN,ISBN13\nA,Ann One,\"=\"\"\"\"\",\"=\"\"9780192553355\"\"\"\n": "A|Ann One|1900-01-01|7|0|Unsorted|Books|9780192553355||||",
	} {
		f, err := surveyOf(t, []byte(text), Options{Defaults: defaults, LastYear: 2027})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := shelf(t, f)[0]; got != want {
			t.Errorf("%s: %s\nwant %s", text, got, want)
		}
	}
}

// TestFixedFields: the subfields of MARC in JSON are never offered as other fields: 23 cm is no price.
func TestFixedFields(t *testing.T) {
	t.Parallel()
	const record = `{"leader": "00000nam a2200000 a 4500", "fields": [{"035": {"subfields": [{"a": "(X)x12345"}]}}, {"300": {"subfields": [{"a": "96 p. ;"}, {"c": "23 cm"}]}}]}` + "\n"
	_, err := surveyOf(t, []byte(record+record), Options{})
	if questions, ok := errors.AsType[Questions](err); !ok || strings.Contains(questions.Error(), "may be") {
		t.Error(err)
	}
}

// TestPublication: a column with this name is the publisher or the date, as its cells say.
func TestPublication(t *testing.T) {
	t.Parallel()
	defaults := map[string]string{"price": "0", "genre": "Unsorted", "category": "Books", "pages": "1"}
	f, err := surveyOf(t, []byte("Title,Author,Publication\nA,Ann One,1990\nB,Bob Two,1991\nC,Cid Three,2001\n"), Options{Defaults: defaults})
	must(t, err)
	if got := shelf(t, f)[0]; got != "A|Ann One|1990-01-01|1|0|Unsorted|Books|||||" {
		t.Error(got)
	}
}

// TestSeriesIndex reads numbers in the series as Calibre writes them, and those of other lists as they are.
func TestSeriesIndex(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"series,series_index\nS,2.0": "2", "series,series_index\nS,1.5": "1.5", "series,series_index\n,1.0": "", "series_index\n1.0": "",
		"Series,Series No.\nS,2.0": "2.0", "Reihe,seriesNumber\n,IV": "IV",
	} {
		header, cells, _ := strings.Cut(text, "\n")
		f, err := surveyOf(t, []byte("title,pages,date,author,price,genre,"+header+"\nA,1,2000,X,1,G,"+cells+"\n"), Options{})
		must(t, err)
		if got := readRow(t, f)["series_number"]; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestUnusedFields: the report of a file of a library program names the fields that are not used, even if nothing had
// to be detected.
func TestUnusedFields(t *testing.T) {
	t.Parallel()
	f, err := surveyOf(t, []byte("@book{a, title={A}, author={{Plato}}, date={2001-02-03}, pagetotal={3}, note={S}}\n"), Options{
		Defaults: map[string]string{"price": "0", "genre": "Unsorted", "category": "Books"}})
	must(t, err)
	if f.IsPlain() || strings.Join(f.Unused(), " ") != "note" {
		t.Error(f.IsPlain(), f.Unused())
	}
}

// TestOurFormats: a book comes back the same from each of our formats, but for the price and the category that
// citations leave out.
func TestOurFormats(t *testing.T) {
	t.Parallel()
	book := &model.Book{
		ID: 1, Name: "The {Red} river, & 50% -- é", Author: "Ludwig van Beethoven, Kurt Vonnegut Jr.", Pages: 320, PublishedAt: model.Date{Year: 1937, Month: 9, Day: 21},
		Price: 1999, Description: new("One two."), ISBN: new("9783161484100"), Publisher: new("R & D"), Language: new("zh-Hant"), ShelfMark: new("QA 76"),
	}
	const want = "The {Red} river, & 50% -- é|Ludwig van Beethoven, Kurt Vonnegut Jr.|1937-09-21|320|19.99|R & D|Works|9783161484100|R & D|zh-Hant|QA 76|One two."
	for _, f := range citation.Formats {
		text := f.Append([]byte(f.Begin), book, &model.Genre{Name: "R & D"}, &model.Category{Name: "Works"})
		in, err := surveyOf(t, append(text, f.End...), Options{Defaults: map[string]string{"price": "19.99", "category": "Works"}})
		must(t, err)
		if got := shelf(t, in); len(got) != 1 || got[0] != want || in.Unused() != nil && f.Name != "csl" {
			t.Errorf("%s: %s; unused: %s", f.Name, got, in.Unused())
		}
	}
}
