package marc

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/graph/model"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// books are books with hard values.
func books() []*model.Book {
	at := model.Timestamp(time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC).UnixMicro())
	return []*model.Book{
		{
			ID: 7, Name: "Die {Räuber} & <Co>", Author: "Ludwig van Beethoven, Museum of Arts and Crafts, Kurt Vonnegut Jr., Plato", Pages: 12,
			PublishedAt: model.Date{Year: 800, Month: 9, Day: 1}, Price: 1999, CreatedAt: at, UpdatedAt: at,
			Description: new("One\ttab\r\nTwo\n\nThree\n\n\n\n\x00Four"),
			ISBN:        new("9783161484100"), Publisher: new("R & D, Inc."), Language: new("de"), ShelfMark: new("A 1 \"b\""),
			Subtitle: new("Ein  Schauspiel"), Series: new("Reclams Bibliothek"), SeriesNumber: new("IV"),
		},
		{ID: 8, Name: "The red river /", Author: "J. R. R. Tolkien", Pages: 1, PublishedAt: model.Date{Year: 1957, Month: 1, Day: 1}, Language: new("pt-BR")},
	}
}

// TestFromBook compares the records of books with a golden file. Other programs read it in .ci/conformance.
func TestFromBook(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	got.WriteString(CollectionStart)
	for _, b := range books() {
		got.Write(AppendBook(nil, b, &model.Genre{Name: "R&D"}, &model.Category{Name: "Works"}))
	}
	got.WriteString(CollectionEnd)
	const golden = "testdata/books.marcxml"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}

// TestXMLText: the text of a field is XML with any text, and the same after it.
func TestXMLText(t *testing.T) {
	t.Parallel()
	text := " a<b>&\"'\r\n\té\x00\x1f\xff\uFFFE\uFFFD😀 "
	r := Record{Leader: leader, Data: []DataField{field("245", "00", "a", text)}}
	in := xml.NewDecoder(bytes.NewReader(AppendXML(nil, r)))
	var got string
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if chars, ok := token.(xml.CharData); ok && strings.Contains(string(chars), "a<b>") {
			got = string(chars)
		}
	}
	if want := " a<b>&\"'\r\n\té\uFFFD😀 "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFixedLength(t *testing.T) {
	t.Parallel()
	for _, b := range books() {
		code, _ := languageCode(*b.Language)
		if got := fixedLength(b, code); len(got) != 40 || got[35:38] != code {
			t.Errorf("%q", got)
		}
	}
	if len(leader) != 24 {
		t.Error(leader)
	}
}

func TestLanguageCode(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"de": "ger", "en": "eng", "zh": "chi", "fr": "fre", "nb": "nob", "grc": "grc", "mul": "mul", "cmn": "chi ~", "yue": "und ~", "pt-BR": "por ~",
		"zh-Hant": "chi ~", "sr-Latn": "srp ~", "pdt": "und ~", "x-klingon": "und ~", "": "und ~",
	} {
		code, isExact := languageCode(tag)
		if !isExact {
			code += " ~"
		}
		if code != want {
			t.Errorf("%s: %s, want %s", tag, code, want)
		}
	}
}

func TestNonfiling(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]int{
		"The river/eng": 4, "Them/eng": 0, "The/eng": 0, "Die Räuber/ger": 4, "Die hard/eng": 0, "L'été/fre": 2, "L’été/fre": 2, "The river/und": 4, "A la carte/und": 0,
	} {
		text, language, _ := strings.Cut(title, "/")
		if got := nonfiling(text, language); got != want {
			t.Errorf("%s: %d, want %d", title, got, want)
		}
	}
}

func TestParagraphs(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é ", 7_000)
	for text, want := range map[string]int{"": 0, "a\nb": 1, "a\n\nb": 2, "a\n\n\n\nb": 2, "a\n\n\nb": 2, long: 3, strings.Repeat("语", 7000): 3} {
		parts := paragraphs(text)
		for _, part := range parts {
			if len(part) > 9_900 || strings.Contains(part, "\n") {
				t.Errorf("%d bytes: %.20q", len(part), part)
			}
		}
		if len(parts) != want {
			t.Errorf("%.20q: %d parts, want %d", text, len(parts), want)
		}
	}
}

func TestStatement(t *testing.T) {
	t.Parallel()
	for author, want := range map[string]string{
		"J. R. R. Tolkien, Ann\nOne": "J.R.R. Tolkien, Ann One.", "Kurt Vonnegut Jr.": "Kurt Vonnegut Jr.", "Ann Inc. B. Two": "Ann Inc. B. Two.",
	} {
		if got := statement(author); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestNamesThatInvert: a name that would not be the same after an inversion is written as it is spoken.
func TestNamesThatInvert(t *testing.T) {
	t.Parallel()
	for _, authors := range []string{"Malcolm X", "Elizabeth I", "Nguyễn Văn A", "Plan B", "Ursula K. Le Guin", "Ludwig van Beethoven, Kurt Vonnegut Jr.", "Plato", "Random House, Inc."} {
		for _, publisher := range []string{"Pub", "Pub,", "Pub,,", "P;"} {
			b := &model.Book{ID: 1, Name: "A", Author: authors, Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, Publisher: &publisher}
			values := FromBook(b, &model.Genre{Name: "G"}, &model.Category{Name: "C"}).Values()
			if values["author"] != authors || values["publisher"] != publisher {
				t.Errorf("%s by %s: %s by %s", authors, publisher, values["author"], values["publisher"])
			}
		}
	}
}
