package importer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/graph/model"
)

// TestNotations reads a text as each notation has it.
func TestNotations(t *testing.T) {
	t.Parallel()
	for n, want := range map[notation]map[string]string{
		asWritten:   {"Sea /": "Sea /", `="0439"`: "0439", "['Ann One', 'Bo Ek']": "Ann One, Bo Ek"},
		own:         {"Sea /": "Sea /", `="0439"`: `="0439"`, "['Ann One']": "['Ann One']"},
		card:        {"Sea /": "Sea", "Sea": "Sea"},
		imprint:     {"Oslo: Aschehoug, 1987": "Aschehoug", "Aschehoug :": "Aschehoug :"},
		persons:     {"Lee, Ann /": "Lee, Ann"},
		marcPersons: {"Lee, Ann, 1950-": "Ann Lee"},
		genres:      {"Novel; Poems": "Novel", "Novel, Poems": "Novel", "Novel /": "Novel"},
		headings:    {"Novel; Poems": "Novel", "Africa, East": "Africa, East"},
		tags:        {"Novel, Poems": "Novel", "Novel /": "Novel /"},
		keywords:    {"Africa, East": "Africa, East", "Novel /": "Novel /"},
	} {
		got := map[string]string{}
		for text := range want {
			got[text], _ = (&reading{notation: n}).text(text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("notation %d: %s", n, diff)
		}
	}
}

// TestNotationOf finds the notations of the fields of a list, of our export, and of the formats of libraries.
func TestNotationOf(t *testing.T) {
	t.Parallel()
	const marc = "=LDR  00000nam a22000007i 4500\n=100  1\\$aLee, Ann.\n=245  10$aSea /\n=655  \\7$aFiction.\n\n"
	for text, want := range map[string]map[string]notation{
		"name,Titel,author,Autor,Publication,genre\nA,B,X,Y,Z,G\n":                                                {"name": asWritten, "author": asWritten, "publisher": imprint, "genre": genres},
		"Titel,Autor,Verlag,Genre\nA,X,Z,G\n":                                                                     {"name": card, "author": persons, "publisher": card, "genre": genres},
		"Titel,100$a,Genre,655$a\nA,X,Z,G\n":                                                                      {"author": marcPersons},
		"name,description,pages,published_at,author,price,genre,category,isbn,publisher,language,shelf_mark\n1\n": {"name": own, "pages": own, "genre": own, "published_at": own},
		strings.Join(model.ImportFields, ",") + "\n1\n":                                                           {"name": own, "subtitle": own, "series_number": own},
		marc: {"name": own, "genre": headings, "published_at": asWritten},
		"@book{a, title={A}, author={Ann Lee}, keywords={x, y}}\n": {"name": own, "genre": tags, "category": tags},
		"TY  - BOOK\nTI  - A\nAU  - Lee, Ann\nKW  - x\nER  - \n":   {"genre": keywords},
	} {
		f, _ := surveyOf(t, []byte(text), Options{})
		for field, notation := range want {
			if got := f.readings[field].notation; got != notation {
				t.Errorf("%q: the notation of %s is %d, not %d", text, field, got, notation)
			}
		}
	}
}
