package resolvers_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server/servertest"
)

// troubles are the count, the pairs and the books of a kind, and the pairs that are marked, each as one text.
func troubles(t *testing.T, c *servertest.Client, kind string) string {
	t.Helper()
	var data struct {
		Troubles []struct {
			Kind             string
			Count            int
			Pairs, Different []struct{ One, Other string }
			Books            []struct{ ID string }
		}
	}
	must(t, json.Unmarshal(c.Ask(t, `{ troubles(kinds: [`+kind+`]) { kind count pairs { one other } different { one other } books { id } } }`, "{}").Data, &data))
	found := data.Troubles[0]
	if found.Kind != kind {
		t.Errorf("%s for %s", found.Kind, kind)
	}
	text := fmt.Sprint(found.Count)
	for _, p := range found.Pairs {
		text += fmt.Sprintf(" %s=%s", p.One, p.Other)
	}
	for _, p := range found.Different {
		text += fmt.Sprintf(" %s≠%s", p.One, p.Other)
	}
	for _, b := range found.Books {
		text += " #" + b.ID
	}
	return text
}

// createTroubled creates books with a value of each kind of troubles, and near misses. The fields replace those of a
// book without troubles.
func createTroubled(t *testing.T, c *servertest.Client, books ...string) {
	t.Helper()
	for i, fields := range books {
		book := map[string]any{"name": fmt.Sprintf("Book %d", i), "author": fmt.Sprintf("Author %d", i), "pages": 2, "publishedAt": "1450-01-01", "price": "0.01",
			"isbn": nil, "publisher": fmt.Sprintf("House %d", i), "language": "en", "genreId": "1"}
		must(t, json.Unmarshal([]byte("{"+fields+"}"), &book))
		c.Get(t, `mutation ($input: CreateBookInput!) { createBook(input: $input) { book { id } } }`, `{"input":`+servertest.Encode(t, book)+`}`)
	}
}

// TestTroubles finds each kind of troubles, but not what is nearly one.
func TestTroubles(t *testing.T) {
	t.Parallel()
	today, tomorrow := time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly), time.Now().UTC().AddDate(0, 0, 2).Format(time.DateOnly)
	for kind, of := range map[string]struct {
		want  string
		books []string
	}{
		"SIMILAR_AUTHORS": {"5 J.R.R. Tolkien=JRR Tolkien J.R.R. Tolkien=Tolkien, J. R. R. Astrid Lindgren=Astrid Lindgrenn Astrid Lindgrenn=Astrid Lindgrfenn Selma Lagerlöf=Selma Lagrelöf", []string{
			`"author":"J.R.R. Tolkien"`, `"author":"Tolkien, J. R. R."`, `"author":"JRR Tolkien"`,
			`"author":"Astrid Lindgren"`, `"author":"Astrid Lindgrenn"`, `"author":"Astrid Lindgrfenn"`, `"author":"Selma Lagerlöf"`, `"author":"Selma Lagrelöf"`,
			`"author":"A. Brown"`, `"author":"B. Brown"`, `"author":"Plato"`, `"author":"Platt"`, `"author":"Group 47"`, `"author":"Group 48"`}},
		"SIMILAR_PUBLISHERS": {"2 PENGUIN=Penguin PENGUIN=Pengiun", []string{`"publisher":"Penguin"`, `"publisher":"PENGUIN"`, `"publisher":"Pengiun"`, `"publisher":"Puffin"`, `"publisher":"Ace"`, `"publisher":"Acé"`}},
		"SAME_BOOK": {"3 10=9 3=4 1=2 #1 #2 #3 #4 #9 #10", []string{
			`"name":"Momo","author":"Michael Ende"`, `"name":"MOMO","author":"Ende, Michael"`,
			`"name":"Jim","author":"One","isbn":"9780261102217"`, `"name":"Jim","author":"Another","isbn":"9780261102217"`,
			`"name":"Momo","author":"Another"`, `"name":"Momo!","author":"Michael Ende"`,
			`"name":"Dune","author":"H","shelfMark":"R 1"`, `"name":"Dune","author":"H","shelfMark":"R 2"`,
			`"name":"Emma","author":"A","isbn":"9783161484100"`, `"name":"Emma","author":"A"`}},
		"SAME_SHELF_MARK": {"3 1=2 2=3 1=4 #1 #2 #3 #4", []string{`"name":"Momo","shelfMark":"R 1"`, `"name":"Jim","shelfMark":"r 1"`, `"name":"Momo","shelfMark":"R 1"`,
			`"name":"Dune","shelfMark":"R 1"`, `"name":"Emma","shelfMark":"R 10"`, `"shelfMark":null`, `"shelfMark":null`}},
		"NO_ISBN":      {"1 #1", []string{`"isbn":null`, `"isbn":"9780261102217"`}},
		"NO_PUBLISHER": {"1 #2", []string{`"publisher":"A"`, `"publisher":null`}},
		"NO_LANGUAGE":  {"1 #2", []string{`"language":"en"`, `"language":null`}},
		"FUTURE_DATE":  {"1 #2", []string{`"publishedAt":"` + today + `"`, `"publishedAt":"` + tomorrow + `"`}},
		"EARLY_DATE":   {"1 #2", []string{`"publishedAt":"1450-01-01"`, `"publishedAt":"1449-12-31"`}},
		"NO_PRICE":     {"1 #2", []string{`"price":"0.01"`, `"price":"0"`}},
		"ONE_PAGE":     {"1 #2", []string{`"pages":2`, `"pages":1`}},
		"SIMILAR_GENRES": {"2 Fantasy=fantasy Fantasy=Fantazy", []string{
			`"genreId":null,"genre":{"create":{"name":"fantasy","categoryId":1}}`, `"genreId":null,"genre":{"create":{"name":"Fantazy","categoryId":1}}`,
			`"genreId":null,"genre":{"create":{"name":"Fantasy","category":{"create":{"name":"Other"}}}}`, `"genreId":null,"genre":{"create":{"name":"Poetry","categoryId":1}}`}},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			catalogtest.Each(t, func(t *testing.T, url string) {
				c := servertest.Serve(t, url)
				c.Get(t, `mutation { createGenre(input: {name: "Fantasy", category: {create: {name: "Fiction"}}}) { genre { id } } }`, "{}")
				createTroubled(t, c, of.books...)
				if diff := cmp.Diff(of.want, troubles(t, c, kind)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				for i := range of.books { // never stale after a write
					c.Get(t, fmt.Sprintf(`mutation { deleteBook(input: {id: %d}) { deletedBookId } }`, i+1), "{}")
				}
				if got := troubles(t, c, kind); got != "0" && kind != "SIMILAR_GENRES" {
					t.Errorf("without books: %s", got)
				}
			})
		})
	}
}

// TestMarkDifferent marks pairs and takes marks back, also with a cache of responses.
func TestMarkDifferent(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.ServeCached(t, url, 1<<20)
		c.Get(t, `mutation { createGenre(input: {name: "Fantasy", category: {create: {name: "Fiction"}}}) { genre { id } } }`, "{}")
		long := strings.Repeat("Ω", 999)
		createTroubled(t, c, `"name":"Momo","author":"`+long+`a"`, `"name":"Momo","author":"`+long+`b"`, `"name":"Jim","author":"E"`, `"name":"Jim","author":"E"`, `"name":"Jim","author":"E"`)
		mark := func(kind, one, other string, different bool) {
			t.Helper()
			variables := servertest.Encode(t, map[string]any{"input": map[string]any{"kind": kind, "one": one, "other": other, "different": different}})
			c.Want(t, `mutation ($input: MarkDifferentInput!) { markDifferent(input: $input) { different } }`, variables, fmt.Sprintf(`{"markDifferent":{"different":%t}}`, different))
		}
		want := func(kind, want string) {
			t.Helper()
			if got := troubles(t, c, kind); got != want {
				t.Errorf("%s: %s, want %s", kind, got, want)
			}
		}
		want("SIMILAR_AUTHORS", "1 "+long+"a="+long+"b")
		for range 2 {
			mark("SIMILAR_AUTHORS", long+"b", " "+long+"a", true)
			want("SIMILAR_AUTHORS", "0 "+long+"a≠"+long+"b")
		}
		for range 2 {
			mark("SIMILAR_AUTHORS", long+"a", long+"b", false)
			want("SIMILAR_AUTHORS", "1 "+long+"a="+long+"b")
		}
		want("SAME_BOOK", "2 7=8 7=9 #7 #8 #9")
		mark("SAME_BOOK", "9", "7", true)
		want("SAME_BOOK", "2 7=8 8=9 7≠9 #7 #8 #9") // the others may still be the same
		mark("SAME_BOOK", "8", "9", true)
		want("SAME_BOOK", "1 7=8 8≠9 7≠9 #7 #8 #9")
		want("SIMILAR_AUTHORS", "1 "+long+"a="+long+"b")
		for _, input := range []string{`kind: NO_ISBN, one: "a", other: "b"`, `kind: SAME_BOOK, one: " ", other: "b"`, `kind: SAME_BOOK, one: "a\u0000", other: "b"`, `kind: SIMILAR_GENRES, one: "a", other: "` + long + `ab"`} {
			c.WantError(t, `mutation { markDifferent(input: {`+input+`}) { different } }`, "", "BAD_USER_INPUT", "")
		}
	})
}

// TestTroublesForCallers needs catalogue:read for troubles.
func TestTroublesForCallers(t *testing.T) {
	t.Parallel()
	c := servertest.ServeScoped(t)
	for token, code := range map[string]string{"": "UNAUTHENTICATED", servertest.TokenFor(t, "books:update"): "FORBIDDEN"} {
		c.Token = token
		c.WantError(t, `{ troubles { kind count } }`, "", code, "")
	}
	c.Token = servertest.TokenFor(t, "catalogue:read")
	if got := troubles(t, c, "SAME_BOOK"); got != "0" {
		t.Errorf("with the scope: %s", got)
	}
	c.WantError(t, `mutation { markDifferent(input: {kind: SAME_BOOK, one: "1", other: "2"}) { different } }`, "", "FORBIDDEN", "books:update")
}
