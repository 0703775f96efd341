package resolvers_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/server/servertest"
)

const historyOfBook = `query ($id: ID!, $after: String) { history(type: BOOK, id: $id, first: 10, after: $after) {
	nodes { position operation version at actor book { name genre { name category { name } } } } hasMore } }`

type loggedChange struct {
	Position, Operation, At string
	Version                 int
	Actor                   *string
	Book                    *struct {
		Name  string
		Genre struct {
			Name     string
			Category struct{ Name string }
		}
	}
}

// changesOf returns the history of the book 1, newest first.
func changesOf(t *testing.T, c *servertest.Client) []loggedChange {
	t.Helper()
	a := c.Ask(t, historyOfBook, `{"id":"1"}`)
	var data struct {
		History struct{ Nodes []loggedChange }
	}
	must(t, json.Unmarshal(a.Data, &data))
	if len(a.Errors) > 0 {
		t.Fatalf("%+v", a.Errors)
	}
	return data.History.Nodes
}

// tell writes changes as texts.
func tell(changes []loggedChange) string {
	var texts []string
	for _, c := range changes {
		text := fmt.Sprint(c.Operation, " v", c.Version)
		if c.Book != nil {
			text += fmt.Sprintf(" %s in %s of %s", c.Book.Name, c.Book.Genre.Name, c.Book.Genre.Category.Name)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n")
}

// historied changes the shelf's book 1 as a caller and as another program, and renames its genre in between. Reading the
// history gives each change a time of its own.
func historied(t *testing.T, c *servertest.Client, url string) {
	t.Helper()
	c.Shelves(t)
	changesOf(t, c)
	c.Get(t, `mutation { updateBook(input: {id: 1, patch: {name: "Second"}}) { book { id } } }`, "{}")
	changesOf(t, c)
	c.Get(t, `mutation { updateGenre(input: {id: 1, patch: {name: "Renamed"}}) { genre { id } } }`, "{}")
	execSQL(t, url, `UPDATE books SET name = 'Third' WHERE id = 1`)
}

func TestPast(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		historied(t, c, url)
		changes := changesOf(t, c)
		first := changes[2].Book.Genre
		want := fmt.Sprintf("UPDATE v3 Third in Renamed of %[2]s\nUPDATE v2 Second in %[1]s of %[2]s\nCREATE v1 %[3]s in %[1]s of %[2]s", first.Name, first.Category.Name, changes[2].Book.Name)
		if got := tell(changes); got != want || first.Name == "Renamed" {
			t.Errorf("the history is\n%s\nwant\n%s", got, want)
		}
		c.Want(t, `query ($a: DateTime!, $b: DateTime!) { a: book(id: 1, asOf: $a) { name genre { name } } b: book(id: 1, asOf: $b) { name genre { name } } }`,
			`{"a":"`+changes[0].At+`","b":"`+changes[1].At+`"}`, `{"a":{"name":"Third","genre":{"name":"Renamed"}},"b":{"name":"Second","genre":{"name":"`+first.Name+`"}}}`)
		c.Want(t, `query ($at: DateTime!) { book(id: 99, asOf: $at) { name } genre(id: 1, asOf: $at) { name version } category(id: 1, asOf: $at) { version } }`,
			`{"at":"`+changes[2].At+`"}`, `{"book":null,"genre":{"name":"`+first.Name+`","version":1},"category":{"version":1}}`)
		c.WantError(t, `{ book(id: 1, asOf: "2999-01-01T00:00:00Z") { name } }`, "{}", "BAD_USER_INPUT", "must not be in the future")
		c.WantError(t, `{ book(id: 1, asOf: "2001-01-01T00:00:00Z") { name } }`, "{}", "POSITION_GONE", "begins after")
		c.WantError(t, `query ($at: DateTime) { book(id: 1, asOf: $at) { name } }`, `{"at":"yesterday"}`, "BAD_USER_INPUT", "")
		c.WantError(t, `query ($at: DateTime!) { genre(id: 1, asOf: $at) { books { totalCount } } }`, `{"at":"`+changes[2].At+`"}`, "BAD_USER_INPUT", "lists of a row of the past")
		c.WantError(t, `{ history(type: BOOK, id: 1, first: 0) { hasMore } }`, "{}", "BAD_USER_INPUT", "between 1 and 1000")
		c.WantError(t, `{ history(type: BOOK, id: 1, after: "x") { hasMore } }`, "{}", "BAD_USER_INPUT", "position")
		c.WantError(t, `{ history(type: BOOK, id: 1, after: "1.1") { hasMore } }`, "{}", "POSITION_GONE", "")
	})
}

// TestPurgedPast asks for books of a genre whose earlier names were purged: the genre of then is an error, as at the
// first level, and the book itself is answered.
func TestPurgedPast(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		historied(t, c, url)
		changes := changesOf(t, c)
		_, err := catalogtest.Open(t, url).PurgeRow(t.Context(), model.TypeGenre, 1)
		must(t, err)
		at := `{"at":"` + changes[1].At + `"}`
		c.Want(t, `query ($at: DateTime!) { book(id: 1, asOf: $at) { name } }`, at, `{"book":{"name":"Second"}}`)
		for _, query := range []string{`genre(id: 1, asOf: $at) { name }`, `book(id: 1, asOf: $at) { genre { name } }`} {
			c.WantError(t, `query ($at: DateTime!) { `+query+` }`, at, "POSITION_GONE", "The genre 1 as it was then was purged")
		}
	})
}

// TestRecent reads the newest changes. A filter by actor needs a token, because the rows found would tell it.
func TestRecent(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		historied(t, c, url)
		c.Get(t, `mutation { deleteBook(input: {id: 1}) { deletedBookId } }`, "{}")
		const newest = `{ recentChanges(first: 2, types: [BOOK]) { nodes { operation rowId version name book { name } } hasMore } }`
		c.Want(t, newest, "{}", `{"recentChanges":{"nodes":[{"operation":"DELETE","rowId":"1","version":3,"name":"Third","book":null},
{"operation":"UPDATE","rowId":"1","version":3,"name":"Third","book":{"name":"Third"}}],"hasMore":true}}`)
		c.Want(t, `{ history(type: BOOK, id: 1, first: 2) { nodes { operation name } } }`, "{}", `{"history":{"nodes":[{"operation":"DELETE","name":"Third"},{"operation":"UPDATE","name":"Third"}]}}`)
		c.WantError(t, `{ recentChanges(after: "1.1") { hasMore } }`, "{}", "POSITION_GONE", "")
		const by = `query ($actor: String!) { recentChanges(actor: $actor, operations: [DELETE], since: "2001-01-01T00:00:00Z") { nodes { operation rowId actor } } }`
		c.Want(t, by, `{"actor":"tester"}`, `{"recentChanges":{"nodes":[{"operation":"DELETE","rowId":"1","actor":"tester"}]}}`)
		c.WantError(t, by, `{"actor":"tester"}`, "UNAUTHENTICATED", "", "Authorization:")
		c.WantError(t, `{ recentChanges(first: 0) { hasMore } }`, "{}", "BAD_USER_INPUT", "between 1 and 1000")
	})
}

func TestRestore(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		historied(t, c, url)
		const restore = `mutation ($id: ID!, $position: String, $version: Int) { restoreBook(input: {id: $id, position: $position, expectedVersion: $version}) { book { id version name } } }`
		changes := changesOf(t, c)
		oldest := changes[2]
		in := func(id, position string) string { return `{"id":"` + id + `","position":"` + position + `"}` }
		c.Want(t, restore, in("1", oldest.Position), `{"restoreBook":{"book":{"id":"1","version":4,"name":"`+oldest.Book.Name+`"}}}`)
		c.Want(t, restore, `{"id":"1","version":4}`, `{"restoreBook":{"book":{"id":"1","version":5,"name":"Third"}}}`)
		c.WantError(t, restore, `{"id":"1","version":4}`, "CONFLICT", "changed by someone else")
		c.WantError(t, restore, in("2", oldest.Position), "NOT_FOUND", "not of a change of this book")
		c.WantError(t, restore, in("1", "5.5"), "POSITION_GONE", "")
		c.WantError(t, restore, in("1", "here"), "BAD_USER_INPUT", "position")
		c.WantError(t, restore, `{"id":"999"}`, "NOT_FOUND", "Book not found")
		c.Get(t, `mutation { deleteBook(input: {id: 1}) { deletedBookId } }`, "{}")
		deleted := changesOf(t, c)[0]
		c.WantError(t, restore, in("1", deleted.Position), "BAD_USER_INPUT", "deleted the row")
		c.Get(t, `mutation { deleteGenre(input: {id: 1, onChildren: CASCADE}) { deletedGenreId } }`, "{}")
		c.WantError(t, restore, `{"id":"1"}`, "CONFLICT", "Restore that genre first")
		c.Want(t, `mutation { restoreGenre(input: {id: 1}) { genre { id name version } } }`, "{}", `{"restoreGenre":{"genre":{"id":"1","name":"Renamed","version":3}}}`)
		if got := c.WantError(t, restore, `{"id":"1","version":4}`, "CONFLICT", "changed by someone else").Extensions.CurrentVersion; got != 5 {
			t.Errorf("the current version of the deleted book is %d, want 5", got)
		}
		c.Want(t, restore, `{"id":"1","version":5}`, `{"restoreBook":{"book":{"id":"1","version":6,"name":"Third"}}}`)
		if got := changesOf(t, c); got[0].Operation != "CREATE" || got[0].Version != 6 || got[1].Operation != "DELETE" {
			t.Errorf("after the restore: %s", tell(got))
		}
		c.WantError(t, restore, `{"id":"1"}`, "BAD_USER_INPUT", "Delete the book to take it back")
		// The same key answers again and changes nothing.
		body := `{"query":` + servertest.Encode(t, restore) + `,"variables":` + in("1", oldest.Position) + `}`
		var answers []string
		for range 2 {
			answers = append(answers, c.Do(http.MethodPost, "/graphql", body, "Idempotency-Key: once").Body.String())
		}
		if answers[0] != answers[1] || !strings.Contains(answers[0], `"version":7`) {
			t.Errorf("with one key: %q", answers)
		}
	})
}

// TestHistoryForCallers shows the actor to callers with a token, and needs the scope of the write that a restore is.
func TestHistoryForCallers(t *testing.T) {
	t.Parallel()
	c := servertest.ServeScoped(t)
	c.Shelves(t)
	c.Get(t, `mutation { updateBook(input: {id: 1, patch: {name: "Second"}}) { book { id } } }`, "{}")
	if actor := changesOf(t, c)[0].Actor; actor == nil || *actor != "tester" {
		t.Errorf("with a token the actor is %v", actor)
	}
	all := c.Token
	c.Token = ""
	if actor := changesOf(t, c)[0].Actor; actor != nil {
		t.Errorf("without a token the actor is %s", *actor)
	}
	const restore = `mutation { restoreBook(input: {id: 1}) { book { name } } }`
	c.WantError(t, restore, "{}", "UNAUTHENTICATED", "")
	c.Token = servertest.TokenFor(t, "books:create")
	c.WantError(t, restore, "{}", "FORBIDDEN", "books:update")
	c.Token = all
	c.Get(t, `mutation { deleteBook(input: {id: 1}) { deletedBookId } }`, "{}")
	c.Token = servertest.TokenFor(t, "books:update")
	c.WantError(t, restore, "{}", "FORBIDDEN", "books:create")
	c.Token = servertest.TokenFor(t, "books:create")
	c.Want(t, restore, "{}", `{"restoreBook":{"book":{"name":"Second"}}}`)
}
