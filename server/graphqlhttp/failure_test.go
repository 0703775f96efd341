package graphqlhttp_test

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

// TestFailedOnce lets the database fail in the middle of operations that a plan runs: no
// statement is run a second time, and the answer says so where the schema has room for it.
func TestFailedOnce(t *testing.T) {
	t.Parallel()
	url := catalogtest.Postgres(t)
	c := servertest.Serve(t, url+"&options=-c%20lock_timeout=1ms")
	c.Shelves(t)
	program, err := sql.Open("postgres", url)
	servertest.Must(t, err)
	defer program.Close()
	holder, err := program.BeginTx(t.Context(), nil)
	servertest.Must(t, err)
	defer holder.Rollback()
	if _, err := holder.ExecContext(t.Context(), `LOCK TABLE categories IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	run := map[string]int{}
	c.Store.Observe(func(ctx context.Context, s stats.Statement) {
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
		a := c.Ask(t, document, "")
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
		c := servertest.Serve(t, catalogtest.SQLite(t), func(r *resolvers.Resolver) server.Catalogue {
			return servertest.NewFailing(r, func() error {
				if gone {
					leave()
				}
				return &model.Error{Code: model.Unavailable, Message: "Try again.", Err: errors.New("canceling statement")}
			})
		})
		c.DoContext(ctx, http.MethodPost, "/graphql", servertest.Encode(t, map[string]string{"query": servertest.Mutations["createBook"]}))
		if logged := c.Log.Has("level=ERROR"); logged == gone {
			t.Errorf("client gone: %t, an error is logged: %t\n%s", gone, logged, c.Log)
		}
		leave()
	}
}
