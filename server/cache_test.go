package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	neturl "net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
)

// cachedServer answers for a store, with a cache.
func cachedServer(t testing.TB, catalogue server.Catalogue) http.Handler {
	return newHandler(t, &log{}, server.Config{
		Logger:       slog.New(slog.DiscardHandler),
		Catalogue:    catalogue,
		Authenticate: func(next http.Handler) http.Handler { return next },
		CacheBytes:   8 << 20,
	})
}

// migrated opens a store on a migrated database.
func migrated(t testing.TB, url string) *db.Store {
	t.Helper()
	return catalogtest.Open(t, url)
}

// readPages asks for the page count of book 1, by one endpoint or the other, and
// reports whether the answer came from the cache.
func readPages(t testing.TB, handler http.Handler, rest bool) (pages int, cached bool) {
	request := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(`{"query":"{ book(id: 1) { pages } }"}`))
	request.Header.Set("Content-Type", "application/json")
	if rest {
		request = httptest.NewRequest(http.MethodGet, "/api/books/1", nil)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	var body struct {
		Data struct {
			Pages int                 `json:"pages"`
			Book  struct{ Pages int } `json:"book"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil || answer.Code != http.StatusOK {
		t.Errorf("status %d, %v: %s", answer.Code, err, answer.Body)
	}
	return max(body.Data.Pages, body.Data.Book.Pages), strings.HasSuffix(answer.Header().Get("Server-Timing"), "cache")
}

// shelve stores one book, with one page.
func shelve(t testing.TB, store *db.Store) {
	t.Helper()
	ctx := context.Background()
	if _, err := store.Categories.Create(ctx, &model.CreateCategoryInput{Name: "C"}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Genres.Create(ctx, &model.CreateGenreInput{Name: "G", CategoryID: 1}); err != nil {
		t.Fatal(err)
	}
	_, err := store.Books.Create(ctx, &model.CreateBookInput{
		Name: "B", Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, Author: "A", GenreID: 1,
	})
	must(t, err)
}

// staleReads counts up the pages of a book through one store, and reads them
// through a server on another store, so many times. It gives how many reads saw
// less than what was committed before they began, and how many came from the
// cache.
func staleReads(t *testing.T, url string, reads int64, catalogue func(*db.Store) server.Catalogue) (stale, hits int64) {
	t.Helper()
	writer := migrated(t, url)
	shelve(t, writer)
	handler := cachedServer(t, catalogue(migrated(t, url)))

	var committed, begun, late, cached atomic.Int64
	committed.Store(1)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for n := begun.Add(1); n <= reads; n = begun.Add(1) {
				least := committed.Load()
				pages, hit := readPages(t, handler, n%2 == 0)
				if int64(pages) < least {
					late.Add(1)
				}
				if hit {
					cached.Add(1)
				}
			}
		})
	}
	for pages := 2; begun.Load() < reads; pages++ {
		patch := &model.BookPatch{Pages: graphql.OmittableOf(&pages)}
		if _, err := writer.Books.Update(t.Context(), 1, patch, nil); err != nil {
			t.Error(err)
			break
		}
		committed.Store(int64(pages))
		for next := begun.Load() + 40; begun.Load() < min(next, reads); { // so that some answers are kept
			runtime.Gosched()
		}
	}
	readers.Wait()
	return late.Load(), cached.Load()
}

// TestCacheIsNeverStale looks for a read that saw less than the last commit
// before it, by another process.
func TestCacheIsNeverStale(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		stale, hits := staleReads(t, url, int64(dbtest.Runs(100_000)), func(s *db.Store) server.Catalogue { return resolvers.New(s) })
		if stale != 0 {
			t.Errorf("%d stale reads", stale)
		}
		if hits == 0 {
			t.Error("no read came from the cache: the test says nothing")
		}
	})
}

// frozen is a catalogue that believes that nothing ever changes.
type frozen struct{ *resolvers.Resolver }

func (frozen) Revision(context.Context) (model.Revision, error) { return model.Revision{}, nil }

func (f frozen) Read(ctx context.Context, since *model.Revision, fn func(context.Context) (bool, error)) (int64, error) {
	revision, err := f.Resolver.Read(ctx, since, fn)
	return min(revision, 0), err
}

// TestStaleReadsAreFound shows that the test above would find a cache that does
// not ask for the revision.
func TestStaleReadsAreFound(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		stale, _ := staleReads(t, url, 20_000, func(s *db.Store) server.Catalogue { return frozen{resolvers.New(s)} })
		if stale == 0 {
			t.Error("no stale read was found")
		}
	})
}

// TestGraphQLETag asks by GET again with the tag that an answer had.
func TestGraphQLETag(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		store, program := migrated(t, url), migrated(t, url)
		shelve(t, store)
		pages, meanwhile := 0, false // another program changes the book right after it was read
		change := func(s *db.Store) {
			pages++
			if _, err := s.Books.Update(t.Context(), 1, &model.BookPatch{Pages: graphql.OmittableOf(&pages)}, nil); err != nil {
				t.Fatal(err)
			}
		}
		store.Observe(func(_ context.Context, statement stats.Statement) {
			if meanwhile && strings.Contains(statement.Text, "books r") {
				meanwhile = false
				change(program)
			}
		})
		handler := cachedServer(t, resolvers.New(store))
		get := func(query, tag string) *httptest.ResponseRecorder {
			request := httptest.NewRequest(http.MethodGet, "/graphql?query="+neturl.QueryEscape(query), nil)
			if tag != "" {
				request.Header.Set("If-None-Match", tag)
			}
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, request)
			return answer
		}
		const query = `{ book(id: 1) { pages } }`
		for range 3 { // from the cache too
			first := get(query, "")
			tag := first.Header().Get("ETag")
			if first.Code != http.StatusOK || tag == "" {
				t.Fatalf("status %d, tag %q: %s", first.Code, tag, first.Body)
			}
			if again := get(query, tag); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
				t.Errorf("status %d for the tag of the same answer: %s", again.Code, again.Body)
			}
			change(store)
			if later := get(query, tag); later.Code != http.StatusOK || later.Header().Get("ETag") == tag {
				t.Errorf("status %d, tag %s after a change: %s", later.Code, later.Header().Get("ETag"), later.Body)
			}
		}
		for _, query := range []string{query, `{ books { nodes { pages } } } # no mutation`} {
			meanwhile = true
			old := get(query, "")
			if old.Code != http.StatusOK || meanwhile {
				t.Errorf("status %d: %s", old.Code, old.Body)
			}
			if later := get(query, old.Header().Get("ETag")); later.Code != http.StatusOK || later.Body.String() == old.Body.String() {
				t.Errorf("status %d for the tag of %s, which was changed meanwhile: %s", later.Code, old.Body, later.Body)
			}
		}
		if failed := get(`{ book(id: 1) { nothing } }`, ""); failed.Header().Get("ETag") != "" {
			t.Errorf("an error has the tag %s", failed.Header().Get("ETag"))
		}
	})
}

// TestGraphQLConditions asks by GET for what the client may have, in both media
// types: a 304 has the headers of its 200 (RFC 9110, section 15.4.5), and there is
// none for what would not be executed (section 13.2.1).
func TestGraphQLConditions(t *testing.T) {
	c := shelved(t)
	c.handler = newHandler(t, c.log, server.Config{Catalogue: c.catalogue, Authenticate: c.authenticate, CacheBytes: 1 << 20})
	const valid = `query A($id: ID!) { book(id: $id) { name } }`
	get := func(query, more, media, tag string) *httptest.ResponseRecorder {
		return c.do(http.MethodGet, "/graphql?query="+neturl.QueryEscape(query)+more, "", "Accept: "+media, "If-None-Match: "+tag)
	}
	one := "&variables=" + neturl.QueryEscape(`{"id":1}`)
	headers := func(w *httptest.ResponseRecorder) string {
		return fmt.Sprint(w.Header()["Etag"], w.Header()["Vary"], w.Header()["Cache-Control"])
	}
	tags := map[string]string{}
	for _, media := range []string{"application/json", "application/graphql-response+json"} {
		var tag string
		for i := range 3 {
			w := get(valid, one, media, "")
			if i == 0 {
				tag = w.Header().Get("ETag")
			}
			if want := "[" + tag + "] [Accept-Encoding Accept] [no-cache]"; w.Code != http.StatusOK || headers(w) != want {
				t.Errorf("%s, time %d: status %d, %s, want %s", media, i+1, w.Code, headers(w), want)
			}
			if kept := strings.Contains(w.Header().Get("Server-Timing"), "cache"); kept != (i == 2) {
				t.Errorf("%s, time %d: from the cache: %t", media, i+1, kept)
			}
			for _, given := range []string{tag, "W/" + tag, "*"} {
				again := get(valid, one, media, given)
				if again.Code != http.StatusNotModified || headers(again) != headers(w) || again.Body.Len() > 0 {
					t.Errorf("%s, If-None-Match: %s: status %d, %s, want %s", media, given, again.Code, headers(again), headers(w))
				}
			}
		}
		tags[tag] = media
		if w := get(`{ books { totalCount } } # `+media, "", media, tag); w.Code != http.StatusNotModified {
			t.Errorf("%s: status %d for a document that was not seen before", media, w.Code)
		}
		for name, request := range map[string]struct{ query, more string }{
			"a field that is not there": {`{ x }`, ""}, "no document": {`{`, ""}, "nothing": {"", ""}, "no variable": {valid, ""},
			"a variable that is none":        {valid, "&variables=" + neturl.QueryEscape(`{"id":[]}`)},
			"an operation that is not there": {valid, one + "&operationName=B"}, "a mutation": {mutations["deleteBook"], ""},
			"too much": {tooMuch, ""}, "a broken parameter": {valid, "&variables=x"},
		} {
			plain := get(request.query, request.more, media, "")
			for _, given := range []string{"*", tag} {
				if w := get(request.query, request.more, media, given); w.Code != plain.Code || w.Code == http.StatusNotModified || w.Body.String() != plain.Body.String() {
					t.Errorf("%s, %s, If-None-Match: %s: status %d, without it %d: %s", name, media, given, w.Code, plain.Code, w.Body)
				}
			}
		}
	}
	if len(tags) != 2 {
		t.Errorf("two media types have the same tag: %v", tags)
	}
	for tag, media := range tags {
		for _, other := range tags {
			if w := get(valid, one, other, tag); (w.Code == http.StatusNotModified) != (other == media) {
				t.Errorf("the tag %s of %s: status %d for %s", tag, media, w.Code, other)
			}
		}
	}
}
