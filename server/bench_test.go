package server_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
)

// discard is a response that nobody keeps.
type discard struct {
	header http.Header
	bytes  int64
}

func (d *discard) Header() http.Header { return d.header }
func (d *discard) WriteHeader(int)     {}
func (d *discard) Write(b []byte) (int, error) {
	d.bytes += int64(len(b))
	return len(b), nil
}

var statements = regexp.MustCompile(`desc="(\d+) statement`)

// BenchmarkServer answers requests of every kind, from the handler to the
// database and back, over 10,000 books of 400 genres.
func BenchmarkServer(b *testing.B) {

	const (
		category = `category{id name description createdAt updatedAt}`
		genre    = `id name description createdAt updatedAt ` + category
		book     = `id name description pages publishedAt author price createdAt updatedAt`
	)
	graphQL := func(query string, variables func(n int) string) func(n int) *http.Request {
		return func(n int) *http.Request {
			body := fmt.Sprintf(`{"query":%q,"variables":%s}`, query, variables(n))
			r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			return r
		}
	}
	compressed := func(request func(n int) *http.Request) func(n int) *http.Request {
		return func(n int) *http.Request {
			r := request(n)
			r.Header.Set("Accept-Encoding", "gzip")
			return r
		}
	}
	cachedBooks := graphQL(`{books(first:100){nodes{`+book+` genre{`+genre+`}}}}`, func(int) string { return `{}` })
	get := func(path func(n int) string) func(n int) *http.Request {
		return func(n int) *http.Request { return httptest.NewRequest(http.MethodGet, path(n), nil) }
	}
	requests := []struct {
		name    string
		request func(n int) *http.Request
	}{
		{"graphql/100books", graphQL(`query($after:ID!){books(first:100,filter:{id:{gt:$after}}){nodes{`+book+` genre{`+genre+`}}}}`,
			func(n int) string { return fmt.Sprintf(`{"after":%d}`, n%99*100) })},
		{"graphql/book", graphQL(`query($id:ID!){book(id:$id){`+book+` genre{`+genre+`}}}`,
			func(n int) string { return fmt.Sprintf(`{"id":%d}`, n%9999+1) })},
		{"graphql/20genres10books", graphQL(`query($after:ID!){genres(first:20,filter:{id:{gt:$after}}){nodes{`+genre+` books(first:10){nodes{`+book+`}}}}}`,
			func(n int) string { return fmt.Sprintf(`{"after":%d}`, n%380) })},
		{"graphql/cached", cachedBooks},
		{"graphql/gzip/cached", compressed(cachedBooks)},
		{"rest/100books", get(func(n int) string { return fmt.Sprintf("/api/books?per_page=100&page=%d", n%99+1) })},
		{"rest/book", get(func(n int) string { return fmt.Sprintf("/api/books/%d", n%9999+1) })},
		{"rest/allbooks", get(func(int) string { return "/api/books" })},
		{"graphql/create", graphQL(`mutation($input:CreateBookInput!){createBook(input:$input){book{id name genre{id name}}}}`, func(n int) string {
			return fmt.Sprintf(`{"input":{"name":"New %d","description":"d","pages":10,"publishedAt":"2020-01-02","author":"A","price":"9.99","genreId":"7"}}`, n)
		})}, // the last, because it changes what the others read
	}
	for _, engine := range []struct {
		name string
		url  func(testing.TB) string
	}{{"sqlite", catalogtest.SQLite}, {"postgres", catalogtest.Postgres}} {
		b.Run(engine.name, func(b *testing.B) {
			store := large(b, engine.url(b))
			for _, tt := range requests {
				bytes := 0
				if strings.HasSuffix(tt.name, "cached") {
					bytes = 8 << 20
				}
				handler := newHandler(b, nil, server.Config{
					Logger:    slog.New(slog.NewJSONHandler(io.Discard, nil)),
					Catalogue: resolvers.New(store),
					Authenticate: func(next http.Handler) http.Handler {
						return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
							next.ServeHTTP(w, r.WithContext(model.WithPrincipal(r.Context(), model.Principal{})))
						})
					},
					CacheBytes: bytes,
				})
				b.Run(tt.name, func(b *testing.B) {
					b.ReportAllocs()
					n, sent, run := 0, int64(0), 0
					for b.Loop() {
						w := &discard{header: http.Header{}}
						handler.ServeHTTP(w, tt.request(n))
						n++
						sent += w.bytes
						if found := statements.FindStringSubmatch(w.header.Get("Server-Timing")); found != nil {
							count, _ := strconv.Atoi(found[1])
							run += count
						}
					}
					b.SetBytes(sent / int64(n))
					b.ReportMetric(float64(run)/float64(n), "stmts/op")
				})
			}
		})
	}
}

// large opens a store with 20 categories, 400 genres and 10,000 books.
func large(b *testing.B, url string) *db.Store {
	b.Helper()
	ctx := context.Background()
	store := catalogtest.Open(b, url)
	description := strings.Repeat("lorem ipsum — ", 14)
	err := store.Write(ctx, func(ctx context.Context) error {
		for i := range 20 {
			if _, err := store.CreateCategory(ctx, &model.CreateCategoryInput{Name: fmt.Sprint("Category ", i), Description: graphql.OmittableOf(&description)}); err != nil {
				return err
			}
		}
		for i := range 400 {
			in := &model.CreateGenreInput{Name: fmt.Sprint("Genre ", i), Description: graphql.OmittableOf(&description), CategoryID: model.ID(i%20 + 1)}
			if _, err := store.CreateGenre(ctx, in); err != nil {
				return err
			}
		}
		for i := range 10_000 {
			_, err := store.CreateBook(ctx, &model.CreateBookInput{
				Name: fmt.Sprintf("Book %q of the shelf", fmt.Sprint(i)), Description: graphql.OmittableOf(&description), Pages: i%900 + 1,
				PublishedAt: model.Date{Year: int16(1900 + i%120), Month: uint8(i%12 + 1), Day: uint8(i%28 + 1)},
				Author:      fmt.Sprint("Author ", i%500), Price: model.Cents(i), GenreID: model.ID(i*7%400 + 1),
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	must(b, err)
	return store
}
