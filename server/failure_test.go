package server_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/telemetry"
)

// failing is a catalogue in which some resolvers do what a test wants.
type failing struct {
	*resolvers.Resolver
	fail func() error // instead of reading books, and before creating one
}

func (f failing) Query() graph.QueryResolver { return failingQuery{f.Resolver.Query(), f.fail} }
func (f failing) Mutation() graph.MutationResolver {
	return failingMutation{f.Resolver.Mutation(), f.fail}
}
func (f failing) Genre() graph.GenreResolver { return failingGenre{f.Resolver.Genre(), f.fail} }

// LoadBooks and LoadCategories are what the planned executor asks instead of Book
// and Category.
func (f failing) LoadBooks(context.Context, []model.ID) ([]*model.Book, error) {
	return nil, f.fail()
}

func (f failing) LoadCategories(context.Context, []model.ID) ([]*model.Category, error) {
	return nil, f.fail()
}

type failingQuery struct {
	graph.QueryResolver
	fail func() error
}

func (f failingQuery) Books(context.Context, *int, *string, *int, *string, *int, map[string]any, []*model.OrderBy, *string) (*model.BookConnection, error) {
	return nil, f.fail()
}

func (f failingQuery) Book(context.Context, string) (*model.Book, error) { return nil, f.fail() }

type failingMutation struct {
	graph.MutationResolver
	fail func() error
}

func (f failingMutation) CreateBook(context.Context, model.CreateBookInput) (*model.CreateBookPayload, error) {
	return nil, f.fail()
}

type failingGenre struct {
	graph.GenreResolver
	fail func() error
}

func (f failingGenre) Category(context.Context, *model.Genre) (*model.Category, error) {
	return nil, f.fail()
}

// TestInternalTextStaysInside lets resolvers panic and fail with errors that
// tell of the inside: no endpoint says a word of it, and the log has it all.
func TestInternalTextStaysInside(t *testing.T) {
	t.Parallel()
	const inside = `pq: relation "secrets" does not exist at /srv/catalogue`
	for name, fail := range map[string]func() error{
		"panic with an error": func() error { panic(errors.New(inside)) },
		"panic with a text":   func() error { panic(inside) },
		"an error":            func() error { return errors.New(inside) },
		"an error of ours": func() error {
			return &model.Error{Code: model.Internal, Message: "Internal server error", Err: errors.New(inside)}
		},
		"a wrapped one": func() error { return fmt.Errorf("read: %w", errors.New(inside)) },
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, catalogtest.SQLite(t), func(r *resolvers.Resolver) server.Catalogue { return failing{r, fail} })
			c.shelvesWithoutBooks(t)
			for document, path := range map[string]string{
				"{ books { totalCount } }":                                      "books",
				"{ a: book(id: 1) { id } genre(id: 1) { name } }":               "a",
				"{ genre(id: 1) { name category { name } } }":                   "genre category",
				"{ genres { nodes { category { name } } } }":                    "genres nodes 0 category",
				mutations["createBook"]:                                         "createBook",
				"mutation { a: " + mutations["createBook"][len("mutation { "):]: "a",
			} {
				a := c.ask(t, document, "")
				if len(a.Errors) == 0 {
					t.Errorf("%s: there is no error", document)
					continue
				}
				at := false // fields beside each other fail in any order
				for _, f := range a.Errors {
					at = at || strings.Trim(fmt.Sprint(f.Path), "[]") == path
					if f.Message != "Internal server error" || f.Extensions.Code != "INTERNAL" || f.Extensions.RequestID != "test" {
						t.Errorf("%s: %+v, want INTERNAL", document, f)
					}
				}
				if !at {
					t.Errorf("%s: %+v, want one at %s", document, a.Errors, path)
				}
				if text := encode(t, a); strings.Contains(text, "secrets") || strings.Contains(text, "srv") {
					t.Errorf("%s: the answer tells of the inside: %s", document, text)
				}
			}
			for _, target := range []string{"/api/books", "/api/books/1", "/api/books?per_page=1"} {
				w := c.do(http.MethodGet, target, "")
				if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), `"message":"Internal server error"`) {
					t.Errorf("%s: status %d: %s", target, w.Code, w.Body)
				}
				if strings.Contains(w.Body.String(), "secrets") {
					t.Errorf("%s: the answer tells of the inside: %s", target, w.Body)
				}
			}
			if !c.log.has("secrets") || !c.log.has("request_id=test") {
				t.Errorf("the log does not tell what happened:\n%.2000s", &c.log.text)
			}
			c.want(t, "{ genre(id: 1) { name } }", "", `{"genre":{"name":"Fantasy"}}`) // it goes on
		})
	}
}

// TestOutcomeUnknown lets a write fail of which nobody knows whether it is stored,
// and one that is not: both endpoints say which it is, with a key and without.
func TestOutcomeUnknown(t *testing.T) {
	t.Parallel()
	const unknown, away = "Send the request again with the same Idempotency-Key.", "Try again in a moment."
	for message, inDoubt := range map[string]bool{unknown: true, away: false} {
		c := serve(t, catalogtest.SQLite(t), func(r *resolvers.Resolver) server.Catalogue {
			return failing{r, func() error { return &model.Error{Code: model.Unavailable, InDoubt: inDoubt, Message: message} }}
		})
		c.shelvesWithoutBooks(t)
		for _, header := range []string{"Accept: */*", "Idempotency-Key: k"} {
			f := c.wantError(t, mutations["createBook"], "", "UNAVAILABLE", message, header)
			if (f.Extensions.Outcome == "UNKNOWN") != inDoubt || !inDoubt && f.Extensions.Outcome != "" {
				t.Errorf("%q, %s: the outcome is %q", message, header, f.Extensions.Outcome)
			}
			w := c.do(http.MethodPost, "/api/books", `{"name":"Momo","pages":304,"published_at":"1973-01-01","author":"Michael Ende","price":9.99,"genre_id":1}`, header)
			if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), message) {
				t.Errorf("%q, %s: status %d: %s", message, header, w.Code, w.Body)
			}
		}
	}
}

// TestWrittenAndDeleted deletes the genre of a book, and the book with it, right after
// the book was written and before its answer is read.
func TestWrittenAndDeleted(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c, program := serve(t, url), migrated(t, url)
		c.shelves(t)
		var mu sync.Mutex // the service counts its rows at any time
		genre, write, written := model.ID(0), "", false
		c.store.Observe(func(_ context.Context, s stats.Statement) {
			mu.Lock()
			defer mu.Unlock()
			if !written && write != "" && strings.HasPrefix(s.Text, write) {
				written = true
				if err := program.Genres.Delete(t.Context(), genre, nil, model.Cascade); err != nil {
					t.Error(err)
				}
			}
		})
		for _, request := range []struct {
			method, target, write string
			genre                 model.ID
		}{{http.MethodPost, "/api/books", "INSERT INTO books", 1}, {http.MethodPut, "/api/books/3", "COMMIT", 2}} {
			mu.Lock()
			genre, write, written = request.genre, request.write, false
			mu.Unlock()
			body := fmt.Sprintf(`{"name":"Momo","pages":304,"published_at":"1973-01-01","author":"Michael Ende","price":9.99,"genre_id":%d}`, request.genre)
			w := c.do(request.method, request.target, body)
			if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "Book was stored, and deleted by someone else") || !written {
				t.Errorf("%s %s: status %d: %s", request.method, request.target, w.Code, w.Body)
			}
		}
	})
}

func (c *client) shelvesWithoutBooks(t *testing.T) {
	t.Helper()
	category, err := c.store.Categories.Create(t.Context(), &model.CreateCategoryInput{Name: "Fiction"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.store.Genres.Create(t.Context(), &model.CreateGenreInput{Name: "Fantasy", CategoryID: category.ID}); err != nil {
		t.Fatal(err)
	}
}

// TestDatabaseAway kills the database under the server, and brings it back.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	c := serve(t, catalogtest.Migrate(t, cluster.Database(t)))
	c.shelves(t)
	ready := func(want int) {
		t.Helper()
		if w := c.do(http.MethodGet, "/readyz", ""); w.Code != want {
			t.Errorf("/readyz: status %d, want %d: %s", w.Code, want, w.Body)
		}
		if w := c.do(http.MethodGet, "/healthz", ""); w.Code != http.StatusOK {
			t.Errorf("/healthz: status %d", w.Code)
		}
	}
	ready(http.StatusOK)
	cluster.Kill(t)
	for _, document := range []string{"{ books { nodes { genre { name } } } }", "{ book(id: 1) { name } }", "{ books { totalCount } }", mutations["createBook"], mutations["deleteGenre"]} {
		f := c.wantError(t, document, "", "UNAVAILABLE", "The database did not answer. Try again in a moment.")
		if len(f.Path) == 0 {
			t.Errorf("%s: it has no path", document)
		}
	}
	for target, method := range map[string]string{"/api/books": "GET", "/api/books/1": "GET", "/api/genres": "GET", "/api/categories/1": "DELETE"} {
		w := c.do(method, target, "")
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || strings.Contains(w.Body.String(), "socket") {
			t.Errorf("%s %s: status %d, Retry-After %q: %s", method, target, w.Code, w.Header().Get("Retry-After"), w.Body)
		}
	}
	ready(http.StatusServiceUnavailable)
	cluster.Start(t)
	ready(http.StatusOK)
	c.want(t, "{ books { totalCount } }", "", `{"books":{"totalCount":4}}`)
	c.get(t, mutations["deleteGenre"], "")
}

// TestFailedOnce lets the database fail in the middle of operations that a plan runs: no
// statement is run a second time, and the answer says so where the schema has room for it.
func TestFailedOnce(t *testing.T) {
	t.Parallel()
	url := catalogtest.Postgres(t)
	c := serve(t, url+"&options=-c%20lock_timeout=1ms")
	c.shelves(t)
	program, err := sql.Open("postgres", url)
	must(t, err)
	defer program.Close()
	holder, err := program.BeginTx(t.Context(), nil)
	must(t, err)
	defer holder.Rollback()
	if _, err := holder.ExecContext(t.Context(), `LOCK TABLE categories IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	run := map[string]int{}
	c.store.Observe(func(ctx context.Context, s stats.Statement) {
		mu.Lock()
		defer mu.Unlock()
		// A write looks at the revision too, and what is read beside requests is of none.
		if telemetry.RequestOf(ctx).ID == "test" && !strings.HasSuffix(s.Text, "FROM revision") {
			run[s.Text]++
		}
	})
	const nested = "name genre { name category { name } }"
	for document, want := range map[string]string{
		"{ books(first: 2) { totalCount nodes { " + nested + " } } genres { totalCount } }":            `null`,
		"{ book(id: 1) { " + nested + " } genre(id: 2) { name books { totalCount nodes { name } } } }": `{"book":null,"genre":null}`,
		`mutation { updateBook(input: {id: 1, patch: {name: "New"}}) { book { ` + nested + " } } }":    `{"updateBook":null}`,
	} {
		mu.Lock()
		clear(run)
		mu.Unlock()
		a := c.ask(t, document, "")
		if len(a.Errors) == 0 || a.Errors[0].Extensions.Code != "UNAVAILABLE" || string(a.Data) != want {
			t.Errorf("%s: %s %+v, want %s", document, a.Data, a.Errors, want)
		}
		mu.Lock()
		for text, times := range run {
			if times > 1 {
				t.Errorf("%s: %d times %s", document, times, text)
			}
		}
		if len(run) < 2 {
			t.Errorf("%s: it ran %d statements", document, len(run))
		}
		mu.Unlock()
	}
}

// TestWhoIsLogged lets the database fail for a client that waits, and for one
// that has gone: the second is no matter for the log.
func TestWhoIsLogged(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		ctx, leave := context.WithCancel(t.Context())
		c := serve(t, catalogtest.SQLite(t), func(r *resolvers.Resolver) server.Catalogue {
			return failing{r, func() error {
				if gone {
					leave()
				}
				return &model.Error{Code: model.Unavailable, Message: "Try again.", Err: errors.New("canceling statement")}
			}}
		})
		c.doContext(ctx, http.MethodPost, "/graphql", encode(t, map[string]string{"query": mutations["createBook"]}))
		if logged := c.log.has("level=ERROR"); logged == gone {
			t.Errorf("client gone: %t, an error is logged: %t\n%s", gone, logged, &c.log.text)
		}
		leave()
	}
}

// moving is a catalogue that another program changes while it is read: each time
// a page of books is read, the genre of the first of them goes away, with its
// books, before anybody has asked for it.
type moving struct {
	*resolvers.Resolver
	remove      func(model.ID) error
	reads, runs *atomic.Int32
}

func (m moving) Query() graph.QueryResolver { return movingQuery{m.Resolver.Query(), m} }

func (m moving) Read(ctx context.Context, since *model.Revision, fn func(context.Context) (bool, error)) (int64, error) {
	return m.Resolver.Read(ctx, since, func(ctx context.Context) (bool, error) {
		m.runs.Add(1)
		return fn(ctx)
	})
}

type movingQuery struct {
	graph.QueryResolver
	m moving
}

func (q movingQuery) Books(ctx context.Context, first *int, after *string, last *int, before *string, offset *int, filter map[string]any, orderBy []*model.OrderBy, search *string) (*model.BookConnection, error) {
	q.m.reads.Add(1)
	books, err := q.QueryResolver.Books(ctx, first, after, last, before, offset, filter, orderBy, search)
	if err != nil {
		return nil, err
	}
	nodes, err := books.Nodes(ctx)
	if err != nil || len(nodes) == 0 {
		return books, err
	}
	return books, q.m.remove(nodes[0].GenreID)
}

// TestRowsThatMoved reads books whose genre is deleted between the statements:
// the query is run again, on one snapshot, and answers without an error. The
// planned executor cannot answer where the schema is asked for.
func TestRowsThatMoved(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]string{
		"planned":   "{ books { totalCount nodes { genre { name category { name } } } } }",
		"reference": "{ __schema { queryType { name } } books { totalCount nodes { genre { name category { name } } } } }",
	} {
		t.Run(name, func(t *testing.T) {
			catalogtest.Each(t, func(t *testing.T, url string) {
				var reads, runs atomic.Int32
				other := migrated(t, url)
				c := serve(t, url, func(r *resolvers.Resolver) server.Catalogue {
					return moving{r, func(id model.ID) error { return other.Genres.Delete(context.Background(), id, nil, model.Cascade) }, &reads, &runs}
				})
				const genres = 5
				booksInGenres(t, other, genres, 2)
				var got struct {
					Books struct {
						TotalCount int
						Nodes      []struct{ Genre struct{ Name string } }
					}
				}
				unmarshal(t, c.get(t, document, ""), &got)
				if reads.Load() != 2 || runs.Load() != 2 {
					t.Errorf("the query was run %d times, and read the books %d times", runs.Load(), reads.Load())
				}
				// The last read is the one that is answered: it did not see its own
				// genre go.
				if want := 2 * (genres - 1); len(got.Books.Nodes) != want {
					t.Errorf("%d books, want %d", len(got.Books.Nodes), want)
				}
				for _, b := range got.Books.Nodes {
					if b.Genre.Name == "" {
						t.Errorf("a book without a genre: %+v", got)
					}
				}
				if got.Books.TotalCount != len(got.Books.Nodes) {
					t.Errorf("totalCount is %d, and there are %d books in the same snapshot", got.Books.TotalCount, len(got.Books.Nodes))
				}
				if c.log.has("level=ERROR") {
					t.Errorf("that rows moved is logged as an error:\n%s", &c.log.text)
				}
			})
		})
	}
}

// booksInGenres stores a category with genres, and books in each.
func booksInGenres(t *testing.T, store *db.Store, genres, books int) {
	t.Helper()
	err := store.Write(t.Context(), func(ctx context.Context) error {
		category, err := store.Categories.Create(ctx, &model.CreateCategoryInput{Name: "C"})
		if err != nil {
			return err
		}
		for i := range genres {
			genre, err := store.Genres.Create(ctx, &model.CreateGenreInput{Name: fmt.Sprint("G", i+1), CategoryID: category.ID})
			if err != nil {
				return err
			}
			for range books {
				_, err := store.Books.Create(ctx, &model.CreateBookInput{
					Name: "B", Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, Author: "A", GenreID: genre.ID,
				})
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	must(t, err)
}

// TestNoSnapshot lets rows move where no snapshot can be had.
func TestNoSnapshot(t *testing.T) {
	t.Parallel()
	c := serve(t, catalogtest.SQLite(t), func(r *resolvers.Resolver) server.Catalogue {
		return noSnapshot{failing{r, func() error { return model.ErrSnapshotChanged }}}
	})
	f := c.wantError(t, "{ books { totalCount } }", "", "UNAVAILABLE", "The database did not answer. Try again in a moment.")
	if f.Path != nil {
		t.Errorf("path %v", f.Path)
	}
}

type noSnapshot struct{ failing }

func (n noSnapshot) Read(ctx context.Context, _ *model.Revision, fn func(context.Context) (bool, error)) (int64, error) {
	if _, err := fn(n.WithSnapshot(ctx)); !errors.Is(err, model.ErrSnapshotChanged) {
		return -1, err
	}
	return -1, &model.Error{Code: model.Unavailable, Message: "The database did not answer. Try again in a moment.", Err: errors.New("socket")}
}
