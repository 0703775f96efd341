package citation

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/graph/model"
)

type reader interface{ Next() (Entry, error) }

// show returns the entries of a file: "line: key=value|…", or the problem.
func show(t *testing.T, r reader) (shown []string) {
	t.Helper()
	for range 1000 {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return shown
		}
		if err != nil {
			t.Fatal(err)
		}
		var values []string
		for _, key := range slices.Sorted(maps.Keys(e.Values)) {
			values = append(values, key+"="+e.Values[key])
		}
		shown = append(shown, fmt.Sprintf("%d: %s%s", e.Line, strings.Join(values, "|"), e.Problem))
	}
	t.Fatal("no end")
	return nil
}

func TestBibTeX(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		"": nil, "nothing": nil, "a@b.c\n": nil,
		"% Encoding: UTF-8\n\n@Book{key, Title = \"The {Red} River\", AUTHOR={Ann One and Two, Bob}, year=2003}": {"3: author=Ann One, Bob Two|name=The Red River|published_at=2003"},
		"@book(key, title={A}, year={800}, month=sep, day=3,)":                                                   {"1: name=A|published_at=0800-09-03"},
		"@string{p = {Knopf} # \" & \"}\n@string(q = p # \"Sons\")\n@book{a,publisher=q # { Inc},title = {A}}":   {"3: name=A|publisher=Knopf & Sons Inc"},
		"@comment{ @book{a, title={X}} }\n@preamble{\"x\"}\n@comment x\n@book{b,title={Y}}":                      {"4: name=Y"},
		"@book{a,title={A}} @book{b,title={B}}\r\n@book{c}\r@book{title={D}}":                                    {"1: name=A", "1: name=B", "2: ", "3: name=D"},
		"@book{a,\n title={A\n@book{b, title={B}}\n":                                                             {"1: the entry is not closed: a brace or a quote is missing", "3: name=B"},
		"@book{a, title {A}}\n@book{b, title={B}}":                                                               {"1: the entry is damaged before \"{A}}\\n\": a field is written as name = {text},", "2: name=B"},
		"@book{a, title = }\n@book{b, title={B}":                                                                 {"1: the entry is damaged before \"}\\n\": a text is missing", "2: the entry is not closed: a brace or a quote is missing"},
		"@book{a, title={\xff}}\n@book{b, title={B}}":                                                            {"1: the entry is not UTF-8", "2: name=B"},
		"@book{a(1), title={A}, title={B}, edition=undefined}":                                                   {"1: edition=undefined|name=A"},
		"@inbook{a, title={A}, booktitle={B}, pages={3--7}, date={2003-05-01/2004}, langid={ngerman}, isbn={978-3-16-148410-0}, name={N}}": {
			"1: booktitle=B|entry type=inbook|isbn=978-3-16-148410-0|language=de|name=A|name field=N|page range=3–7|published_at=2003-05-01"},
		"@book{a, title={A}, subtitle={B}, pages={320}, year={c1990}, month={Sept. 3}, langid={french}}": {"1: language=french|name=A|pages=320|published_at=sept. 3 c1990|subtitle=B"},
		"@book{a, title={A}, series={S}, number={1.5}} @book{b, title={B}, number={2}}":                  {"1: name=A|series=S|series_number=1.5", "1: name=B|number=2"},
		`@book{a, author={van der Berg, Jan and {Barnes and Noble} and Vonnegut, Jr., Kurt and {\"O}z, Am{\'o}s and Ludwig van Beethoven and Plato AND others}}`: {
			"1: author=Jan van der Berg; Barnes and Noble; Kurt Vonnegut Jr.; Amós Öz; Ludwig van Beethoven; Plato"},
		`@book{a, editor={{The {\LaTeX} Institute} and Smith \& Sons}}`: {"1: author=The LaTeX Institute; Smith & Sons"},
	} {
		got := show(t, NewBibTeXReader(strings.NewReader(in)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
	}
}

// TestExpansion: the names of texts can not make a short file long.
func TestExpansion(t *testing.T) {
	t.Parallel()
	long := "@string{a={" + strings.Repeat("x", 1000) + "}}\n"
	for text, want := range map[string]string{
		long + "@book{k, title=a" + strings.Repeat("#a", 2000) + "}":                       "2: the entry is longer than 1 MiB",
		long + "@book{k, " + strings.Repeat("b=a,", 2000) + "}":                            "2: the entry is longer than 1 MiB",
		strings.Repeat(strings.Replace(long, "{a", "{b", 1), 1100) + "@book{k, title={A}}": "1049: the texts of all @string are longer than 1 MiB",
	} {
		if got := show(t, NewBibTeXReader(strings.NewReader(text))); got[0] != want {
			t.Errorf("%s, want %s", got[0], want)
		}
	}
}

func TestLaTeX(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{\"o}`: "ö", `\"o`: "ö", `\"{o}`: "ö", `{\'e}t\'{e}`: "été", `\'\i`: "í", `{\'{\i}}`: "í", `\v{c}\v cx`: "ččx", `\c{c}`: "ç", `\H{o}`: "ő", `\k a`: "ą",
		`\ss`: "ß", `Stra{\ss}e`: "Straße", `\o\O\l\L`: "øØłŁ", `\L{}ódź`: "Łódź", `\AE sop`: "Æsop", `{\aa}`: "å", `Erd\H{o}s`: "Erdős", `\~{}x\^{}`: "~x^", `\t{oo}`: "o͡o",
		`a--b---c`: "a–b—c", `-{}-`: "--", "``q''": "“q”", `'{}'`: "''", `A~B`: "A B", `R\&D 50\% \$5 \#1 a\_b \{x\}`: "R&D 50% $5 #1 a_b {x}",
		`\textbackslash{}\textbraceleft{}`: `\{`, `\emph{x} {\it y} \url{http://a}`: "x y http://a", `\foo{x} $a^2$`: `\foox $a^2$`, `a\\b`: "a b", `\`: `\`, `\"`: `\"`, `\'{`: `\'`,
		`\.{I}stanbul D\i yarbak\i r`: "İstanbul Dıyarbakır", "a\n  b": "a b", `\'{\textbf x}`: `\'x`,
	} {
		if got := unlatex(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func TestRIS(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		"": nil, "Provider: x\r\n\r\nTY  - BOOK\r\nA1  - One, Ann\r\nAU  - Two, Bob, Jr.\r\nTI  - A\r\nPY  - 2003///\r\nDA  - 2003/05/01/spring\r\nAB  - One\r\nmore\r\nKW  - x\r\nKW  - y\r\nER  - \r\n": {
			"3: A1=One, Ann|author=Bob Two Jr.|description=One more|genre=x; y|name=A|published_at=2003-05-01"},
		"TY  - JOUR\nT1  - A\nSP  - 3\nEP  - 7\nY1  - 2003\nTY  - BOOK\nT1  - B\nSP  - 320\nSN  - 3161484100\nSN  - 9783161484100\nPB  - P\nLA  - de\nCN  - A 1\nCY  - X": {
			"1: EP=7|SP=3|TY=JOUR|name=A|published_at=2003", "6: CY=X|isbn=3161484100; 9783161484100|language=de|name=B|pages=320|publisher=P|shelf_mark=A 1"},
		"TY  - BOOK\nY1  - 2015/october\nPY  - 2015\nER  - \nTY  - BOOK\nPY  - 2015\nDA  - 2015/okt./3/autumn\nER  - \nTY  - BOOK\nPY  - 2015/10/03\nDA  - 2015/October\nER  - \n": {
			"1: published_at=2015-october", "5: published_at=2015-okt.-3", "9: published_at=2015-10-03"},
		"TY  - BOOK\nTI  - A: B\nT2  - S\nVL  - IV\nER  - \nTY  - CHAP\nTI  - B\nT2  - S\nVL  - 2\nER  - \nTY  - BOOK\nTI  - C\nVL  - 2\nER  - ": {
			"1: name=A: B|series=S|series_number=IV", "6: T2=S|TY=CHAP|VL=2|name=B", "11: VL=2|name=C"},
		"TY  - BOOK\nTI  - \xff\nER  -\nTY - BOOK\nTI - B\nER -":                                                 {"1: the record is not UTF-8", "4: name=B"},
		"TY  - BOOK\nAB  - " + strings.Repeat("x\n", 1<<20) + "ER  - \nTY  - BOOK\nTI  - B\nER  - ":              {"1: the record is longer than 1 MiB", "1048579: name=B"},
		"TY  - BOOK\nTI  - A;\nAU  - Random House, Inc.\nPB  - P;\nER  - \nTY  - BOOK\nTI  - The Lord of the Ri": {"1: author=Random House, Inc.|name=A;|publisher=P;", "6: the record has no end (ER), so the file may be cut off"},
		"TY  - BOOK\nAU  - Museum of Arts and Crafts\nAU  - Plato\nAU  - Smith & Sons\nPY  - in print\nER  - ":   {"1: author=Museum of Arts and Crafts; Plato; Smith & Sons|published_at=in print"},
	} {
		got := show(t, NewRISReader(strings.NewReader(in)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.200s: %s", in, diff)
		}
	}
}

// TestComesBack: what is written is read as the same book.
func TestComesBack(t *testing.T) {
	t.Parallel()
	hard := "{A} & \\ ~^$%#_ -- --- ``<é>'' \"日本\" @book{x, ''"
	for _, b := range []*model.Book{
		{ID: 1, Name: hard, Author: "Ludwig van Beethoven, Museum of Arts and Crafts, Kurt Vonnegut Jr.", Pages: 12, PublishedAt: model.Date{Year: 800, Month: 9, Day: 4},
			ISBN: new("9783161484100"), Publisher: new(hard), Language: new("zh-Hant"), ShelfMark: new(hard), Description: new(hard)},
		{ID: 2, Name: "ER  - ", Author: "Plato; Aristotle", Pages: 1, PublishedAt: model.Date{Year: 1957, Month: 1, Day: 1}},
	} {
		want := map[string]string{"genre": "R, D; {&}"}
		for _, f := range model.BookFields {
			if slices.Contains(model.ImportFields, f.Key) && f.Key != "price" && f.Text(b) != "" {
				want[f.Key] = oneLine(f.Text(b))
			}
		}
		want["published_at"] = strings.TrimSuffix(want["published_at"], "-01-01")
		for i, read := range []func(io.Reader) reader{
			func(in io.Reader) reader { return NewBibTeXReader(in) }, func(in io.Reader) reader { return NewRISReader(in) },
		} {
			text := Formats[i].Append(nil, b, &model.Genre{Name: "R, D; {&}"}, nil)
			e, err := read(strings.NewReader(string(text) + string(text))).Next()
			if diff := cmp.Diff(want, e.Values); diff != "" || err != nil {
				t.Errorf("%s: %v %s\n%s", Formats[i].Name, err, diff, text)
			}
		}
	}
}

func TestIsFormat(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"@book{a,": "bib", "% JabRef\n@Book{a,": "bib", "See the\nlist\n@article{b": "bib", "name,mail\nx,a@b.c\n": "", "TY  - BOOK\r\nER  - ": "ris", "x\r\n\r\nTY  - BOOK\r": "ris",
		"TY,TI\n1,2": "", "{\"a\": \"\n@b{\"}": "",
	} {
		got := ""
		if IsBibTeX([]byte(text)) {
			got += "bib"
		}
		if IsRIS([]byte(text)) {
			got += "ris"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// drain reads all entries. It fails if the reader does not end.
func drain(t *testing.T, r reader, size int) {
	t.Helper()
	for range size + 2 {
		if _, err := r.Next(); err != nil {
			return
		}
	}
	t.Fatal("no end")
}

func FuzzBibTeX(f *testing.F) {
	f.Add("@string{a=\"b\"}@book{k,author={Two, Jr., {\\\"B}ob and others}, title=a # {\\v{c}--}, year=1, month=may}")
	f.Fuzz(func(t *testing.T, data string) { drain(t, NewBibTeXReader(strings.NewReader(data)), len(data)) })
}

func FuzzRIS(f *testing.F) {
	f.Add("TY  - BOOK\r\nAU  - One, Ann\r\nDA  - 2003/01/02/\r\nx\r\nER  - \r\n")
	f.Fuzz(func(t *testing.T, data string) { drain(t, NewRISReader(strings.NewReader(data)), len(data)) })
}
