package soak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var secret = strings.Repeat("s", 32)

// faults are the drills of docs/high-availability.md. Each command runs on the primary, on its synchronous standby or
// on the proxy, as the page has it.
var faults = []struct{ name, on, breaks, mends string }{
	{"kill -9 of the primary", "primary", "kill -KILL $(head -1 /var/lib/postgresql/15/catalogue/postmaster.pid)", ""},
	{"switchover", "primary", "patronictl -c /etc/patroni/config.yml switchover --force", ""},
	{"standby away, and all backends terminated", "standby", "pkill -STOP -u postgres\n" + terminate,
		"pkill -CONT -u postgres"},
	{"all backends terminated", "primary", terminate, ""},
	{"frozen primary, then a reset", "primary", "pkill -STOP -u postgres", reset},
}

const terminate = `psql -h proxy -p 5000 -U postgres -c "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'catalogue_server'"`

// reset mends a primary that hangs as its watchdog would: it starts the host again.
const reset = "reset"

// TestFailover writes through two servers behind HAProxy while the database has each fault. Half of the writers repeat
// each write with its key until it is acknowledged. Searches then find it, also on replicas. The others have no key and
// write once. In the end each acknowledged book is stored exactly once, each that was refused is not stored, one that
// is in doubt at most once, and no response was an error other than 503. Changes and webhooks tell of each stored book
// once. It prints for how long no write was acknowledged, and does not check that.
func TestFailover(t *testing.T) {
	s := newSite(t)
	w := &writers{
		token: strings.TrimSpace(output(t, s.on(t, "app1", "env", "CATALOGUE_JWT_SECRET="+secret, s.program, "token")))}
	genre := w.send(t, "/api/categories", `{"name":"C"}`, "category")
	genre = w.send(t, "/api/genres", fmt.Sprintf(`{"name":"G","category_id":%s}`, genre), "genre")
	f := follow(t, s)
	var stopped atomic.Bool
	var writing sync.WaitGroup
	for writer := range 8 {
		writing.Go(func() {
			for n := 0; !stopped.Load(); n++ {
				name := fmt.Sprintf("Book%dx%d of a writer", writer, n)
				if writer%2 == 1 {
					w.once(t, genre, name)
					continue
				}
				w.write(t, genre, name)
				if n%10 == 0 {
					w.find(t, name)
				}
			}
		})
	}
	for _, fault := range faults {
		for _, command := range append(strings.Split(fault.breaks, "\n"), fault.mends) {
			if !strings.Contains(s.page, "\n"+command+"\n") && command != reset {
				t.Errorf("docs/high-availability.md lacks the command %s", command)
			}
		}
		s.settle(t)
		w.progress(t, s)
		host := s.is("primary")
		if fault.on == "standby" {
			host = s.is("sync")
		}
		w.pause.Store(0)
		output(t, s.on(t, host, "sh", "-c", fault.breaks))
		if fault.mends != "" {
			s.await(t, "another primary or standby", func() bool {
				return !slices.Contains([]string{"", host}, s.is("primary")) &&
					!slices.Contains([]string{"", host}, s.is("sync"))
			})
		}
		w.progress(t, s)
		switch fault.mends {
		case "":
		case reset:
			s.restart[host]()
		default:
			output(t, s.on(t, host, "sh", "-c", fault.mends))
		}
		s.settle(t)
		w.progress(t, s)
		t.Logf("%s: no write was acknowledged for %v; %d acknowledged so far, %d repeated", fault.name,
			time.Duration(w.pause.Load()).Round(10*time.Millisecond), w.acknowledged.Load(), w.repeated.Load())
	}
	t.Log(output(t, s.on(t, "db1", "patronictl", "-c", "/etc/patroni/config.yml", "list")))
	t.Log(output(t, s.on(t, "proxy", "curl", "-s", "http://proxy:8080/readyz")))
	stopped.Store(true)
	writing.Wait()
	f.compare(t, s, w.compare(t))
}

// writers create books and remember which creations were acknowledged.
type writers struct {
	token                  string
	acknowledged, repeated atomic.Int64
	searches, replicas     atomic.Int64 // searches and how many of them replicas answered
	last, pause            atomic.Int64 // time of the last acknowledgement and longest time between two, in ns
	names                  sync.Map     // name of each acknowledged book to its id
	others                 sync.Map     // name of each book without a key that was not acknowledged to the response
}

// send posts until the response is 201, and returns the new id. Anything but 503 or a lost connection is an error.
func (w *writers) send(t *testing.T, path, body, key string) (id string) {
	t.Helper()
	for {
		id, refused := w.post(t, path, body, http.Header{"Idempotency-Key": {key}})
		if refused == "" || t.Context().Err() != nil {
			return id
		}
		w.repeated.Add(1)
		time.Sleep(50 * time.Millisecond)
	}
}

// post posts once. It returns the new id, or why there is none: the text of a 503, or lostConnection.
func (w *writers) post(t *testing.T, path, body string, header http.Header) (id, refused string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.4.20:8080"+path,
		strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return "", ""
	}
	request.Header = header
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+w.token)
	response, err := (&http.Client{Timeout: time.Minute}).Do(request)
	if err != nil {
		return "", lostConnection
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	var created struct{ Data struct{ ID json.Number } }
	switch {
	case err != nil:
		return "", lostConnection
	case response.StatusCode == http.StatusServiceUnavailable:
		return "", string(text)
	case response.StatusCode == http.StatusCreated && json.Unmarshal(text, &created) == nil:
		return created.Data.ID.String(), ""
	}
	t.Errorf("%s: %s %.300s", path, response.Status, text)
	return "", ""
}

const lostConnection = "the connection broke"

// bookBody returns the body of a request for a book.
func bookBody(genre, name string) string {
	return fmt.Sprintf(`{"name":%q,"pages":1,"published_at":"2000-01-02","author":"A","price":1,"genre_id":%s}`, name,
		genre)
}

// once posts a book without a key.
func (w *writers) once(t *testing.T, genre, name string) {
	t.Helper()
	id, refused := w.post(t, "/api/books", bookBody(genre, name), http.Header{})
	if refused != "" {
		w.others.Store(name, refused)
		time.Sleep(50 * time.Millisecond)
		return
	}
	w.names.Store(name, id)
	w.acknowledged.Add(1)
}

func (w *writers) write(t *testing.T, genre, name string) {
	id := w.send(t, "/api/books", bookBody(genre, name), name)
	now := time.Now().UnixNano()
	if last := w.last.Swap(now); last != 0 && now-last > w.pause.Load() {
		w.pause.Store(now - last)
	}
	w.names.Store(name, id)
	w.acknowledged.Add(1)
}

// find searches for an acknowledged book until the search is answered. No replica may lack it.
func (w *writers) find(t *testing.T, name string) {
	t.Helper()
	const facets = `{ facets { genres { count } categories { count } authors { count } years { count } } }`
	// of the medium class
	query := fmt.Sprintf(`{ books(search: %q) { nodes { name } } a: books %s b: books %[2]s c: books %[2]s }`, name,
		facets)
	for t.Context().Err() == nil {
		response, err := http.Get("http://127.0.4.20:8080/graphql?query=" + url.QueryEscape(query))
		if err != nil {
			continue
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode == http.StatusServiceUnavailable ||
			bytes.Contains(text, []byte(`"UNAVAILABLE"`)) {
			continue
		}
		w.searches.Add(1)
		if response.Header.Get("X-Catalogue-Source") == "replica" {
			w.replicas.Add(1)
		}
		if response.StatusCode != http.StatusOK || !bytes.Contains(text, []byte(name)) {
			t.Errorf("a search after the acknowledged creation of %q: %s %.300s", name, response.Status, text)
		}
		return
	}
}

// progress waits for more acknowledged writes.
func (w *writers) progress(t *testing.T, s *site) {
	t.Helper()
	want := w.acknowledged.Load() + 200
	s.await(t, "writes go on", func() bool { return w.acknowledged.Load() >= want })
}

// compare compares what the responses said with the books that are stored, and returns their ids.
func (w *writers) compare(t *testing.T) (ids []string) {
	t.Helper()
	var response struct {
		Data []struct {
			ID   json.Number
			Name string
		}
	}
	answer, err := http.Get("http://127.0.4.20:8080/api/books")
	must(t, err)
	defer answer.Body.Close()
	must(t, json.NewDecoder(answer.Body).Decode(&response))
	stored := map[string]string{}
	for _, b := range response.Data {
		if first, ok := stored[b.Name]; ok {
			t.Errorf("%q is stored twice: %s and %s", b.Name, first, b.ID)
		}
		stored[b.Name] = b.ID.String()
		ids = append(ids, b.ID.String())
	}
	lost := 0
	w.names.Range(func(name, id any) bool {
		if stored[name.(string)] != id {
			lost++
		}
		delete(stored, name.(string))
		return true
	})
	doubtful, storedInDoubt, refused := 0, 0, 0
	w.others.Range(func(name, text any) bool {
		_, found := stored[name.(string)]
		delete(stored, name.(string))
		switch {
		case text == lostConnection, strings.Contains(text.(string), "did not say whether"):
			doubtful++
			if found {
				storedInDoubt++
			}
		case found:
			t.Errorf("%q is stored, and the response to it was %.300s", name, text)
		default:
			refused++
		}
		return true
	})
	t.Logf("%d books acknowledged, %d of them lost; without a key, %d in doubt, %d of them stored, and %d refused; "+
		"%d of %d searches by replicas",
		w.acknowledged.Load(), lost, doubtful, storedInDoubt, refused, w.replicas.Load(), w.searches.Load())
	if w.replicas.Load() == 0 {
		t.Error("no search was answered by a replica")
	}
	if doubtful == 0 || lost > 0 || len(stored) > 0 {
		t.Errorf("the stored books are not those of the responses; no write sent %v", stored)
	}
	return ids
}
