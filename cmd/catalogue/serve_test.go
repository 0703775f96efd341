package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"library-catalogue/db/dbtest"
	"library-catalogue/graph/model"
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
	const away, query = "The database is unreachable or refuses connections.", "/graphql?query={books{totalCount}}"
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
	ended, log := make(chan error, 1), newLines("the database is unreachable")
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

// importing is what a server says of an import.
type importing struct {
	Data struct {
		ID, Status, Message string
		Counts              struct{ Created, Unchanged int }
	}
}

// sendImport sends a request for an import, with a file or none.
func sendImport(t *testing.T, token, method, url, file string, status int) (i importing) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(file))
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != status {
		t.Fatalf("%s %s: status %d, want %d: %s, %v", method, url, response.StatusCode, status, body, err)
	}
	must(t, json.Unmarshal(body, &i))
	return i
}

// TestStopWhileStarting gives the signal before the server has opened its database: it ends without an error.
func TestStopWhileStarting(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, url string) {
		signaled, cancel := context.WithCancel(t.Context())
		cancel()
		must(t, run(signaled, []string{"serve", "--addr=127.0.0.1:0", testSecret, "--database-url=" + url}, noEnv, strings.NewReader(""), io.Discard, io.Discard))
	})
}

// TestStopWhileImporting stops a server that imports a file: it logs how many books are
// stored, whole batches of them, and the same file sent to the next server does the rest.
func TestStopWhileImporting(t *testing.T) {
	t.Parallel()
	lines := []string{strings.Join(model.ImportFields, ",")}
	for n := range 20_000 { // of which the first hundreds are stored
		lines = append(lines, fmt.Sprintf("Book %d,,1,2001-02-03,An author,1.00,Genre,Category", n))
	}
	token := strings.TrimSpace(catalogue(t, 0, "", "token", testSecret))
	dbtest.Each(t, func(t *testing.T, url string) {
		args := []string{"--log-format=json", "--rate=0", "--empty", testSecret, "--database-url=" + url}
		var log bytes.Buffer
		public, _, stop := serving(t, &log, args...)
		i := sendImport(t, token, http.MethodPost, public+"/api/imports", strings.Join(lines, "\n"), http.StatusAccepted)
		path := "/api/imports/" + i.Data.ID
		for i.Data.Counts.Created == 0 {
			i = sendImport(t, token, http.MethodGet, public+path, "", http.StatusOK)
		}
		stop()
		stored := strings.Count(catalogue(t, 0, "", "export", "--database-url="+url), "\n") - 1
		said := fmt.Sprintf(`"import":%q,"created":%d,`, i.Data.ID, stored)
		if stored%200 != 0 || stored < i.Data.Counts.Created || stored == len(lines)-1 || !strings.Contains(log.String(), said) {
			t.Fatalf("%d books are stored, and the log is %s", stored, &log)
		}

		public, _, _ = serving(t, io.Discard, args...)
		sendImport(t, token, http.MethodGet, public+path, "", http.StatusNotFound)
		i = sendImport(t, token, http.MethodPost, public+"/api/imports", strings.Join(lines[:1+stored+10], "\n"), http.StatusAccepted)
		for path = "/api/imports/" + i.Data.ID; i.Data.Status != "done"; {
			i = sendImport(t, token, http.MethodGet, public+path, "", http.StatusOK)
			if i.Data.Status == "failed" || i.Data.Status == "refused" {
				t.Fatal(i.Data.Message)
			}
		}
		if c := i.Data.Counts; c.Created != 10 || c.Unchanged != stored {
			t.Errorf("sent again: %+v, want 10 created and %d unchanged", c, stored)
		}
	})
}

// TestFirstAccount says in the log how to make an account, until there is one.
func TestFirstAccount(t *testing.T) {
	t.Parallel()
	database := "--database-url=sqlite:" + filepath.Join(t.TempDir(), "catalogue.db")
	const hint = " user add NAME --role=admin`" // in a container after the command that gets there
	for _, want := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		log, ended := newLines(`"listening"`), make(chan error, 1)
		go func() {
			args := []string{"serve", "--addr=127.0.0.1:0", "--drain-wait=0s", "--log-format=json", database}
			ended <- run(ctx, args, noEnv, strings.NewReader(""), io.Discard, log)
		}()
		select {
		case <-log.seen:
		case err := <-ended:
			t.Fatal(err)
		}
		cancel()
		must(t, <-ended)
		if has := strings.Contains(log.all.String(), hint); has != want {
			t.Errorf("%q in the log: %v, want %v", hint, has, want)
		}
		if want {
			catalogue(t, 0, "", "user", "add", "ada", "--role=admin", database)
		}
	}
}
