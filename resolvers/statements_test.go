package resolvers_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/servertest"
)

// fill stores 5 categories, 20 genres and 1,200 books, numbered from 1, and each
// parent's children among those of the others.
func fill(t *testing.T, url string) {
	t.Helper()
	const numbers = " WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT "
	execSQL(t, url,
		fmt.Sprintf("INSERT INTO categories (name)"+numbers+"'Category' FROM n", 5),
		fmt.Sprintf("INSERT INTO genres (name, category_id)"+numbers+"'Genre', 1 + i %% 5 FROM n", 20),
		fmt.Sprintf("INSERT INTO books (name, pages, published_at, author, price_cents, genre_id)"+numbers+"'Book', i, '2000-01-01', 'Author', i, 1 + i %% 20 FROM n", 1_200))
}

// execSQL runs statements as another program would.
func execSQL(t *testing.T, url string, statements ...string) {
	t.Helper()
	driver, source := "postgres", url
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, source = "sqlite", path
	}
	program, err := sql.Open(driver, source)
	must(t, err)
	defer program.Close()
	for _, statement := range statements {
		if _, err := program.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// statements sends a document to a server that has just been started, and gives
// how many statements its Server-Timing tells of.
func statements(t *testing.T, c *servertest.Client, document, variables string) int {
	t.Helper()
	c.Reconfigure(t, server.Config{Catalogue: resolvers.New(c.Store), GraphQL: graphqlhttp.Options{Introspection: graphqlhttp.IntrospectionOn}})
	return timing(t, c, document, variables)
}

func timing(t *testing.T, c *servertest.Client, document, variables string) int {
	t.Helper()
	if variables == "" {
		variables = "{}"
	}
	w := c.Do(http.MethodPost, "/graphql", `{"query":`+servertest.Encode(t, document)+`,"variables":`+variables+`}`)
	if a := w.Body.String(); strings.Contains(a, `"errors"`) {
		t.Errorf("%s: %.500s", document, a)
	}
	return servertest.StatementCount(t, w)
}

// TestStatements counts what queries cost on a server that has just been
// started: a statement for each level, and none for what is not selected. SQLite
// reads pages per parent in one statement each.
func TestStatements(t *testing.T) {
	t.Parallel()
	id := func(node model.Node) string { return node.NodeID() }
	var mixed []string
	for i := range 10 {
		n := model.ID(i + 1)
		mixed = append(mixed, id(&model.Book{ID: n}), id(&model.Genre{ID: n}), id(&model.Category{ID: n}), "garbage")
	}
	cursor := cursorOf(t, 600)
	queries := []struct {
		document         string
		sqlite, postgres int
	}{
		{"{ books(first: 50) { nodes { name genre { name category { name } } } } }", 3, 3},
		{"{ books(first: 1000) { nodes { name genre { name category { name } } } } }", 3, 3},
		{"{ books(last: 1000) { edges { cursor node { name genre { name category { name } } } } } }", 3, 3},
		{"{ books(first: 1000) { nodes { ...a } } } fragment a on Book { a: genre { id } b: genre { category { id } } ... on Book { genre { category { name } } } }", 3, 3},

		{"{ books { totalCount } }", 1, 1},
		{"{ books { nodes { id } } }", 1, 1},
		{"{ books { nodes { genreId } edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }", 1, 1},
		{"{ books { nodes { id } totalCount } }", 2, 2},
		{"{ books { __typename } genres { __typename } categories { __typename } }", 0, 0},
		{"{ books(first: 0) { nodes { genre { id } } } }", 1, 1},
		{`{ books(first: 10, after: "` + cursor + `") { nodes { id } } }`, 1, 1},
		{`{ books(first: 10, after: "` + cursor + `") { nodes { id } pageInfo { hasNextPage } } }`, 1, 1},
		{`{ books(first: 10, after: "` + cursor + `") { pageInfo { hasNextPage hasPreviousPage } } }`, 2, 2},
		{"{ books(first: 10, offset: 10) { pageInfo { hasNextPage hasPreviousPage } } }", 1, 1},
		{"{ __typename __schema { queryType { name } } }", 0, 0},

		{`{ books(search: "book") { nodes { id } } }`, 2 + 1, 2}, // SQLite counts the names that begin with it
		{`{ books(search: "book") { nodes { id } totalCount facets { years { year } authors { author } } } }`, 2 + 3, 1 + 4},
		{`{ books(search: "boook") { totalCount facets { years { year } } } }`, 5 + 2, 4 + 2}, // SQLite counts the names of the correction

		{"{ books(first: 50) { nodes { history(first: 3) { nodes { operation version } } } } }", 3, 3},
		{"{ books(first: 50) { nodes { history(first: 3) { nodes { book { genre { name category { name } } } } } } } }", 7, 7},
		{"{ history(type: BOOK, id: 1) { hasMore } }", 2, 2},

		{"{ book(id: 1) { id } }", 1, 1},
		{"{ book(id: 1) { genre { category { id } } } }", 3, 3},
		{"{ genre(id: 1) { category { id } } }", 2, 2},
		{`{ a: booksByIsbn(isbn: "9783161484100") { id } b: booksByIsbn(isbn: "3-16-148410-X") { name } }`, 1, 1},
		{"{ genres(first: 20) { nodes { category { name } } } }", 2, 2},
		{"{ nodes(nodeIds: " + strings.ReplaceAll(servertest.Encode(t, mixed), ",", " ") + ") { nodeId ... on Book { name } ... on Genre { name } ... on Category { name } } }", 3, 3},

		{"{ genres(first: 20) { nodes { books(first: 10) { nodes { id } } } } }", 1 + 20, 2},
		{"{ genres(first: 20) { nodes { books(first: 10) { nodes { genre { category { name } } } } } } }", 1 + 20 + 2, 4},
		{"{ genres(first: 20) { nodes { books(first: 10) { nodes { id } edges { cursor } pageInfo { hasNextPage hasPreviousPage endCursor } } } } }", 1 + 20, 2},
		{"{ genres(first: 20) { nodes { books(first: 10, offset: 3) { pageInfo { hasNextPage hasPreviousPage } } } } }", 1 + 20, 2},
		{`{ genres(first: 20) { nodes { books(first: 10, after: "` + cursor + `") { pageInfo { hasNextPage hasPreviousPage } } } } }`, 1 + 20 + 20, 3},
		{`{ genres(first: 20) { nodes { books(last: 10, before: "` + cursor + `") { pageInfo { hasNextPage hasPreviousPage } } } } }`, 1 + 20 + 20, 3},
		{"{ genres(first: 20) { nodes { books { totalCount } } } }", 2, 2},
		{"{ genres(first: 20) { nodes { books(first: 1) { totalCount nodes { id } } } } }", 2 + 20, 3},
		{"{ genres(first: 20) { nodes { books(first: 1) { __typename } } } }", 1, 1},
		{"{ genres(first: 20) { nodes { a: books(first: 1) { nodes { id } } b: books(last: 1) { nodes { id } } } } }", 1 + 40, 3},
		{"{ categories { nodes { genres { totalCount nodes { name } } books(first: 5) { totalCount nodes { genre { name } } } } } }", 1 + 1 + 5 + 1 + 5 + 1, 6},
		{"{ categories { nodes { genres(first: 4) { nodes { books(first: 2) { totalCount nodes { id } pageInfo { hasNextPage } } } } } } }", 1 + 5 + 20 + 1, 4},
		{"{ books(first: 1000) { nodes { genre { books(first: 2) { nodes { id } } category { genres { totalCount } } } } } }", 1 + 1 + 20 + 1 + 1, 5},

		{"{ books { aggregate { count price { min max avg sum } pages { min max avg sum } publishedAt { min max } } } }", 1, 1},
		{"{ books { aggregate { count } } genres { aggregate { count } } categories { aggregate { count } } }", 3, 3},
		{"{ books { aggregate { __typename price { __typename } } facets { __typename } } }", 0, 0},
		{"{ books { facets { genres { count genre { name } } } } }", 2 + 1, 2},
		{"{ books { facets { genres { count } categories { count } authors { count } years { count } prices(bounds: [5]) { count } } } }", 1 + 1, 5},
		{"{ books { facets { genres { genre { name } } categories { category { name } } } } }", 4, 4},
		{"{ genres(first: 20) { nodes { books { aggregate { price { avg } } } } } }", 2, 2},
		{"{ genres(first: 20) { nodes { books { totalCount aggregate { count } } } } }", 2, 2},
		{"{ genres(first: 20) { nodes { books { facets { authors(first: 2) { author count } years { count } } } } } }", 3, 3},
		{"{ categories { nodes { books { facets { genres { genre { name } count } } } genres { aggregate { count } } } } }", 4, 4},
		{"{ bookGroups(by: [GENRE, CATEGORY, YEAR], first: 1000, having: {count: {gt: 0}}) { nodes { genre { name } category { name } year aggregate { price { avg } } } pageInfo { hasNextPage hasPreviousPage } } }", 3, 3},
		{"{ bookGroups(by: [GENRE, CATEGORY]) { nodes { aggregate { count } } } }", 1, 1},
		{"{ bookGroups(by: [GENRE, CATEGORY]) { totalCount } }", 1, 1},
		{"{ bookGroups(by: [GENRE, CATEGORY]) { __typename } }", 0, 0},
		{"{ bookGroups(by: [GENRE, CATEGORY], first: 0) { a: nodes { year } b: nodes { author } pageInfo { hasNextPage } totalCount } }", 2, 2},
	}
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		fill(t, url)
		c.Get(t, "{ history(type: BOOK, id: 1) { hasMore } }", "") // makes a tick of the new rows
		for _, q := range queries {
			want := q.postgres
			if strings.HasPrefix(url, "sqlite:") {
				want = q.sqlite
			}
			if got := statements(t, c, q.document, ""); got != want {
				t.Errorf("%d statements, want %d: %s", got, want, q.document)
			}
		}
		// With variables and directives it is no different.
		document := "query ($n: Int!, $deep: Boolean!) { books(first: $n) { nodes { name genre @include(if: $deep) { name category { name } } } } }"
		for variables, want := range map[string]int{`{"n":50,"deep":true}`: 3, `{"n":1000,"deep":true}`: 3, `{"n":1000,"deep":false}`: 1} {
			if got := statements(t, c, document, variables); got != want {
				t.Errorf("%d statements, want %d, with %s", got, want, variables)
			}
		}
	})
}

// TestStatementsOfTheReference counts where a query is left to gqlgen's executor,
// as one that asks for the schema is: each book then asks for its genre by
// itself, at a moment of its own.
func TestStatementsOfTheReference(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		fill(t, url)
		for _, n := range []int{50, 1_000} {
			document := fmt.Sprintf("{ __schema { queryType { name } } books(first: %d) { nodes { name genre { name category { name } } } } }", n)
			if got := statements(t, c, document, ""); got != 3 {
				t.Errorf("%d books: %d statements, want 3", n, got)
			}
		}
		names := 0 // of genres, by which SQLite's groups are put in order here
		if strings.HasPrefix(url, "sqlite:") {
			names = 1
		}
		for document, want := range map[string]int{
			"{ __schema { queryType { name } } bookGroups(by: [GENRE, CATEGORY], first: 1000) { nodes { genre { name } category { name } aggregate { count price { avg } } } } }": 3,
			"{ __schema { queryType { name } } books { aggregate { price { min } } facets { genres { genre { name } } years { count } } } }":                                      4 + names,
		} {
			if got := statements(t, c, document, ""); got != want {
				t.Errorf("%d statements, want %d: %s", got, want, document)
			}
		}
	})
}

// TestFewerStatementsLater asks again and again: genres and categories then come
// from memory.
func TestFewerStatementsLater(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		fill(t, url)
		remembers(t, c)
	})
}

// remembers asks until genres and categories come from memory.
func remembers(t *testing.T, c *servertest.Client) {
	t.Helper()
	const document = "{ books(first: 50) { nodes { name genre { name category { name } } } } }"
	late := time.Now().Add(time.Minute)
	for got := 0; got != 1; {
		if got = timing(t, c, document, ""); got > 3 {
			t.Fatalf("%d statements", got)
		}
		if got != 1 && time.Now().After(late) {
			t.Fatalf("after a minute it is still %d statements", got)
		}
	}
}

// TestCreateIsOneStatement stores a book whose genre comes from memory: not even
// the revision is read. A genre that another program has just changed must be seen.
func TestCreateIsOneStatement(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		var mu sync.Mutex
		var statements []string
		c.Store.Observe(func(_ context.Context, statement stats.Statement) {
			mu.Lock()
			defer mu.Unlock()
			statements = append(statements, statement.Text)
		})
		fill(t, url)
		remembers(t, c)
		create := func(want string) {
			t.Helper()
			mu.Lock()
			statements = nil
			mu.Unlock()
			got := c.Get(t, `mutation { createBook(input: {name: "N", author: "A", pages: 1, publishedAt: "2001-01-01", price: 1, genreId: 7}) { book { genre { name } } } }`, "")
			if !strings.Contains(got, want) {
				t.Errorf("the answer is %s, want the genre %q", got, want)
			}
		}
		create(`"Genre"`)
		mu.Lock()
		if len(statements) != 1 {
			t.Errorf("the statements are %q", statements)
		}
		mu.Unlock()
		execSQL(t, url, "UPDATE genres SET name = 'Elsewhere' WHERE id = 7")
		create(`"Elsewhere"`)
	})
}

func cursorOf(t *testing.T, id model.ID) string {
	t.Helper()
	page, err := model.PageArgs{}.Page("Book")
	must(t, err)
	books := model.NewConnection[*model.Book]("Book", page, nil, nil, nil)
	return books.Cursor(&model.Book{ID: id})
}
