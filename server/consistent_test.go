package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/edge/httpcond"
	"library-catalogue/graph/model"
	"library-catalogue/server/servertest"
)

// TestAnswerIsOneSnapshot lets another program write after every statement of a query
// but the first ones: whatever executes it, all parts of the answer are of one moment,
// with the look at the revision that the cache makes or without.
func TestAnswerIsOneSnapshot(t *testing.T) {
	t.Parallel()
	const (
		parts = `books(first: 1000, filter: {pages: {gte: 1}}, search: "tolkien") { totalCount nodes { genre { name category { name } } }
	aggregate { count } facets { genres { genre { name } count } years { count } } }`
		own = `category(id: 1) { name books(first: 1000, filter: {author: {contains: "Tolkien"}}) { totalCount nodes { name } aggregate { count } }
	genres { nodes { name category { name } books { totalCount } } } }`
		groups = ` bookGroups(by: [AUTHOR, YEAR], search: "tolkien") { totalCount nodes { aggregate { count } } }`
	)
	documents := map[string]string{
		"planned": "{ " + parts + own + " }", "reference": "{ __schema { queryType { name } } " + parts + own + groups + " }",
		"nothing first": `{ none: books(search: "nothing") { nodes { id } } ` + own + parts + ` }`,
	}
	type connection struct {
		TotalCount int
		Nodes      []struct{ Genre struct{ Name string } }
		Aggregate  struct{ Count int }
		Facets     struct {
			Genres, Years []struct{ Count int }
		}
	}
	for name, document := range documents {
		// One after the other: a request has but seconds, however busy the machine is.
		t.Run(name, func(t *testing.T) {
			catalogtest.Each(t, func(t *testing.T, url string) {
				c, program := servertest.Serve(t, url), catalogtest.Open(t, url)
				c.Shelves(t)
				type ofQuery struct{} // the key of a value that the contexts of queries alone have
				quiet, statements := 0, 0
				var mu sync.Mutex // facets are read at the same time
				c.Store.Observe(func(ctx context.Context, statement stats.Statement) {
					mu.Lock()
					defer mu.Unlock()
					if ctx.Value(ofQuery{}) == nil {
						return
					}
					if statements++; statements <= quiet {
						return
					}
					_, err := program.Books.Create(t.Context(), &model.CreateBookInput{
						Name: "Meanwhile", Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, Author: "Tolkien", GenreID: 1,
					})
					if err != nil {
						t.Error(err)
					}
				})
				for ; quiet == 0 || statements > quiet; quiet++ {
					statements = 0
					w := c.DoContext(context.WithValue(t.Context(), ofQuery{}, true), http.MethodPost, "/graphql", servertest.Encode(t, map[string]string{"query": document}))
					var got struct {
						Data struct {
							Books    connection
							Category struct{ Books connection }

							BookGroups struct {
								TotalCount int
								Nodes      []struct{ Aggregate struct{ Count int } }
							}
						}
						Errors []any
					}
					servertest.Unmarshal(t, w.Body.String(), &got)
					all, own, groups := got.Data.Books, got.Data.Category.Books, got.Data.BookGroups
					inGroups := 0
					for _, g := range groups.Nodes {
						inGroups += g.Aggregate.Count
					}
					if len(groups.Nodes) != groups.TotalCount || groups.Nodes != nil && inGroups != all.TotalCount {
						t.Errorf("writes after statement %d: %d books, groups %+v", quiet, all.TotalCount, groups)
					}
					for what, n := range map[string]int{
						"nodes": len(all.Nodes), "aggregate": all.Aggregate.Count, "facets.genres": sum(all.Facets.Genres), "facets.years": sum(all.Facets.Years),
						"category's totalCount": own.TotalCount, "category's nodes": len(own.Nodes), "category's aggregate": own.Aggregate.Count,
					} {
						if n != all.TotalCount || got.Errors != nil {
							t.Errorf("writes after statement %d: totalCount %d, %s %d: %.500s", quiet, all.TotalCount, what, n, w.Body)
						}
					}
				}
				if quiet < 5 {
					t.Errorf("the query has %d statements: the test says nothing", quiet)
				}
			})
		})
	}
}

// TestPayloadIsOneSnapshot lets another program write after one of the statements of a mutation: all parts
// of its payload are of one moment, which includes the mutation, and the mutation runs once.
func TestPayloadIsOneSnapshot(t *testing.T) {
	t.Parallel()
	const document = `mutation { createBook(input: {name: "Mine", pages: 1, publishedAt: "2000-01-01", author: "A", price: 1, genreId: 1}) {
	book { genre { books(first: 1000) { totalCount nodes { name } } category { genres(first: 1) { nodes { books { totalCount } } } } } } } }`
	catalogtest.Each(t, func(t *testing.T, url string) {
		c, program := servertest.Serve(t, url), catalogtest.Open(t, url)
		c.Shelves(t)
		type ofMutation struct{} // the key of a value that the contexts of mutations alone have
		var quiet, statements atomic.Int64
		c.Store.Observe(func(ctx context.Context, _ stats.Statement) {
			if ctx.Value(ofMutation{}) == nil || statements.Add(1) != quiet.Load()+1 {
				return
			}
			_, err := program.Books.Create(t.Context(), &model.CreateBookInput{
				Name: "Meanwhile", Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, Author: "A", GenreID: 1,
			})
			servertest.Must(t, err)
		})
		all := 0
		for _, key := range []string{"", "Idempotency-Key: "} {
			if key != "" && strings.HasPrefix(url, "sqlite:") {
				continue // SQLite has one writer, so no other program writes meanwhile
			}
			mine := 0
			for quiet.Store(0); ; quiet.Add(1) {
				statements.Store(0)
				var headers []string
				if key != "" {
					headers = []string{key + strconv.Quote(strconv.Itoa(mine))}
				}
				w := c.DoContext(context.WithValue(t.Context(), ofMutation{}, true), http.MethodPost, "/graphql", servertest.Encode(t, map[string]string{"query": document}), headers...)
				var got struct {
					Data struct {
						CreateBook struct {
							Book struct {
								Genre struct {
									Books struct {
										TotalCount int
										Nodes      []struct{ Name string }
									}
									Category struct {
										Genres struct {
											Nodes []struct{ Books struct{ TotalCount int } }
										}
									}
								}
							}
						}
					}
					Errors []any
				}
				servertest.Unmarshal(t, w.Body.String(), &got)
				genre := got.Data.CreateBook.Book.Genre
				if mine++; got.Errors != nil || len(genre.Books.Nodes) != genre.Books.TotalCount || genre.Category.Genres.Nodes[0].Books.TotalCount != genre.Books.TotalCount {
					t.Errorf("%sa write after statement %d: %.1000s", key, quiet.Load(), w.Body)
				}
				if statements.Load() <= quiet.Load() {
					break
				}
			}
			if all += mine; mine < 4 {
				t.Errorf("%sthe mutation has %d statements: the test says nothing", key, mine)
			}
		}
		books, err := c.Store.Unchecked(t.Context()).Books.Page(t.Context(), &model.Page{Limit: 1000})
		servertest.Must(t, err)
		for _, b := range books {
			if b.Name == "Mine" {
				all--
			}
		}
		if all != 0 {
			t.Errorf("the mutations stored %d books too few", all)
		}
	})
}

func sum(facets []struct{ Count int }) (n int) {
	for _, f := range facets {
		n += f.Count
	}
	return n
}

// TestPageIsOneSnapshot lets another program write after every statement of a REST
// page but the first ones: the rows, X-Total-Count and the ETag are of one moment.
func TestPageIsOneSnapshot(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c, program := servertest.Serve(t, url), catalogtest.Open(t, url)
		c.Shelves(t)
		books, booksAt := 4, map[string]int{} // by ETag
		moment := func() {
			revision, err := program.Revision(t.Context())
			if err != nil {
				t.Error(err)
			}
			booksAt[httpcond.RevisionTag(revision.Catalogue)] = books
		}
		moment()
		type ofPage struct{} // the key of a value that the contexts of pages alone have
		quiet, statements := 0, 0
		c.Store.Observe(func(ctx context.Context, _ stats.Statement) {
			if ctx.Value(ofPage{}) == nil {
				return
			}
			if statements++; statements <= quiet {
				return
			}
			_, err := program.Books.Create(t.Context(), &model.CreateBookInput{
				Name: "Meanwhile", Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, Author: "A", GenreID: 1,
			})
			if err != nil {
				t.Error(err)
			}
			books++
			moment()
		})
		for ; ; quiet++ {
			statements = 0
			w := c.DoContext(context.WithValue(t.Context(), ofPage{}, true), http.MethodGet, "/api/books?per_page=1000", "")
			var page struct{ Data []json.RawMessage }
			if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != http.StatusOK {
				t.Fatalf("status %d, %v: %s", w.Code, err, w.Body)
			}
			tag, total := w.Header().Get("ETag"), w.Header().Get("X-Total-Count")
			if at, known := booksAt[tag]; !known || len(page.Data) != at || total != strconv.Itoa(at) {
				t.Errorf("writes after statement %d: %d rows, X-Total-Count %s, and at %s there were %d", quiet, len(page.Data), total, tag, at)
			}
			if statements <= quiet {
				break // nothing was written
			}
		}
		if quiet < 2 {
			t.Errorf("a page has %d statements: the test says nothing", quiet)
		}
	})
}

// TestFewReadsAreOneSnapshot lets another program commit once, after each statement in
// turn of answers that need one read or two: all parts of an answer are of one moment,
// also where a read finds no row, which would say of which moment it is. One read is
// of one moment by itself, and is not made again.
func TestFewReadsAreOneSnapshot(t *testing.T) {
	t.Parallel()
	const (
		one = `a: books(first: 9) { nodes { id } }`
		two = one + ` b: books(first: 9, orderBy: {field: NAME}) { nodes { id } }`
	)
	for name, document := range map[string]string{"one": "{ " + one + " }", "two": "{ " + two + " }", "two by gqlgen": "{ __schema { description } " + two + " }", "page of /api": ""} {
		for change, books := range map[string]struct{ before, after int }{"first": {0, 1}, "further": {1, 2}, "last goes": {1, 0}} {
			t.Run(name+", "+change, func(t *testing.T) {
				t.Parallel()
				catalogtest.Each(t, func(t *testing.T, url string) {
					c, program := servertest.Serve(t, url), catalogtest.Open(t, url)
					shelvesWithoutBooks(t, c)
					var shelf []model.ID
					shelve := func(n int) {
						for len(shelf) < n {
							book, err := program.Books.Create(t.Context(), &model.CreateBookInput{
								Name: "B", Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, Author: "A", GenreID: 1,
							})
							if err != nil {
								t.Error(err)
								return
							}
							shelf = append(shelf, book.ID)
						}
						for ; len(shelf) > n; shelf = shelf[1:] {
							if err := program.Books.Delete(t.Context(), shelf[0], nil, model.Cascade); err != nil {
								t.Error(err)
							}
						}
					}
					// read returns how many books each part of an answer has.
					read := func(ctx context.Context) (parts []int) {
						if document == "" {
							w := c.DoContext(ctx, http.MethodGet, "/api/books?per_page=9", "")
							var page struct{ Data []any }
							servertest.Unmarshal(t, w.Body.String(), &page)
							total, err := strconv.Atoi(w.Header().Get("X-Total-Count"))
							if err != nil {
								t.Error(err)
							}
							return []int{len(page.Data), total}
						}
						w := c.DoContext(ctx, http.MethodPost, "/graphql", servertest.Encode(t, map[string]string{"query": document}))
						var got struct {
							Data struct{ A, B *struct{ Nodes []any } }
						}
						servertest.Unmarshal(t, w.Body.String(), &got)
						for _, list := range []*struct{ Nodes []any }{got.Data.A, got.Data.B} {
							if list != nil {
								parts = append(parts, len(list.Nodes))
							}
						}
						return parts
					}
					type ofRead struct{} // the key of a value that the contexts of these reads alone have
					var mu sync.Mutex
					quiet, statements := 0, 0
					c.Store.Observe(func(ctx context.Context, _ stats.Statement) {
						mu.Lock()
						defer mu.Unlock()
						if ctx.Value(ofRead{}) == nil {
							return
						}
						if statements++; statements == quiet {
							shelve(books.after)
						}
					})
					for ; quiet <= statements; quiet++ { // 0: nobody writes
						statements = 0
						shelve(books.before)
						parts := read(context.WithValue(t.Context(), ofRead{}, true))
						if slices.Min(parts) != slices.Max(parts) {
							t.Errorf("a commit after statement %d: parts of %d books", quiet, parts)
						}
						if (name == "one") != (statements == 1) {
							t.Errorf("a commit after statement %d: %d statements for %d parts", quiet, statements, len(parts))
						}
					}
				})
			})
		}
	}
}

// TestWritersTearNothing asks for lists whose parts must agree, by both executors and
// by pages of /api, while two writers create and delete.
func TestWritersTearNothing(t *testing.T) {
	t.Parallel()
	const parts = `books(first: 1000, filter: {name: {contains: "x"}}) { totalCount nodes { id genre { name } } aggregate { count } facets { years { count } } }
	genre(id: 1) { books(first: 1000, filter: {name: {contains: "x"}}) { totalCount nodes { id } } }`
	catalogtest.Each(t, func(t *testing.T, url string) {
		c, program := servertest.Serve(t, url), catalogtest.Open(t, url)
		c.Shelves(t)
		stop := make(chan struct{})
		var writers sync.WaitGroup
		for _, store := range []*db.Store{c.Store, program} { // of this process, and of another
			writers.Go(func() {
				var ids []model.ID
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					book, err := store.Books.Create(t.Context(), &model.CreateBookInput{
						Name: "x", Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, Author: "A", GenreID: 1,
					})
					if err == nil {
						ids = append(ids, book.ID)
					}
					if err == nil && len(ids) > 20 {
						err = store.Books.Delete(t.Context(), ids[0], nil, model.Cascade)
						ids = ids[1:]
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		defer writers.Wait()
		defer close(stop)
		for range 100 {
			for _, document := range []string{"{ " + parts + " }", "{ __schema { queryType { name } } " + parts + " }"} {
				var got struct {
					Books struct {
						TotalCount int
						Nodes      []struct{ ID string }
						Aggregate  struct{ Count int }
						Facets     struct{ Years []struct{ Count int } }
					}
					Genre struct {
						Books struct {
							TotalCount int
							Nodes      []struct{ ID string }
						}
					}
				}
				servertest.Unmarshal(t, c.Get(t, document, ""), &got)
				b, own := got.Books, got.Genre.Books
				want := []int{b.TotalCount, b.TotalCount, b.TotalCount, b.TotalCount, b.TotalCount}
				if parts := []int{len(b.Nodes), b.Aggregate.Count, sum(b.Facets.Years), own.TotalCount, len(own.Nodes)}; !slices.Equal(parts, want) {
					t.Fatalf("totalCount %d, parts %d", b.TotalCount, parts)
				}
			}
			w := c.Do(http.MethodGet, "/api/books?per_page=1000&page=1", "")
			var page struct{ Data []json.RawMessage }
			servertest.Unmarshal(t, w.Body.String(), &page)
			if total := w.Header().Get("X-Total-Count"); total != strconv.Itoa(len(page.Data)) {
				t.Fatalf("X-Total-Count %s, %d rows", total, len(page.Data))
			}
		}
	})
}
