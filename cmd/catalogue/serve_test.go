package main

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"library-catalogue/db/dbtest"
)

const testSecret = "--jwt-secret=a secret of thirty-two bytes or more"

// TestServeWaits starts a server whose database is away, and later there: until then it
// says so, and then it does all, on tables that it makes itself.
func TestServeWaits(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	database := cluster.Database(t)
	cluster.Kill(t)
	public, operators, _ := serving(t, io.Discard, "--log-format=json", "--rate=0", testSecret, "--database-url="+database)
	want := func(target string, status int, part string) {
		t.Helper()
		if got, body := fetch(t, target); got != status || !strings.Contains(body, part) {
			t.Errorf("%s: status %d, want %d with %q: %s", target, got, status, part, body)
		}
	}
	for _, path := range []string{"/livez", "/healthz"} {
		want(public+path, http.StatusOK, "ok")
	}
	const away, query = "The database is away, or lets nobody in.", "/graphql?query={books{totalCount}}"
	want(public+"/readyz", http.StatusServiceUnavailable, away)
	want(operators+"/readyz", http.StatusServiceUnavailable, away)
	want(operators+"/metrics", http.StatusOK, `catalogue_check{check="database",status="fail"} 1`)
	want(public+"/api/books", http.StatusServiceUnavailable, `"message":"The database did not answer. Try again in a moment."`)
	want(public+"/api/books/1", http.StatusServiceUnavailable, `"success":false`)
	want(public+query, http.StatusOK, `"code":"UNAVAILABLE"`)
	cluster.Start(t)
	for status := 0; status != http.StatusOK; {
		status, _ = fetch(t, public+"/readyz")
	}
	for status := http.StatusServiceUnavailable; status != http.StatusOK; { // the schema is there before the store has started
		status, _ = fetch(t, public+"/api/books")
	}
	want(public+query, http.StatusOK, `"totalCount":0`)
}

// TestServeRefused starts servers whose database does not let them in, which ends them at
// once, or when it comes up.
func TestServeRefused(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	address, err := url.Parse(cluster.Database(t))
	must(t, err)
	unknownDatabase, unknownRole := *address, *address
	unknownDatabase.Path = "/nowhere"
	query := address.Query()
	query.Set("user", "nobody")
	unknownRole.RawQuery = query.Encode()
	serve := func(database string, stderr io.Writer) error {
		return run(t.Context(), []string{"serve", "--addr=127.0.0.1:0", "--drain-wait=0s", testSecret, "--database-url=" + database}, noEnv, strings.NewReader(""), io.Discard, stderr)
	}
	for database, part := range map[string]string{
		unknownDatabase.String(): `refuses the connection: pq: database "nowhere" does not exist`,
		unknownRole.String():     `refuses the connection: pq: role "nobody" does not exist`,
	} {
		if err := serve(database, io.Discard); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: ended with %v, want %q", database, err, part)
		}
	}
	cluster.Kill(t)
	ended, log := make(chan error, 1), newLines("waiting for the database")
	go func() { ended <- serve(unknownDatabase.String(), log) }()
	<-log.seen
	cluster.Start(t)
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "refuses the connection") {
		t.Errorf("when it comes up: ended with %v", err)
	}
}

// lines is a log that tells when it has a text.
type lines struct {
	text string
	seen chan struct{}
	all  strings.Builder
}

func newLines(text string) *lines { return &lines{text: text, seen: make(chan struct{})} }

func (l *lines) Write(b []byte) (int, error) {
	before := strings.Contains(l.all.String(), l.text)
	l.all.Write(b)
	if !before && strings.Contains(l.all.String(), l.text) {
		close(l.seen)
	}
	return len(b), nil
}
