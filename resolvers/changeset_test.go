package resolvers_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server/servertest"
)

// newestSet returns the id of the set of the newest change.
func newestSet(t *testing.T, c *servertest.Client) string {
	t.Helper()
	var data struct {
		RecentChanges struct {
			Nodes []struct{ ChangeSet struct{ ID string } }
		}
	}
	must(t, json.Unmarshal(c.Ask(t, `{ recentChanges(first: 1) { nodes { changeSet { id } } } }`, "{}").Data, &data))
	return data.RecentChanges.Nodes[0].ChangeSet.ID
}

const undoSet = `mutation ($id: ID!, $on: OnConflict! = REJECT, $dry: Boolean! = false) { undoChangeSet(input: {id: $id, onConflict: $on, dryRun: $dry}) {
	rows { type rowId operation conflict } } }`

func TestUndo(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		c.Get(t, `mutation { createBook(input: {name: "Momo", pages: 304, publishedAt: "1973-01-01", author: "E", price: "9.99",
			genre: {create: {name: "New", category: {create: {name: "New"}}}}}) { book { id } } }`, "{}")
		created := `{"id":"` + newestSet(t, c) + `"}`
		const read = `query ($id: ID!) { changeSet(id: $id) { id actor operation counts { type operation count } changes(first: 2) { nodes { type name changeSet { operation } } hasMore } } }`
		c.Want(t, read, created, `{"changeSet":{"id":"`+newestSet(t, c)+`","actor":"tester","operation":"CREATE",
"counts":[{"type":"BOOK","operation":"CREATE","count":1},{"type":"CATEGORY","operation":"CREATE","count":1},{"type":"GENRE","operation":"CREATE","count":1}],
"changes":{"nodes":[{"type":"CATEGORY","name":"New","changeSet":{"operation":"CREATE"}},{"type":"GENRE","name":"New","changeSet":{"operation":"CREATE"}}],"hasMore":true}}}`)
		const rows = `{"undoChangeSet":{"rows":[{"type":"CATEGORY","rowId":"1","operation":"DELETE","conflict":null},
{"type":"GENRE","rowId":"1","operation":"DELETE","conflict":null},{"type":"BOOK","rowId":"1","operation":"DELETE","conflict":null}]}}`
		dry := strings.TrimSuffix(created, "}") + `,"dry":true}`
		c.Want(t, undoSet, dry, rows)
		c.Want(t, `{ books { totalCount } }`, "{}", `{"books":{"totalCount":1}}`)
		for range 2 { // a dry run does not use the key
			body := `{"query":` + servertest.Encode(t, undoSet) + `,"variables":` + dry + `}`
			if got := c.Do(http.MethodPost, "/graphql", body, "Idempotency-Key: dry"); got.Header().Get("Idempotency-Replayed") != "" || !strings.Contains(got.Body.String(), `"operation":"DELETE"`) {
				t.Errorf("with a key a dry run is %s", got.Body)
			}
		}

		// A book of another set keeps the genre, and the genre its category.
		c.Get(t, `mutation { createBook(input: {name: "Jim", pages: 1, publishedAt: "1960-01-01", author: "E", price: "1", genreId: 1}) { book { id } } }`, "{}")
		other := `{"id":"` + newestSet(t, c) + `"}`
		c.WantError(t, undoSet, created, "CONFLICT", "category 1 has other rows now; genre 1 has other rows now")
		c.Want(t, undoSet, other, `{"undoChangeSet":{"rows":[{"type":"BOOK","rowId":"2","operation":"DELETE","conflict":null}]}}`)
		c.Want(t, undoSet, created, rows)
		c.WantError(t, undoSet, created, "CONFLICT", "book 1 has changed since")
		c.Want(t, `{ categories { totalCount } }`, "{}", `{"categories":{"totalCount":0}}`)
		again := `{"id":"` + newestSet(t, c) + `"}`
		c.Want(t, undoSet, again, strings.ReplaceAll(rows, "DELETE", "CREATE"))
		c.Want(t, `{ book(id: 1) { name version genre { name category { name } } } }`, "{}", `{"book":{"name":"Momo","version":2,"genre":{"name":"New","category":{"name":"New"}}}}`)

		for id, code := range map[string]string{"x": "BAD_USER_INPUT", "1.x": "BAD_USER_INPUT", "": "BAD_USER_INPUT", "12": "POSITION_GONE", "1.1": "POSITION_GONE"} {
			c.WantError(t, undoSet, `{"id":"`+id+`"}`, code, "")
			c.WantError(t, read, `{"id":"`+id+`"}`, code, "")
		}
	})
}

// TestUndoMissingParent undoes a deletion whose genre was deleted since: the book is a conflict, and others come back.
func TestUndoMissingParent(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		c.Shelves(t)
		c.Get(t, `mutation { deleteBook(input: {id: 1}) { deletedBookId } }`, "{}")
		set := `{"id":"` + newestSet(t, c) + `"}`
		c.Get(t, `mutation { deleteGenre(input: {id: 1, onChildren: CASCADE}) { deletedGenreId } }`, "{}")
		c.WantError(t, undoSet, set, "CONFLICT", "book 1 has lost its genre or category")
		c.Get(t, undoSet, `{"id":"`+newestSet(t, c)+`"}`)
		c.Want(t, undoSet, set, `{"undoChangeSet":{"rows":[{"type":"BOOK","rowId":"1","operation":"CREATE","conflict":null}]}}`)
	})
}

// TestUndoForCallers needs the scope of each write that an undo is.
func TestUndoForCallers(t *testing.T) {
	t.Parallel()
	c := servertest.ServeScoped(t)
	c.Shelves(t)
	c.Get(t, `mutation { updateBook(input: {id: 1, patch: {name: "Second"}}) { book { id } } }`, "{}")
	set, all := `{"id":"`+newestSet(t, c)+`"}`, c.Token
	c.Token = ""
	c.WantError(t, undoSet, set, "UNAUTHENTICATED", "")
	c.Token = servertest.TokenFor(t, "books:create", "books:delete", "genres:update")
	c.WantError(t, undoSet, set, "FORBIDDEN", "books:update")
	c.WantError(t, undoSet, strings.TrimSuffix(set, "}")+`,"dry":true}`, "FORBIDDEN", "books:update")
	c.Token = all
	c.Get(t, `mutation { deleteGenre(input: {id: 1, onChildren: CASCADE}) { deletedGenreId } }`, "{}")
	set = `{"id":"` + newestSet(t, c) + `"}`
	c.Token = servertest.TokenFor(t, "books:create", "books:update")
	c.WantError(t, undoSet, set, "FORBIDDEN", "genres:create")
	c.Token = servertest.TokenFor(t, "books:create", "genres:create")
	c.Get(t, undoSet, set)
}
