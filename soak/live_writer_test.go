package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// liveWriter writes its rows, which no other writer changes, and knows what they have to be.
type liveWriter struct {
	*liveSite
	n                       int // writes so far
	category, genre, book   string
	categoryName, genreName string
	pages                   map[string]int // by id of the book
	documents               []*liveDocument
}

// newWriter creates rows of a new writer, and its documents.
func (l *liveSite) newWriter(t *testing.T) *liveWriter {
	t.Helper()
	w := &liveWriter{liveSite: l, categoryName: "C", genreName: "G", pages: map[string]int{}}
	w.category = w.create(t, "/api/categories", `{"name":"C"}`)
	w.genre = w.create(t, "/api/genres", fmt.Sprintf(`{"name":"G","category_id":%s}`, w.category))
	w.book = w.createBook(t)
	rows := strings.NewReplacer("$category", w.category, "$genre", w.genre, "$book", w.book)
	for _, text := range writerDocuments {
		w.documents = append(w.documents, &liveDocument{text: rows.Replace(text), isOfWriter: true})
	}
	l.documents = append(l.documents, w.documents...)
	w.readAll(t)
	return w
}

// readAll adds the answers of now to the documents.
func (w *liveWriter) readAll(t *testing.T) {
	t.Helper()
	for _, d := range w.documents {
		d.states = append(d.states, w.read(t, d))
	}
}

// write writes once, by a random door. The pages of all books that a write touches are its number.
func (w *liveWriter) write(t *testing.T) {
	t.Helper()
	w.n++
	ids := slices.Sorted(maps.Keys(w.pages))
	id := ids[rand.IntN(len(ids))]
	touched := []string{id}
	price := rand.IntN(40)
	switch door := rand.IntN(8); {
	case door == 0 || len(ids) < 5:
		touched = []string{w.createBook(t)}
	case door == 1:
		w.send(t, http.MethodPut, "/api/books/"+id, w.bookBody())
	case door == 2 && id != w.book:
		w.mutate(t, `deleteBook(input: {id: %s})`, id)
		delete(w.pages, id)
		touched = nil
	case door == 3:
		w.genreName = fmt.Sprint("Genre ", w.n)
		w.mutate(t, `updateGenre(input: {id: %s, patch: {name: %q}})`, w.genre, w.genreName)
		touched = nil
	case door == 4:
		w.categoryName = fmt.Sprint("Category ", w.n)
		w.mutate(t, `updateCategory(input: {id: %s, patch: {name: %q}})`, w.category, w.categoryName)
		touched = nil
	case door == 5:
		w.mutate(t, `updateBooks(input: {filter: {genreId: {eq: %s}}, patch: {pages: %d, price: %d}, atMost: 1000})`,
			w.genre, w.n, price)
		touched = ids
	case door == 6:
		touched = ids[:rand.IntN(len(ids))+1]
		w.execute(t, fmt.Sprintf(`UPDATE books SET pages = %d, author = 'Bea' WHERE id IN (%s)`, w.n,
			strings.Join(touched, ", ")))
	default:
		w.mutate(t, `updateBook(input: {id: %s, patch: {pages: %d, price: %d}})`, id, w.n, price)
	}
	for _, id := range touched {
		w.pages[id] = w.n
	}
	w.writes.Add(1)
	w.readAll(t)
}

// compare compares the stored rows with what the acknowledged writes have made of them.
func (w *liveWriter) compare(t *testing.T) {
	t.Helper()
	const query = `{genre(id: %s) {name category {name} books(first: 1000) {nodes {id pages}}}}`
	text, _ := w.send(t, http.MethodGet, queryPath(fmt.Sprintf(query, w.genre)), "")
	var got struct {
		Data struct {
			Genre struct {
				Name     string
				Category struct{ Name string }
				Books    struct {
					Nodes []struct {
						ID    string
						Pages int
					}
				}
			}
		}
	}
	must(t, json.Unmarshal(text, &got))
	pages := map[string]int{}
	for _, b := range got.Data.Genre.Books.Nodes {
		pages[b.ID] = b.Pages
	}
	genre := got.Data.Genre
	if genre.Name != w.genreName || genre.Category.Name != w.categoryName || !maps.Equal(pages, w.pages) {
		t.Errorf("stored are %s, %s and %v, acknowledged were %s, %s and %v", genre.Name, genre.Category.Name, pages,
			w.genreName, w.categoryName, w.pages)
	}
}

func (w *liveWriter) bookBody() string {
	word := func(words ...string) string { return words[rand.IntN(len(words))] }
	return fmt.Sprintf(`{"name":"The %s %s %d","pages":%d,"published_at":"%d-01-02","author":%q,"price":%d,
		"genre_id":%s}`, word("green", "red"), word("fox", "hill"), w.n, max(w.n, 1), 2000+rand.IntN(3),
		word("Ann", "Bea", "Cem"), rand.IntN(40), w.genre)
}

func (w *liveWriter) createBook(t *testing.T) (id string) {
	t.Helper()
	id = w.create(t, "/api/books", w.bookBody())
	w.pages[id] = max(w.n, 1)
	return id
}

var createdID = regexp.MustCompile(`"id":(\d+)`)

func (l *liveSite) create(t *testing.T, path, body string) (id string) {
	t.Helper()
	text, _ := l.send(t, http.MethodPost, path, body)
	if found := createdID.FindSubmatch(text); found != nil {
		return string(found[1])
	}
	return ""
}

func (l *liveSite) mutate(t *testing.T, format string, args ...any) {
	t.Helper()
	query, err := json.Marshal("mutation {" + fmt.Sprintf(format, args...) + " {clientMutationId}}")
	must(t, err)
	l.send(t, http.MethodPost, "/graphql", `{"query":`+string(query)+`}`)
}

// execute runs a statement on the primary until it succeeds, as another program would.
func (l *liveSite) execute(t *testing.T, statement string) {
	t.Helper()
	for t.Context().Err() == nil {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		err := exec.CommandContext(ctx, "psql", "--command="+statement,
			"postgres://catalogue_server:server@127.0.4.20:5000/catalogue?sslmode=require").Run()
		if cancel(); err == nil {
			return
		}
		pause(t.Context(), 50*time.Millisecond)
	}
}

// read returns the answer of now to a document.
func (l *liveSite) read(t *testing.T, d *liveDocument) string {
	t.Helper()
	path := d.text
	if !d.isREST() {
		path = queryPath("{" + path + "}")
	}
	text, header := l.send(t, http.MethodGet, path, "")
	state, _, _ := stateOf(text)
	return header.Get("X-Total-Count") + state
}

func queryPath(document string) string { return "/graphql?query=" + url.QueryEscape(document) }

// send sends a request to the gateways in turn until it is answered. A POST has a key, so that it is stored once.
func (l *liveSite) send(t *testing.T, method, path, body string) (text []byte, header http.Header) {
	t.Helper()
	key := fmt.Sprint(l.requests.Add(1))
	for t.Context().Err() == nil {
		gateway := gateways[l.requests.Add(1)%int64(len(gateways))]
		request, err := http.NewRequestWithContext(t.Context(), method, "http://"+gateway+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			break
		}
		request.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + l.token}}
		if method == http.MethodPost {
			request.Header.Set("Idempotency-Key", key)
		}
		response, err := (&http.Client{Timeout: time.Minute}).Do(request)
		if err == nil {
			text, err = io.ReadAll(response.Body)
			response.Body.Close()
		}
		switch {
		case err != nil, response.StatusCode >= http.StatusBadGateway, bytes.Contains(text, []byte(`"UNAVAILABLE"`)):
			pause(t.Context(), 50*time.Millisecond)
		case response.StatusCode > http.StatusCreated, bytes.Contains(text, []byte(`"errors":`)):
			t.Errorf("%s %s %s: %s %.300s", method, path, body, response.Status, text)
			return text, response.Header
		default:
			return text, response.Header
		}
	}
	return nil, nil
}
