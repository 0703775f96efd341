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

func (endless) ReadConsistent(ctx context.Context, _ func(context.Context) error) error {
	<-ctx.Done()
	return model.Errorf(model.Unavailable, "The database is away.")
}

func (endless) Revision(context.Context) (model.Revision, error) { return model.Revision{}, nil }

// TestTimeLimit asks for heavy work that takes more time than its cost allows: it ends long before
// the request would, and the answer says what to do.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	h := newHandler(t, &log{}, server.Config{
		Catalogue:    endless{resolvers.New(migrated(t, catalogtest.SQLite(t)))},
		Authenticate: func(next http.Handler) http.Handler { return next },
	})
	for _, target := range []string{"/graphql?query=" + url.QueryEscape(`{ books(first: 1000) { nodes { id } } }`), "/api/books?per_page=1000"} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
			if took := time.Since(begun); took < time.Second || took > 10*time.Second || !strings.Contains(w.Body.String(), "Ask for less") {
				t.Errorf("%s: status %d after %v: %s", target, w.Code, took, w.Body)
			}
		})
	}
}
