package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
)

// endless reads until the time is over.
type endless struct{ *resolvers.Resolver }

func (endless) Read(ctx context.Context, _ *model.Revision, _ func(context.Context) error) error {
	<-ctx.Done()
	return model.Errorf(model.Unavailable, "The database is away.")
}

func (endless) Revision(context.Context) (model.Revision, error) { return model.Revision{}, nil }

func (endless) Sizes() model.Sizes { return model.Sizes{Books: 100_000, Genres: 200, Categories: 20} }

// TestTimeLimit asks for reading that does not end. Medium and heavy work ends after 10 s,
// and the answer says what to do. Light work ends with the request, also where that has a body.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	h := newHandler(t, &log{}, server.Config{
		Catalogue:    endless{resolvers.New(migrated(t, catalogtest.SQLite(t)))},
		Authenticate: func(next http.Handler) http.Handler { return next },
	})
	query := func(document string) string { return "/graphql?query=" + url.QueryEscape(document) }
	for _, tt := range []struct {
		target, body string
		want         time.Duration
		says         string
	}{
		{query(`{ books(filter: {pages: {gt: 1}}) { nodes { id } } }`), "", 10 * time.Second, "Ask for less"},
		{query(`{ books(filter: {or: [{name: {icontains: "a"}}, {name: {icontains: "b"}}]}) { totalCount } }`), "", 10 * time.Second, "Ask for less"},
		{"/api/books?per_page=10&price_min=1", "", 10 * time.Second, "Ask for less"},
		{query(`{ books { nodes { id } } }`), "", 30 * time.Second, "too long"},
		{"/api/books?per_page=10", "", 30 * time.Second, "database"},
		{"/api/books?per_page=10", "x", 30 * time.Second, "database"},
		{"/api/books/1", "x", 30 * time.Second, "database"},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, tt.target, strings.NewReader(tt.body)))
			if took := time.Since(begun); took != tt.want || !strings.Contains(w.Body.String(), tt.says) {
				t.Errorf("%s, body %q: status %d after %v: %s", tt.target, tt.body, w.Code, took, w.Body)
			}
		})
	}
}
