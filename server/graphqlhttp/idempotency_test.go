package graphqlhttp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/server/servertest"
)

const anotherRequest = "This Idempotency-Key was used with another request. Use a new key for a new request."

// send sends a document under a key, and reports whether the answer is one that
// was given before.
func send(t *testing.T, c *servertest.Client, key, document, variables string, headers ...string) (body string, replayed bool) {
	t.Helper()
	request := map[string]any{"query": document}
	if variables != "" {
		request["variables"] = json.RawMessage(variables)
	}
	w := c.Do(http.MethodPost, "/graphql", servertest.Encode(t, request), append(headers, "Idempotency-Key: "+key)...)
	return w.Body.String(), w.Header().Get("Idempotency-Replayed") == "true"
}

const create = `mutation ($name: String!, $description: String) { createCategory(input: {name: $name, description: $description}) { category { id name createdAt } } }`

// TestIdempotencyKey sends mutations again, the same and others, under the same
// key and under others.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		first, replayed := send(t, c, "k", create, `{"name":"A","description":null}`)
		if replayed || !strings.Contains(first, `"id":"1"`) {
			t.Fatalf("%s, replayed %t", first, replayed)
		}
		// What becomes of the row meanwhile does not change the answer.
		c.Get(t, `mutation { deleteCategory(input: {id: 1}) { deletedCategoryId } }`, "")
		for _, variables := range []string{`{"name":"A","description":null}`, `{ "description" : null, "name":"\u0041" }`} {
			if again, replayed := send(t, c, "k", create, variables); !replayed || again != first {
				t.Errorf("%s: %s, replayed %t, want %s", variables, again, replayed, first)
			}
		}
		for document, variables := range map[string]string{create: `{"name":"B"}`, create + " ": `{"name":"A","description":null}`, `mutation { deleteCategory(input: {id: 9}) { deletedCategoryId } }`: ""} {
			if body, replayed := send(t, c, "k", document, variables); replayed || !strings.Contains(body, anotherRequest) || !strings.Contains(body, `"BAD_USER_INPUT"`) {
				t.Errorf("%s %s: %s", document, variables, body)
			}
		}
		if body, replayed := send(t, c, "K", create, `{"name":"A","description":null}`); replayed || !strings.Contains(body, `"id":"2"`) {
			t.Errorf("under another key: %s, replayed %t", body, replayed)
		}
		// Both endpoints have the same keys, and theirs are no same requests.
		if w := c.Do(http.MethodPost, "/api/categories", `{"name":"A"}`, "Idempotency-Key: k"); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), anotherRequest) {
			t.Errorf("under /api: %d %s", w.Code, w.Body)
		}
		// Each subject has its own.
		if body, replayed := send(t, c, "k", create, `{"name":"A","description":null}`, "Authorization: Bearer "+servertest.TokenOf(t, "somebody else")); replayed || !strings.Contains(body, `"id":"3"`) {
			t.Errorf("another's: %s, replayed %t", body, replayed)
		}
		if body, _ := send(t, c, "k", create, `{"name":"A","description":null}`, "Authorization:"); !strings.Contains(body, "UNAUTHENTICATED") || strings.Contains(body, `"id"`) {
			t.Errorf("nobody's: %s", body)
		}
		// A query needs no key, and one changes nothing.
		for range 2 {
			if body, replayed := send(t, c, "q", "{ categories { totalCount } }", ""); replayed || body != `{"data":{"categories":{"totalCount":2}}}` {
				t.Errorf("a query: %s, replayed %t", body, replayed)
			}
		}
		longest := strings.Repeat("k", 255)
		first, _ = send(t, c, longest, create, `{"name":"A"}`)
		for key, want := range map[string]string{longest: first, longest[1:] + "K": strings.ReplaceAll(first, `"4"`, `"5"`)} {
			if body, replayed := send(t, c, key, create, `{"name":"A"}`); replayed != (key == longest) || servertest.Timeless(body) != servertest.Timeless(want) {
				t.Errorf("%s: %s, replayed %t, want %s", key, body, replayed, want)
			}
		}
		for _, bad := range []string{strings.Repeat("k", 256), "ключ"} {
			if body, _ := send(t, c, bad, create, `{"name":"A"}`); !strings.Contains(body, "The Idempotency-Key header must be one key of 1 to 255 printable ASCII characters.") || !strings.Contains(body, `"BAD_USER_INPUT"`) {
				t.Errorf("%s: %s", bad, body)
			}
		}
		c.Want(t, "{ categories { totalCount } }", "", `{"categories":{"totalCount":4}}`)
	})
}

// TestIdempotentMutationIsWhole sends several mutations under one key: where one
// fails, nothing of them is kept, and the key is free.
func TestIdempotentMutationIsWhole(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		c.Shelves(t)
		before := c.Lengths(t)
		const document = `mutation ($genre: ID!) {
  a: createCategory(input: {name: "A"}) { category { id } }
  b: createBook(input: {` + servertest.BookInput + `, genreId: $genre}) { book { id genre { name } } }
  c: createCategory(input: {name: "C"}) { category { id genres { totalCount } } }
}`
		for range 2 {
			body, replayed := send(t, c, "k", document, `{"genre":99}`)
			if replayed || strings.Count(body, `"message"`) != 2 || !strings.Contains(body, "The selected genre id is invalid.") || !strings.HasPrefix(body, `{"data":null,`) {
				t.Errorf("%s, replayed %t", body, replayed)
			}
			if after := c.Lengths(t); after != before {
				t.Errorf("there were %s, and are %s", before, after)
			}
		}
		first, replayed := send(t, c, "k", document, `{"genre":1}`)
		if replayed || strings.Contains(first, "errors") || !strings.Contains(first, `"genre":{"name":"Fantasy"}`) {
			t.Errorf("%s, replayed %t", first, replayed)
		}
		if again, replayed := send(t, c, "k", document, `{"genre":1}`); !replayed || again != first {
			t.Errorf("%s, replayed %t, want %s", again, replayed, first)
		}
		c.Want(t, "{ categories { totalCount } books { totalCount } }", "", `{"categories":{"totalCount":4},"books":{"totalCount":5}}`)
		if c.Log.Has("level=ERROR") {
			t.Errorf("the log has an error:\n%s", c.Log)
		}
	})
}

// TestIdempotentMutationsAtOnce sends one mutation many times at once: it is
// carried out once, and everybody hears the same.
func TestIdempotentMutationsAtOnce(t *testing.T) {
	t.Parallel()
	const clients = 20
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		for round := range 3 {
			body := servertest.Encode(t, map[string]any{"query": create, "variables": map[string]string{"name": "A"}})
			answers := make([]*httptest.ResponseRecorder, clients)
			var all sync.WaitGroup
			for i := range answers {
				all.Go(func() {
					answers[i] = c.Do(http.MethodPost, "/graphql", body, fmt.Sprint("Idempotency-Key: ", round))
				})
			}
			all.Wait()
			fresh := 0
			for _, a := range answers {
				if a.Body.String() != answers[0].Body.String() || strings.Contains(a.Body.String(), "errors") {
					t.Errorf("%s, and another heard %s", a.Body, answers[0].Body)
				}
				if a.Header().Get("Idempotency-Replayed") == "" {
					fresh++
				}
			}
			if fresh != 1 {
				t.Errorf("%d were carried out", fresh)
			}
			c.Want(t, "{ categories { totalCount } }", "", fmt.Sprintf(`{"categories":{"totalCount":%d}}`, round+1))
		}
	})
}

// TestIdempotentMutationsThatMeet runs, under keys of their own, mutations that
// take the same rows in opposite orders: those that the database gives up are
// run again, and all are carried out.
func TestIdempotentMutationsThatMeet(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		c.Shelves(t)
		const rounds = 3
		for round := range rounds {
			var all sync.WaitGroup
			for first, second := range map[int]int{1: 2, 2: 1} {
				document := fmt.Sprintf(`mutation { a: updateBook(input: {id: %d, patch: {pages: 1}}) { book { id } } b: updateBook(input: {id: %d, patch: {pages: 2}}) { book { id } } }`, first, second)
				all.Go(func() {
					if body, replayed := send(t, c, fmt.Sprint(round, first), document, ""); replayed || strings.Contains(body, "errors") {
						t.Errorf("%s, replayed %t", body, replayed)
					}
				})
			}
			all.Wait()
		}
		c.Want(t, "{ a: book(id: 1) { version } b: book(id: 2) { version } }", "", fmt.Sprintf(`{"a":{"version":%d},"b":{"version":%[1]d}}`, 1+2*rounds))
		if c.Log.Has("level=ERROR") {
			t.Errorf("the log has an error:\n%s", c.Log)
		}
	})
}

// TestIdempotencyKeyOfOperations sends a document with two operations: each of
// them under the same key is another request.
func TestIdempotencyKeyOfOperations(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		const document = `mutation A { createCategory(input: {name: "A"}) { category { name } } } mutation B { createCategory(input: {name: "B"}) { category { name } } }`
		send := func(operation string) (body string, replayed bool) {
			w := c.Do(http.MethodPost, "/graphql", servertest.Encode(t, map[string]any{"query": document, "operationName": operation}), "Idempotency-Key: k")
			return w.Body.String(), w.Header().Get("Idempotency-Replayed") == "true"
		}
		first, replayed := send("A")
		if replayed || !strings.Contains(first, `"name":"A"`) {
			t.Errorf("%s, replayed %t", first, replayed)
		}
		if other, replayed := send("B"); replayed || !strings.Contains(other, anotherRequest) {
			t.Errorf("the other operation: %s, replayed %t", other, replayed)
		}
		if again, replayed := send("A"); !replayed || again != first {
			t.Errorf("%s, replayed %t, want %s", again, replayed, first)
		}
		c.Want(t, "{ categories { nodes { name } } }", "", `{"categories":{"nodes":[{"name":"A"}]}}`)
	})
}

// TestReplayNeedsScopes asks for the answer of a mutation again with tokens of the
// same subject: those that lack a scope of the first do not get it.
func TestReplayNeedsScopes(t *testing.T) {
	t.Parallel()
	for name, scopes := range map[string][]string{
		"createBook": servertest.NeededScopes["createBook"], "deleteGenre": servertest.NeededScopes["deleteGenre"], "upsertBook": servertest.NeededScopes["upsertBook"], "updateCategories": servertest.NeededScopes["updateCategories"],
		`mutation { createBook(input: {` + servertest.BookInput + `, genre: {create: {name: "N", category: {create: {name: "C"}}}}}) { book { id } } }`: {"books:create", "genres:create", "categories:create"},
	} {
		document, ok := servertest.Mutations[name]
		if !ok {
			document = name
		}
		c := servertest.ServeScoped(t)
		c.Shelves(t)
		first, replayed := send(t, c, "k", document, "")
		if replayed || strings.Contains(first, "errors") {
			t.Fatalf("%s: %s, replayed %t", document, first, replayed)
		}
		for _, scope := range scopes {
			few := "Authorization: Bearer " + servertest.TokenFor(t, append(servertest.Without(scopes, scope), "x")...)
			body, replayed := send(t, c, "k", document, "", few)
			if replayed || !strings.Contains(body, `"FORBIDDEN"`) || !strings.Contains(body, "The token lacks the scope "+scope+".") || strings.Contains(body, `"id"`) {
				t.Errorf("%s without %s: %s, replayed %t", document, scope, body, replayed)
			}
		}
		for _, enough := range [][]string{scopes, {"catalogue:write"}} {
			if again, replayed := send(t, c, "k", document, "", "Authorization: Bearer "+servertest.TokenFor(t, enough...)); !replayed || again != first {
				t.Errorf("%s with %s: %s, replayed %t, want %s", document, enough, again, replayed, first)
			}
		}
	}
}

// TestIdempotencyKeyNeedsSubject sends writes with tokens whose subject keeps no
// keys: they are refused with a key and go without one.
func TestIdempotencyKeyNeedsSubject(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		const clear = "An Idempotency-Key belongs to the subject of its token: sub must have 1 to 255 bytes"
		c := servertest.Serve(t, url)
		stored := 0
		for subject, ok := range map[string]bool{
			"": false, strings.Repeat("s", 5000): false, strings.Repeat("s", 256): false, "a\x00b": false, "a\nb": false,
			strings.Repeat("s", 255): true, "Жанна": true,
		} {
			as := "Authorization: Bearer " + servertest.TokenOf(t, subject)
			body, _ := send(t, c, "k", create, `{"name":"A"}`, as)
			w := c.Do(http.MethodPost, "/api/categories", `{"name":"A"}`, as, "Idempotency-Key: r")
			if ok {
				stored += 2
				if strings.Contains(body, "errors") || w.Code != http.StatusCreated {
					t.Errorf("%.20q: %s, %d %s", subject, body, w.Code, w.Body)
				}
			} else if !strings.Contains(body, clear) ||
				!strings.Contains(body, `"BAD_USER_INPUT"`) || w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), clear) {
				t.Errorf("%.20q: %s, %d %s", subject, body, w.Code, w.Body)
			}
			if a := c.Ask(t, create, `{"name":"A"}`, as); len(a.Errors) > 0 {
				t.Errorf("%.20q, without a key: %+v", subject, a.Errors)
			}
			stored++
		}
		c.Want(t, "{ categories { totalCount } }", "", fmt.Sprintf(`{"categories":{"totalCount":%d}}`, stored))
	})
}

// TestReferencesWhileWriting renames a genre and its category between mutations of one
// transaction, and between transactions, while the names are kept for all requests: each
// part of an answer has what was written before it, and nobody sees what is rolled back.
func TestReferencesWhileWriting(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		c.Shelves(t)
		var read atomic.Int64 // statements that read genres
		c.Store.Observe(func(_ context.Context, s stats.Statement) {
			if strings.Contains(s.Text, "FROM genres r") {
				read.Add(1)
			}
		})
		names := func(genre, category string) string {
			return fmt.Sprintf(`"genre":{"name":%q,"category":{"name":%q}}`, genre, category)
		}
		// kept asks for the names until they are kept.
		kept := func(want string) {
			t.Helper()
			for before, tries := int64(-1), 0; read.Load() != before; tries++ {
				if before = read.Load(); tries == 10_000 {
					t.Fatal("they are read each time: the test says nothing")
				}
				c.Want(t, `{ book(id: 1) { genre { name category { name } } } }`, "", `{"book":{`+want+`}}`)
			}
		}
		const document = `mutation ($genre: String!, $category: String!, $other: ID!) {
  a: createBook(input: {` + servertest.BookInput + `, genreId: 1}) { book { genre { name category { name } } } }
  updateGenre(input: {id: 1, patch: {name: $genre}}) { genre { id } }
  b: createBook(input: {` + servertest.BookInput + `, genreId: 1}) { book { genre { name category { name } } } }
  updateCategory(input: {id: 1, patch: {name: $category}}) { category { id } }
  c: createBook(input: {` + servertest.BookInput + `, genreId: 1}) { book { genre { name category { name } } } }
  d: updateBook(input: {id: 1, patch: {genreId: $other}}) { book { genre { name category { name } } } }
}`
		genre, category := "Fantasy", "Fiction"
		for i, key := range []string{"one", "", "two", ""} {
			kept(names(genre, category))
			newGenre, newCategory := fmt.Sprint("Genre ", i), fmt.Sprint("Category ", i)
			if key != "" { // the last of a transaction fails
				body, _ := send(t, c, key, document, fmt.Sprintf(`{"genre":%q,"category":%q,"other":99}`, newGenre, newCategory))
				if !strings.HasPrefix(body, `{"data":null,`) {
					t.Errorf("%s", body)
				}
				kept(names(genre, category))
			}
			body, _ := send(t, c, key, document, fmt.Sprintf(`{"genre":%q,"category":%q,"other":1}`, newGenre, newCategory))
			for part, want := range map[string]string{
				"a": names(genre, category), "b": names(newGenre, category), "c": names(newGenre, newCategory), "d": names(newGenre, newCategory),
			} {
				if want := fmt.Sprintf(`%q:{"book":{%s}}`, part, want); !strings.Contains(body, want) {
					t.Errorf("key %q: no %s in %s", key, want, body)
				}
			}
			genre, category = newGenre, newCategory
		}
	})
}
