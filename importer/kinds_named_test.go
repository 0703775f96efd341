package importer

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestKindsOfOtherThings imports lists that lack a field and have columns whose cells could be it. The printed command
// takes a default, and makes nothing up.
func TestKindsOfOtherThings(t *testing.T) {
	t.Parallel()
	csv := func(column, one, two string) []byte {
		return []byte("Title,Author,Year,Pages,Genre," + column + "\nA,X Y,2000,10,G," + one + "\nB,X Z,2001,20,G," + two + "\n")
	}
	dated := func(column, one, two string) []byte {
		return []byte("Title,Author,Pages,Price,Genre," + column + "\nA,X Y,10,1,G," + one + "\nB,X Z,20,2,G," + two + "\n")
	}
	noPrice := []string{"A | X Y | 10 | 2000-01-01 | - | G", "B | X Z | 20 | 2001-01-01 | - | G"}
	noDate := []string{"A | X Y | 10 | - | 1.00 | G", "B | X Z | 20 | - | 2.00 | G"}
	importKinds(t, map[string]kind{
		"a spine in inches":    {csv("Spine", "0.9 in", "1.4 in"), noPrice, ""},
		"a longitude":          {csv("lng", "-86.785", "-79.811"), noPrice, ""},
		"a printing":           {csv("Printing", "3rd", "12th"), noPrice, ""},
		"money without a word": {csv("Fine", "$1.50", "$2.50"), noPrice, ""},
		"an identifier":        {csv("wikidata", "Q90301701", "Q152057"), noPrice, ""},
		"a day of opening":     {dated("Opened", "2021-03-04", "2022-01-09"), noDate, ""},
		"two days of reading":  {dated("begin_date,end_date", "2021-03-04,2021-04-04", "2022-01-09,2022-02-02"), noDate, ""},
		"years of a shop":      {dated("Vintage", "2019", "2021"), noDate, ""},
		"an original language": {[]byte("Title,Author,Year,Pages,Price,Alkukieli\nA,X Y,2000,10,1,fin\nB,X Z,2000,10,1,eng\nC,X Z,2000,10,1,eng\n"),
			[]string{"A | X Y | 10 | 2000-01-01 | 1.00 | -", "B | X Z | 10 | 2000-01-01 | 1.00 | -", "C | X Z | 10 | 2000-01-01 | 1.00 | -"}, ""},
		"a number of an inventory": {[]byte("Title,Author,Year,Price,Genre,Nummer\nA,X Y,2000,1,G,217\nB,X Z,2000,1,G,305\n"),
			[]string{"A | X Y | - | 2000-01-01 | 1.00 | G", "B | X Z | - | 2000-01-01 | 1.00 | G"}, ""},
		"the people who borrow": {[]byte("Title,Year,Pages,Price,Genre,Held by\nA,2000,10,1,G,Ann Roe\nB,2001,10,1,G,Bob Poe\n"),
			[]string{"A | - | 10 | 2000-01-01 | 1.00 | G", "B | - | 10 | 2001-01-01 | 1.00 | G"}, ""},
		"a size and a class in MARC": {[]byte("=LDR  00000nam a22000007i 4500\n=082  04$a551.46\n=100  1\\$aLee, Ann.\n=245  10$aSea /\n=264  \\1$c1990.\n=300  \\\\$a10 p. ;$c30 cm.\n=655  \\7$aFiction.\n"),
			[]string{"Sea | Ann Lee | 10 | 1990-01-01 | - | Fiction"}, ""},
		"an amount of another field in MARC": {[]byte("=LDR  00000nam a22000007i 4500\n=020  \\\\$c5.00\n=100  1\\$aLee, Ann.\n=245  10$aSea /\n=264  \\1$c1990.\n=365  \\\\$b7.00\n=655  \\7$aFiction.\n"),
			[]string{"Sea | Ann Lee | - | 1990-01-01 | 5.00 | Fiction"}, ""},
		"an edition in BibTeX": {[]byte("@book{a, title={Sea}, author={Lee, Ann}, year={1990}, edition={3}, volume={12}}\n"),
			[]string{"Sea | Ann Lee | - | 1990-01-01 | - | -"}, ""},
		"volume and issue in RIS": {[]byte("TY  - JOUR\nTI  - Sea\nAU  - Lee, Ann\nPY  - 1990\nVL  - 12\nIS  - 3\nY2  - 2020/01/02\nER  - \n"),
			[]string{"Sea | Ann Lee | - | 1990-01-01 | - | -"}, ""},
	})
}

// TestNoNameIsMadeUp offers no field of MARC as the title, and so prints no command.
func TestNoNameIsMadeUp(t *testing.T) {
	t.Parallel()
	f, err := surveyOf(t, []byte("=LDR  00000nam a22000007i 4500\n=035  \\\\$a(X)x778\n=100  1\\$aLee, Ann.\n=264  \\1$c1990.\n=500  \\\\$aA note.\n"), Options{})
	questions, ok := errors.AsType[Questions](err)
	if !ok || f.FirstAnswers(questions) != nil {
		t.Errorf("%v: %v", err, f.FirstAnswers(questions))
	}
}

// TestKindsOfHeaders reads headers with digits in the names of columns, and asks about books that look like headers.
func TestKindsOfHeaders(t *testing.T) {
	t.Parallel()
	rows := func(columns, one, two string) []byte {
		return []byte("Title,Author,Year,Pages,Price,Genre," + columns + "\nA,X Y,2000,10,1,G," + one + "\nB,X Z,2001,20,2,G," + two + "\n")
	}
	want := []string{"A | X Y | 10 | 2000-01-01 | 1.00 | G", "B | X Z | 20 | 2001-01-01 | 2.00 | G"}
	importKinds(t, map[string]kind{
		"ISBN10,ISBN13":   {rows("ISBN10,ISBN13", "0192553356,9780192553355", "0451450523,9780451450524"), want, ""},
		"ISBN 10,ISBN 13": {rows("ISBN 10,ISBN 13", "0192553356,9780192553355", "0451450523,9780451450524"), want, ""},
		"years of loans":  {rows("2023,2024", "3,5", "0,1"), want, ""},
		"three of them":   {[]byte("Titel;Autor;Jahr;Seiten;Preis;Genre;2021;2022;2023\nA;X Y;2000;10;1;G;1;2;3\nB;X Z;2001;20;2;G;4;5;6\n"), want, ""},
		"dates of stock":  {rows("2024-01-31,2024-02-29,ISBN13", "3,5,9780192553355", "0,1,9780451450524"), want, ""},
		"a book with a year and pages": {[]byte("The Year,Ann Roe,1999,120,5.50,G,9780192553355\nThe Pages,Bob Poe,2001,220,6.50,G,9780451450524\n"),
			[]string{"The Year | Ann Roe | 120 | 1999-01-01 | 5.50 | G", "The Pages | Bob Poe | 220 | 2001-01-01 | 6.50 | G"}, ""},
	})
}

// TestGapsNeedACategory prints a default for the category too where rows only lack values, because their genres may be
// new.
func TestGapsNeedACategory(t *testing.T) {
	t.Parallel()
	const rows = "Title,Author,Year,Pages,Price,Genre\nA,X Y,2000,10,1,G\nB,X Z,2000,10,,G\n"
	for _, test := range []struct {
		text    string
		options Options
		want    []string
	}{
		{rows, Options{}, []string{"price", "category"}},
		{rows, Options{Defaults: map[string]string{"category": "C"}}, []string{"price"}},
		{rows, Options{Columns: map[string]string{"category": ""}}, []string{"price"}},
		{"Category," + strings.ReplaceAll(strings.ReplaceAll(rows, "\nA", "\nC,A"), "\nB", "\nC,B"), Options{}, []string{"price"}},
	} {
		f, err := surveyOf(t, []byte(test.text), test.options)
		must(t, err)
		readBooks(t, f)
		if n, fields := f.Gaps(); n != 1 || !slices.Equal(fields, test.want) {
			t.Errorf("%+v: %d %v, want %v", test.options, n, fields, test.want)
		}
	}
}

// TestFieldsInNeed names the fields that need a default: those with empty cells, and a category without a column or a
// default.
func TestFieldsInNeed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		columns, cells string
		defaults       map[string]string
		want           []string
	}{
		{"Title,Author,Year,Pages,Price,Genre,Category", "A,X Y,2000,10,1,G,C", nil, nil},
		{"Title,Author,Year,Pages,Price,Genre,Category", "A,X Y,2000,10,1,G,", nil, []string{"category"}},
		{"Title,Author,Year,Pages,Price,Genre", "A,X Y,2000,10,1,G", nil, []string{"category"}},
		{"Title,Author,Year,Pages,Price,Genre", "A,X Y,2000,10,1,G", map[string]string{"category": "C"}, nil},
		{"Title,Author,Year,Pages,Price,Genre", "A,X Y,2000,,,", map[string]string{"category": "C"}, []string{"pages", "price", "genre"}},
		{"Title,Author,Year,Pages,Price,Genre", "A,X Y,2000,,,", map[string]string{"category": "C", "pages": "1"}, []string{"price", "genre"}},
	} {
		data := test.columns + "\nB,X Y,2000,10,1,G" + strings.Repeat(",C", strings.Count(test.columns, "Category")) + "\n" + test.cells + "\n"
		f, _ := surveyOf(t, []byte(data), Options{Defaults: test.defaults}) // or a question
		if got := f.Unfilled(); !slices.Equal(got, test.want) {
			t.Errorf("%s %v: %v, want %v", test.cells, test.defaults, got, test.want)
		}
	}
}
