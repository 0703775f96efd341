package citation

import (
	"encoding/json"
	"strings"
	"testing"

	"library-catalogue/graph/model"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for author, want := range map[string][]Name{
		"J. R. R. Tolkien":          {{Given: "J. R. R.", Family: "Tolkien"}},
		"Ludwig van Beethoven":      {{Given: "Ludwig", Particle: "van", Family: "Beethoven"}},
		"Hugo von der Mark":         {{Given: "Hugo", Particle: "von der", Family: "Mark"}},
		"Oscar de La Hoya":          {{Given: "Oscar", Particle: "de", Family: "La Hoya"}},
		"Ursula K. Le Guin":         {{Given: "Ursula K.", Family: "Le Guin"}},
		"Van Morrison":              {{Given: "Van", Family: "Morrison"}},
		"bell hooks":                {{Given: "bell", Family: "hooks"}},
		"Kurt Vonnegut Jr.":         {{Given: "Kurt", Family: "Vonnegut", Suffix: "Jr."}},
		"Martin Luther King, Jr.":   {{Given: "Martin Luther", Family: "King", Suffix: "Jr."}},
		"Plato,  , 伊藤 潤二":           {{Text: "Plato"}, {Text: "伊藤 潤二"}},
		"Museum of Modern Art":      {{Text: "Museum of Modern Art", Institution: true}},
		"Augustine of Hippo":        {{Text: "Augustine of Hippo"}},
		"Simon & Schuster":          {{Text: "Simon & Schuster"}},
		"Dante (Alighieri)":         {{Text: "Dante (Alighieri)"}},
		"Neil Gaiman,Terry\n Jones": {{Given: "Neil", Family: "Gaiman"}, {Given: "Terry", Family: "Jones"}},
		",":                         nil,
	} {
		got := Names(author)
		if len(got) != len(want) {
			t.Errorf("%s: %+v", author, got)
			continue
		}
		for i, name := range got {
			if want[i].Text == "" {
				name.Text = ""
			}
			if name != want[i] {
				t.Errorf("%s: %+v, want %+v", author, name, want[i])
			}
		}
	}
}

// TestEncoders compares a hard book in each format. Other programs read such books in .ci/conformance.
func TestEncoders(t *testing.T) {
	t.Parallel()
	description := "One\r\nER  - \nTwo"
	book := &model.Book{
		ID: 7, Name: "{A} & \\ ~^$%#_ -- <é> \"日本\"\n''", Author: "Ludwig van Beethoven, Simon and Schuster, Kurt Vonnegut Jr.", Pages: 12,
		PublishedAt: model.Date{Year: 800, Month: 9, Day: 1}, Description: &description,
	}
	texts := map[string]string{}
	for _, f := range Formats {
		texts[f.Name] = f.Begin + string(f.Append(nil, book, &model.Genre{Name: "R&D"}, nil)) + f.End
	}
	want := `@book{book7,
  author = {van Beethoven, Ludwig and {Simon and Schuster} and Vonnegut, Jr., Kurt},
  title = {\textbraceleft{}A\textbraceright{} \& \textbackslash{} \textasciitilde{}\textasciicircum{}\$\%\#\_ -{}- <é> "日本" '{}'},
  year = {800},
  month = sep,
  pagetotal = {12},
  keywords = {R\&D},
  abstract = {One ER - Two}
}

`
	if got := texts["bibtex"]; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	want = "TY  - BOOK|ID  - book7|AU  - van Beethoven, Ludwig|AU  - Simon and Schuster|AU  - Vonnegut, Kurt, Jr.|TI  - {A} & \\ ~^$%#_ -- <é> \"日本\" ''|" +
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
		"author": `[{"family":"Beethoven","given":"Ludwig","non-dropping-particle":"van"},{"literal":"Simon and Schuster"},{"family":"Vonnegut","given":"Kurt","suffix":"Jr."}]`,
	} {
		if got, _ := json.Marshal(items[0][field]); string(got) != want {
			t.Errorf("%s: %s, want %s", field, got, want)
		}
	}
	if items[0]["title"] != book.Name || items[0]["abstract"] != description {
		t.Errorf("%q", items[0])
	}
}
