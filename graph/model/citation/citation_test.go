package citation

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"library-catalogue/graph/model"
)

// TestEncoders compares a hard book in each format. Other programs read such books in .ci/conformance.
func TestEncoders(t *testing.T) {
	t.Parallel()
	description := "One\r\nER  - \nTwo"
	book := &model.Book{
		ID: 7, Name: "{A} & \\ ~^$%#_ -- <é> \"日本\"\n''", Author: "Ludwig van Beethoven, Museum of Arts and Crafts, Kurt Vonnegut Jr.", Pages: 12,
		PublishedAt: model.Date{Year: 800, Month: 9, Day: 1}, Description: &description,
	}
	texts := map[string]string{}
	for _, f := range Formats {
		texts[f.Name] = f.Begin + string(f.Append(nil, book, &model.Genre{Name: "R&D"}, &model.Category{})) + f.End
	}
	want := `@book{book7,
  author = {van Beethoven, Ludwig and {Museum of Arts and Crafts} and Vonnegut, Jr., Kurt},
  title = {\textbraceleft{}A\textbraceright{} \& \textbackslash{} \textasciitilde{}\textasciicircum{}\$\%\#\_ -{}- <é> "日本" '{}'},
  year = {800},
  month = sep,
  day = {1},
  pagetotal = {12},
  keywords = {R\&D},
  abstract = {One ER - Two}
}

`
	if got := texts["bibtex"]; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	want = "TY  - BOOK|ID  - book7|AU  - van Beethoven, Ludwig|AU  - Museum of Arts and Crafts|AU  - Vonnegut, Kurt, Jr.|TI  - {A} & \\ ~^$%#_ -- <é> \"日本\" ''|" +
		"PY  - 0800|DA  - 0800/09/01|SP  - 12|KW  - R&D|AB  - One ER - Two|ER  - |"
	if got := strings.ReplaceAll(texts["ris"], "\r\n", "|"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	var items []map[string]any
	if err := json.Unmarshal([]byte(texts["csl"]), &items); err != nil || len(items) != 1 {
		t.Fatal(err, texts["csl"])
	}
	for field, want := range map[string]string{
		"id": `"book7"`, "type": `"book"`, "issued": `{"date-parts":[[800,9,1]]}`, "number-of-pages": "12", "keyword": `"R\u0026D"`,
		"author": `[{"family":"Beethoven","given":"Ludwig","non-dropping-particle":"van"},{"literal":"Museum of Arts and Crafts"},{"family":"Vonnegut","given":"Kurt","suffix":"Jr."}]`,
	} {
		if got, _ := json.Marshal(items[0][field]); string(got) != want {
			t.Errorf("%s: %s, want %s", field, got, want)
		}
	}
	full := new(*book)
	full.ISBN, full.Publisher, full.Language, full.ShelfMark = new("9783161484100"), new("R & D"), new("de"), new("A 1")
	full.Subtitle, full.Series, full.SeriesNumber = new("S: T"), new("Tall & Short"), new("1.5")
	for name, want := range map[string]string{
		"bibtex": "keywords = {R\\&D},\n  isbn = {9783161484100},\n  publisher = {R \\& D},\n  language = {de},\n  library = {A 1},\n  subtitle = {S: T},\n  series = {Tall \\& Short},\n  number = {1.5},\n  abstract",
		"ris":    "KW  - R&D\r\nSN  - 9783161484100\r\nPB  - R & D\r\nLA  - de\r\nCN  - A 1\r\nT2  - Tall & Short\r\nVL  - 1.5\r\nAB",
		"csl":    `"ISBN":"9783161484100","publisher":"R \u0026 D","language":"de","call-number":"A 1","collection-title":"Tall \u0026 Short","collection-number":"1.5","abstract"`,
	} {
		i := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name })
		if got := string(Formats[i].Append(nil, full, &model.Genre{Name: "R&D"}, &model.Category{})); !strings.Contains(got, want) {
			t.Errorf("%s has not %s", got, want)
		}
	}
	for name, want := range map[string]string{"ris": `''\r\nPY`, "csl": `''","author"`} { // formats without a subtitle
		i := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name })
		want = strings.Replace(strings.ReplaceAll(want, `\r\n`, "\r\n"), "''", "'': S: T", 1)
		if got := string(Formats[i].Append(nil, full, &model.Genre{}, &model.Category{})); !strings.Contains(got, want) {
			t.Errorf("%s has not %s", got, want)
		}
	}
	book.PublishedAt = model.Date{Year: 1957, Month: 1, Day: 1}
	for _, f := range Formats {
		text := string(f.Append(nil, book, &model.Genre{}, &model.Category{}))
		want, not := map[string]string{"bibtex": "year = {1957},\n  pagetotal", "ris": "PY  - 1957\r\nSP", "csl": `"date-parts":[[1957]]`, "marcxml": `<subfield code="c">1957<`}[f.Name], "jan"
		if !strings.Contains(text, want) || strings.Contains(text, not) {
			t.Errorf("a year: %s", text)
		}
	}
	if items[0]["title"] != book.Name || items[0]["abstract"] != description {
		t.Errorf("%q", items[0])
	}
}
