package importer

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/graph/model"

	"library-catalogue/importer/source"
)

// TestForeignFiles reads files that need a guess. Each want is the rows, or the questions.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	const header, rest = "name,pages,published_at,author,price,genre\n", ",2000-01-01,X,1,G\n"
	for name, test := range map[string]struct {
		text    string
		options Options
		want    string
	}{
		"columns are merged row by row": {
			"Title,Pages,Num Pages,Original Publication Year,Year Published,Author,Price,Genre\nA,,3,,1999,X,1,G\nB,,4,1998,2000,X,1,G\n", Options{},
			"A||3|1999-01-01|X|1.00|G| B||4|1998-01-01|X|1.00|G|"},
		"a merged column is named in a problem": {
			"Title,Original Publication Year,Year Published,Pages,Author,Price,Genre\nA,,bad,3,X,1,G\nB,1998,,3,X,1,G\n", Options{},
			`row 1 (line 2): Year Published "bad": The published at field must be a valid date. B||3|1998-01-01|X|1.00|G|`},
		"last parts of names fill no second column": {
			"Title,publisher.name,work.title,Pages,Year,series.year,Author,Price,Genre\n,Penguin,B,3,1999,1,X,1,G\nA,P,,3,,2001,X,1,G\nA,P,,3,1999,,X,1,G\n", Options{},
			"row 2 (line 3): The published at field is required. A||3|1999-01-01|X|1.00|G|"},
		"publishers and authors name no books": {
			"publisher.name,author.name,Pages,Year,Price,Genre\nP,X,3,1999,1,G\n", Options{},
			"the header has no column name. It has: publisher.name, author.name, Pages, Year, Price, Genre"},
		"an empty column of a required field": {
			header + "A," + rest + "B," + rest, Options{},
			"the column pages is empty in all rows"},
		"the catalogue's own names suffice": {
			"title," + header + "T,A,1" + rest, Options{}, "A||1|2000-01-01|X|1.00|G|"},

		"a default leaves other names in use": {
			"name,Num Pages,published_at,author,genre\nA,7,2000-01-01,X,G\n", Options{Defaults: map[string]string{"price": "0", "pages": "1"}}, "A||7|2000-01-01|X|0.00|G|"},

		"a title above the header":     {"My library, as of 2026\n\n" + header + "A,1" + rest, Options{}, "A||1|2000-01-01|X|1.00|G|"},
		"sep= above the header":        {"sep=;\n" + strings.ReplaceAll(header+"A,1"+rest, ",", ";"), Options{}, "A||1|2000-01-01|X|1.00|G|"},
		"a header in line 11":          {strings.Repeat("x\n", 10) + header + "A,1" + rest, Options{}, "the header has no column name (did you mean x?), pages, published_at, author, price, genre. It has: x:\n  name may be x: x"},
		"the same with the header row": {strings.Repeat("x\n", 10) + header + "A,1" + rest, Options{HeaderRow: 11}, "A||1|2000-01-01|X|1.00|G|"},
		"the first of two headers is not meant": {
			header + strings.Replace(header, "name", "title", 1) + "A,1" + rest, Options{HeaderRow: 2}, "A||1|2000-01-01|X|1.00|G|"},
		"rejected rows of a file with other options": {
			"Row,Problem,Column,Found,How to fix it,Werk,Pages,Date,Author,Price,Genre\n3,,,,,A,1" + rest,
			Options{HeaderRow: 3, Delimiter: ';', Columns: map[string]string{"name": "Werk"}}, "A||1|2000-01-01|X|1.00|G|"},
		"rejected rows of a JSON file": {
			"Row,Problem,Column,Found,How to fix it,json\n3,,,,,\"{\"\"name\"\":\"\"A\"\",\"\"pages\"\":1,\"\"published_at\"\":\"\"2000-01-01\"\",\"\"author\"\":\"\"X\"\",\"\"price\"\":1,\"\"genre\"\":\"\"G\"\"}\"\n",
			Options{Format: source.FormatJSON}, "A||1|2000-01-01|X|1.00|G|"},
		"rejected rows of a spreadsheet": {
			"Row,Problem,Column,Found,How to fix it," + header + "3,,,,,A,1" + rest, Options{Format: source.FormatXLSX}, "A||1|2000-01-01|X|1.00|G|"},
		"no such line":         {header + "A,1" + rest, Options{HeaderRow: 9}, "the file has no line 9 for its header"},
		"a header row of JSON": {`{"name":"A"}`, Options{HeaderRow: 2}, "the header row option applies to CSV and spreadsheets only, and the file is JSON Lines in UTF-8"},

		"LF, CRLF and CR in one file": {header + "A,1" + strings.Replace(rest, "\n", "\r", 1) + "B,2" + strings.Replace(rest, "\n", "\r\n", 1) + "C,3" + rest, Options{},
			"A||1|2000-01-01|X|1.00|G| B||2|2000-01-01|X|1.00|G| C||3|2000-01-01|X|1.00|G|"},

		"a lone CR in a cell is no line end": {
			"description," + header + "X\rY\rZ,A,1" + rest + "D,B,1,2000-01-01,X\rY,1,G\nD,C,1,2000-01-01,X,1,G\rH\n,D,1" + strings.Replace(rest, "\n", "\r", 1) + ",E,1" + rest, Options{},
			"A|X\rY\rZ|1|2000-01-01|X|1.00|G| B|D|1|2000-01-01|X\rY|1.00|G| C|D|1|2000-01-01|X|1.00|G\rH| D||1|2000-01-01|X|1.00|G| E||1|2000-01-01|X|1.00|G|"},
		"short rows of a file with CR": {strings.ReplaceAll(header+"A,1,2000-01-01\nX,1,G,\nB,1"+rest, "\n", "\r"), Options{},
			`row 1 (line 2): The author field is required. The price field is required. The genre field is required. ` +
				`row 2 (line 3): published_at "G": The published at field must be a valid date. The author field is required. The price field is required. The genre field is required. B||1|2000-01-01|X|1.00|G|`},

		"letters in prices": {header + "A,1,2000-01-01,X,12o,G\nB,1,2000-01-01,X,9,G\n", Options{},
			`row 1 (line 2): price "12o": "o" is not known as a currency, and not the currency of this column. B||1|2000-01-01|X|9.00|G|`},
		"a currency that the column shares": {header + "A,1,2000-01-01,X,Qz 12,G\nB,1,2000-01-01,X,9 qz,G\n", Options{}, "A||1|2000-01-01|X|12.00|G| B||1|2000-01-01|X|9.00|G|"},
		"no number of pages": {header + "A,p. cm.,2000-01-01,X,1,G\nB,2 vol.,2000-01-01,X,1,G\n", Options{Defaults: map[string]string{"pages": "7"}},
			`A||7|2000-01-01|X|1.00|G| row 2 (line 3): pages "2 vol.": "vol" is not known as a unit of pages, and not the unit of this column.`},

		"days of Excel": {header + "A,1,39264,X,1,G\nB,1,39264.75,X,1,G\nC,1,9000,X,1,G\n", Options{},
			"A||1|2007-07-01|X|1.00|G| B||1|2007-07-01|X|1.00|G| C||1|1924-08-21|X|1.00|G|"},
		"a number among years": {header + "A,1,1998,X,1,G\nB,1,19984,X,1,G\n", Options{},
			`A||1|1998-01-01|X|1.00|G| row 2 (line 3): published_at "19984": The published at field must be a valid date.`},
		"a number among dates": {header + "A,1,1998-02-03T00:00:00Z,X,1,G\nB,1,19984,X,1,G\n", Options{},
			`A||1|1998-02-03|X|1.00|G| row 2 (line 3): published_at "19984": The published at field must be a valid date.`},
		"a number among written dates": {header + "A,1,3 May 1998,X,1,G\nB,1,39264,X,1,G\n", Options{},
			`A||1|1998-05-03|X|1.00|G| row 2 (line 3): published_at "39264": The published at field must be a valid date.`},
		"dates with one reading and a time": {header + "A,1,5/5/2005,X,1,G\nB,1,2006 September 16 0:00,X,1,G\nC,1,5/5/2005 3:00 PM,X,1,G\n", Options{},
			"A||1|2005-05-05|X|1.00|G| B||1|2006-09-16|X|1.00|G| C||1|2005-05-05|X|1.00|G|"},
		"Calibre's missing date": {"Title,Pages,pubdate,Author,Price,Genre\nA,1,0101-01-01T00:00:00+00:00,X,1,G\nB,1,2000-01-01,X,1,G\n", Options{},
			`row 1 (line 2): pubdate "0101-01-01T00:00:00+00:00": Calibre writes this date for a book without one. B||1|2000-01-01|X|1.00|G|`},
		"an own date of that day": {header + "A,1,0101-01-01,X,1,G\n", Options{}, "A||1|0101-01-01|X|1.00|G|"},

		"a join of three columns": {"A,B,C," + header + "a,b,c,A,1" + rest, Options{Columns: map[string]string{"author": "A+B+C"}},
			"the header has no column A+B+C (did you mean author?). It has: A, B, C, name, pages, published_at, author, price, genre:\n  author may be author: X"},
		"a sheet of a text": {header + "A,1" + rest, Options{Sheet: "S"}, "the sheet option applies to spreadsheets only, and the file is none: leave it out"},
		"no header of JSON": {`{"name":"A"}`, Options{NoHeader: true}, "the no header option applies to CSV and spreadsheets only, and the file is JSON Lines in UTF-8"},
		"two objects with books": {`{"f":{"a":{"title":"A","pages":1},"b":{"title":"B","pages":1}},"g":{"a":{"title":"C","pages":1}}}`, Options{},
			`the file has several lists of books, such as "f" and "g": put all books in one list`},
		"books by key of one line each": {`{"b":{"title":"A","pages":1,"year":2000,"author":"X","price":1,"genre":"G"}}` + "\n" + `{"b":{"title":"B","pages":1,"year":2000,"author":"X","price":1,"genre":"G"}}` + "\n", Options{},
			"A||1|2000-01-01|X|1.00|G| B||1|2000-01-01|X|1.00|G|"},
		"a column is left out": {"description," + header + "D,A,1" + rest, Options{Columns: map[string]string{"description": ""}}, "A||1|2000-01-01|X|1.00|G|"},
		"a required one too":   {header + "A,1" + rest, Options{Columns: map[string]string{"price": ""}}, "the header has no column price. It has: name, pages, published_at, author, price, genre"},
		"a key is left out": {`{"name":"A","description":"D","pages":1,"published_at":"2000-01-01","author":"X","price":1,"genre":"G"}`,
			Options{Columns: map[string]string{"description": ""}}, "A||1|2000-01-01|X|1.00|G|"},
		"a key that no row has": {`{"name":"A"}`, Options{Columns: map[string]string{"description": "zz"}}, "the header has no column zz, pages, published_at, author, price, genre. It has: name"},
		"a column that no row has": {header + "A,1" + rest, Options{Columns: map[string]string{"description": "nam"}},
			"the header has no column nam. It has: name, pages, published_at, author, price, genre"},
		"a late key": {strings.Repeat(`{"name":""}`+"\n", keyRows) + `{"name":"A","n":1,"published_at":"2000-01-01","author":"X","price":1,"genre":"G"}`,
			Options{Columns: map[string]string{"pages": "n"}}, "A||1|2000-01-01|X|1.00|G|"},

		"all questions at once": {
			"Titles,num_pages,date,The Author,genre\nA,1,3/4/2005,X,G\nA,2,3/4/2005,X,G\n", Options{Columns: map[string]string{"name": "Titles", "author": "The Author"}},
			"the header has no column price. It has: Titles, num_pages, date, The Author, genre. " +
				"the column date can be read in two ways, as 3/4/2005 (line 2). " +
				"1 book has several rows with different values:\n  line 2 and line 3: A, X: pages 1 or 2"},
		"near misses": {"Tilte,pages,date,Auhtor,price,Publisher,genre\nA,1,2000,X,1,P,G\n", Options{Columns: map[string]string{"genre": "Gener"}},
			"the header has no column name (did you mean Tilte?), author (did you mean Auhtor?), Gener (did you mean genre?). It has: " +
				"Tilte, pages, date, Auhtor, price, Publisher, genre:\n  name may be Tilte: A\n  name may be Auhtor: X\n  author may be Auhtor: X\n  genre may be genre: G"},
		"no near misses among long names and behind many columns": {
			"Tilte" + strings.Repeat("x", maxRankedName) + strings.Repeat(",q", maxRanked) + ",Tilte,pages,date,author,price,genre\n", Options{},
			"the header has no column name. It has: Tilte" + strings.Repeat("x", maxPrinted-5) + "…" + strings.Repeat(", q", 19) + " and 987 more"},

		"duplicates with one key": {header + "Émile,1" + rest + "ÉMILE,1" + rest + "Emile,1" + rest, Options{},
			"1 book has several rows with different values:\n  line 2 and line 3: Émile, X: name Émile or ÉMILE"},
		"one of them": {header + "Émile,1" + rest + "ÉMILE,1" + rest, Options{Duplicates: DuplicatesFirst}, "Émile||1|2000-01-01|X|1.00|G|"},

		"months and names of other languages": {
			"Titel;Seitenzahl;Erscheinungsdatum;Autor;Preis;Gattung\nA;1.024 Seiten;1. März 2000;X;12,50 €;G\nB;1;12 août 1999;X;1;G\nC;1;3 de enero de 1998;X;1;G\n", Options{},
			"A||1024|2000-03-01|X|12.50|G| B||1|1999-08-12|X|1.00|G| C||1|1998-01-03|X|1.00|G|"},

		"lists and objects": {
			`[{"title":"A","authors":["X",{"name":"Y"}],"description":{"type":"/type/text","value":"D"},"num_pages":[3],"date":2000,"price":{"amount":1.5,"currency":"EUR"},"genres":[],"subjects":["G","H"]}]`, Options{},
			"A|D|3|2000-01-01|X, Y|1.50|G|"},
		"nested in each row": {
			`{"id":1,"volumeInfo":{"title":"A","authors":["X"],"pageCount":3,"publishedDate":"2000","subject":"G"},"saleInfo":{"listPrice":{"amount":2}}}`, Options{},
			"A||3|2000-01-01|X|2.00|G|"},
		"a list under a key": {
			"{\"name\":\"Mine\",\"books\":[\n{\"name\":\"A\",\"pages\":1,\"published_at\":\"2000-01-01\",\"author\":\"X\",\"price\":1,\"genre\":\"G\"},7],\n\"pages\":1}", Options{},
			"A||1|2000-01-01|X|1.00|G| row 2 (line 2): The element is not a JSON object."},
		"two lists of books": {`{"fiction":[{"title":"A","pages":1}],"authors":[{"name":"X"}],"nonfiction":[{"title":"B","pages":2}]}`, Options{},
			`the file has several lists of books, such as "fiction" and "nonfiction": put all books in one list`},
		"a list under two keys": {
			`{"data":{"n":[1],"books":[{"name":"A","pages":1,"published_at":"2000-01-01","author":"X","price":1,"genre":"G"}]}}`, Options{},
			"A||1|2000-01-01|X|1.00|G|"},
		"a list of a book is no list of books": {
			`{"title":"A","pages":1,"published_at":"2000-01-01","author":"X","price":1,"genre":"G","editions":[{"title":"A","author":"Y"}]}`, Options{},
			"A||1|2000-01-01|X|1.00|G|"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := surveyOf(t, []byte(test.text), test.options)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				var books []string
				for _, book := range readBooks(t, f) {
					if !strings.Contains(book, "The name field is required") {
						books = append(books, book)
					}
				}
				got = strings.Join(books, " ")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAnswersOfMissingFields answers with near misses, and only offers a column whose cells fit.
func TestAnswersOfMissingFields(t *testing.T) {
	t.Parallel()
	_, err := surveyOf(t, []byte("name,pages,date,Auhtor,Weite,genre\nA,1,2000,Ann One,1.5,G\nB,2,2001,Bob Two,2.5,G\n"), Options{})
	questions, _ := errors.AsType[Questions](err)
	want := Questions{{
		Option: "map", Fields: []string{"author", "price", "category"},
		Answers:    []Answer{{"map", "author=Auhtor", "reads author from that column", model.Messagef("Use %s for %s: %s", "Auhtor", "Author", "Ann One; Bob Two")}},
		Text:       model.Message{Key: "the header has no column author (did you mean Auhtor?), price. It has: name, pages, date, Auhtor, Weite, genre"},
		Examples:   []model.Message{model.Messagef("%s may be %s: %s", "author", "Auhtor", "Ann One; Bob Two"), model.Messagef("%s may be %s: %s", "price", "Weite", "1.5; 2.5")},
		Candidates: []Candidate{{"author", "Auhtor", []string{"Ann One", "Bob Two"}}, {"price", "Weite", []string{"1.5", "2.5"}}},
	}}
	if diff := cmp.Diff(want, questions); diff != "" {
		t.Error(diff)
	}
}

// TestSkippedLines: lines before the header are reported.
func TestSkippedLines(t *testing.T) {
	t.Parallel()
	const rows = "name,pages,published_at,author,price,genre\nA,1,2000-01-01,X,1,G\n"
	for before, want := range map[string]string{
		"":                   "CSV in UTF-8, delimited by commas",
		"sep=,\n":            "CSV in UTF-8, delimited by commas, header in line 2 (1 line skipped)",
		"A,1,2000\nB\n\nC\n": "CSV in UTF-8, delimited by commas, header in line 5 (4 lines skipped)",
	} {
		f, err := surveyOf(t, []byte(before+rows), Options{})
		must(t, err)
		if f.Kind().String() != want || f.IsPlain() != (before == "") {
			t.Errorf("%q: %s, plain %v", before, f.Kind(), f.IsPlain())
		}
	}
	for before, want := range map[string]string{"": "a spreadsheet, sheet S", odsTexts("A", "1") + odsTexts(): "a spreadsheet, sheet S, header in row 3 (2 rows skipped)"} {
		f, err := surveyOf(t, openDocument(t, `<table:table table:name="S">`+before+odsHeader+odsTexts("A", "", "1", "2000-01-01", "X", "1", "G")+"</table:table>"), Options{})
		must(t, err)
		if f.Kind().String() != want {
			t.Errorf("%q: %s", before, f.Kind())
		}
	}
}

// TestLongKeys surveys records with a long key each, which are no columns.
func TestLongKeys(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, `{"name":"A","published_at":"2000-01-01","author":"X","price":1,"genre":"G","category":"C","pages":1,"%d%s":1}`+"\n", i, strings.Repeat("k", 10_000))
	}
	f, err := surveyOf(t, []byte(text.String()), Options{})
	must(t, err)
	if size := len(strings.Join(f.Header, "")); size > 1000 {
		t.Errorf("the header has %d bytes in %d names", size, len(f.Header))
	}
}
