package rest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/graph/model"
	"library-catalogue/server/servertest"
)

// change is a change as /api writes it.
type change struct {
	Position, Type string
	ID             int
	Operation      string
	Version        int
	Actor          *string
	Data           json.RawMessage
}

// changesOf returns a page of changes, its position and the address of the next page.
func changesOf(t *testing.T, c *servertest.Client, target string, headers ...string) (page []change, position, next string) {
	t.Helper()
	w := c.Do(http.MethodGet, target, "", headers...)
	var body struct {
		Message string
		Data    []change
	}
	servertest.Unmarshal(t, w.Body.String(), &body)
	if w.Code != http.StatusOK || body.Message != "Changes retrieved successfully" || body.Data == nil {
		t.Fatalf("%s: %d %s", target, w.Code, w.Body)
	}
	if link := regexp.MustCompile(`^<(.*)>; rel="next"$`).FindStringSubmatch(w.Header().Get("Link")); link != nil {
		next = link[1]
	}
	return body.Data, w.Header().Get("Catalogue-Position"), next
}

// operationsOf writes changes as "create book 1 v1".
func operationsOf(changes []change) (all []string) {
	for _, c := range changes {
		all = append(all, strings.ToLower(c.Operation)+" "+c.Type+" "+strconv.Itoa(c.ID)+" v"+strconv.Itoa(c.Version))
	}
	return all
}

// TestChanges reads the log in one page, in pages of three, and by GraphQL: they agree on each engine.
func TestChanges(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		c.Get(t, `mutation {
  a: updateBook(input: {id: 1, patch: {pages: 311}}) { book { id } }
  b: updateBook(input: {id: 1, patch: {genreId: 2}}) { book { id } }
  c: deleteBook(input: {id: 4}) { deletedBookId }
}`, "")
		all, end, next := changesOf(t, c, "/api/changes?limit=1000")
		want := []string{
			"create category 1 v1", "create category 2 v1", "create genre 1 v1", "create genre 2 v1", "create genre 3 v1",
			"create book 1 v1", "create book 2 v1", "create book 3 v1", "create book 4 v1",
			"update book 1 v2", "update book 1 v3", "delete book 4 v1",
		}
		if diff := cmp.Diff(want, operationsOf(all)); diff != "" || next != "" || end == "" {
			t.Errorf("next %q, end %q (-want +got):\n%s", next, end, diff)
		}
		for _, one := range all {
			if one.Actor == nil || *one.Actor != "tester" || (string(one.Data) == "null") != (one.Operation == "DELETE") {
				t.Errorf("%+v", one)
			}
		}
		var paged []change
		for next = "/api/changes?limit=3"; next != ""; {
			var page []change
			page, _, next = changesOf(t, c, next)
			paged = append(paged, page...)
		}
		if diff := cmp.Diff(all, paged); diff != "" {
			t.Errorf("in pages (-whole +pages):\n%s", diff)
		}
		for _, headers := range [][]string{{"Authorization:"}, {"Authorization: Bearer wrong"}} {
			if anonymous, _, _ := changesOf(t, c, "/api/changes?limit=1", headers...); anonymous[0].Actor != nil {
				t.Errorf("%s: the actor is shown: %+v", headers, anonymous[0])
			}
		}
		var answered struct {
			Changes struct {
				Nodes []struct {
					Position, ID, Type, RowID, RowNodeID, Operation string
					Version                                         int
					Actor                                           *string
					Book                                            *struct {
						Pages int
						Genre struct{ Name string }
					}
				}
				Position string
				HasMore  bool
			}
		}
		servertest.Unmarshal(t, c.Get(t, `{ changes(first: 1000) { position hasMore nodes { position id type rowId rowNodeId operation version actor book { pages genre { name } } } } }`, ""), &answered)
		var same []change
		for i, n := range answered.Changes.Nodes {
			id, err := strconv.Atoi(n.RowID)
			servertest.Must(t, err)
			typename, rowID, _ := model.ParseNodeID(n.RowNodeID)
			if n.ID != n.Position || strings.ToUpper(typename) != n.Type || rowID != model.ID(id) {
				t.Errorf("change %s has the id %s and the row %s %d", n.Position, n.ID, typename, rowID)
			}
			same = append(same, change{n.Position, strings.ToLower(n.Type), id, n.Operation, n.Version, n.Actor, all[i].Data})
		}
		if diff := cmp.Diff(all, same); diff != "" || answered.Changes.Position != end || answered.Changes.HasMore {
			t.Errorf("position %s (-REST +GraphQL):\n%s", answered.Changes.Position, diff)
		}
		if first, third := answered.Changes.Nodes[5].Book, answered.Changes.Nodes[10].Book; first.Genre.Name != "Fantasy" || first.Pages != 310 || third.Genre.Name != "Novel" || third.Pages != 311 {
			t.Errorf("books %+v and %+v", first, third)
		}
		for filter, want := range map[string][]string{
			"types=genre,category&limit=3":                {"create category 1 v1", "create category 2 v1", "create genre 1 v1"},
			"types=book&ids=4":                            {"create book 4 v1", "delete book 4 v1"},
			"types[]=book&genre_id=1":                     {"create book 1 v1", "create book 2 v1", "update book 1 v2", "update book 1 v3"}, // the last one leaves the genre
			"types=book&author=jane+austen&price_max=1":   {"create book 3 v1"},
			"types=genre&category_id=2":                   {"create genre 3 v1"},
			"types=book&ids=1,4&price_min=9&after=" + end: nil,
		} {
			if got, _, _ := changesOf(t, c, "/api/changes?"+filter); !slices.Equal(operationsOf(got), want) {
				t.Errorf("%s: %q, want %q", filter, operationsOf(got), want)
			}
		}
		if got := c.Get(t, `{ changes(filter: {book: {genreId: {eq: 1}}}) { nodes { id } } }`, ""); strings.Count(got, `"id"`) != 4 {
			t.Errorf("by GraphQL: %s", got)
		}
	})
}

// TestDeletedParent reads a book of the past whose genre is gone.
func TestDeletedParent(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		c.Get(t, `mutation { deleteGenre(input: {id: 1, onChildren: CASCADE}) { deletedGenreId } }`, "")
		a := c.Ask(t, `{ changes(types: [BOOK], ids: [1]) { nodes { operation book { genreId genre { name } } } } }`, "")
		if got := string(a.Data); got != `{"changes":{"nodes":[{"operation":"CREATE","book":null},{"operation":"DELETE","book":null}]}}` ||
			len(a.Errors) != 1 || a.Errors[0].Extensions.Code != "NOT_FOUND" || !strings.Contains(a.Errors[0].Message, "genre 1 was deleted") {
			t.Errorf("%s %+v", got, a.Errors)
		}
	})
}

// TestChangesRefused asks for changes in wrong ways on both interfaces.
func TestChangesRefused(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		_, end, _ := changesOf(t, c, "/api/changes")
		for target, want := range map[string]struct {
			status int
			text   string
		}{
			"limit=0":                     {422, `"limit"`},
			"limit=1001":                  {422, `"limit"`},
			"types=author":                {422, `The types field must be a comma-separated list`},
			"ids=1":                       {422, `needs exactly one type`},
			"types=book,genre&genre_id=1": {422, `The genre id field needs exactly one type`},
			"types=book&price_min=x":      {422, `The price min field must be a number.`},
			"after=nonsense":              {422, `position`},
			"after=" + end + "x":          {422, `position`},
		} {
			for _, accept := range []string{"application/json", "text/event-stream"} {
				if w := c.Do(http.MethodGet, "/api/changes?"+target, "", "Accept: "+accept); w.Code != want.status || !strings.Contains(w.Body.String(), want.text) || !strings.HasPrefix(w.Body.String(), `{"success":false`) {
					t.Errorf("%s as %s: %d %s", target, accept, w.Code, w.Body)
				}
			}
		}
		for document, message := range map[string]string{
			`{ changes(first: 1001) { position } }`:                                         "first",
			`{ changes(ids: [1]) { position } }`:                                            "exactly one type",
			`{ changes(filter: {}) { position } }`:                                          "exactly one",
			`{ changes(filter: {book: {id: {eq: 1}}, genre: {}}) { position } }`:            "exactly one",
			`{ changes(types: [GENRE], filter: {book: {id: {eq: 1}}}) { position } }`:       "The types argument",
			`{ changes(after: "nonsense") { position } }`:                                   "position",
			`{ changes(types: [BOOK], filter: {book: {price: {gte: null}}}) { position } }`: "null",
			`subscription { changes { position } }`:                                         "A subscription needs a stream",
		} {
			w := c.Do(http.MethodPost, "/graphql", servertest.Encode(t, map[string]string{"query": document}))
			if a := servertest.Parse(t, w); len(a.Errors) != 1 || !strings.Contains(a.Errors[0].Message, message) {
				t.Errorf("%s: %d %+v", document, w.Code, a.Errors)
			}
		}
	})
}

// event is a server-sent event.
type event struct{ name, id, data, retry string }

// follow opens a stream of changes and returns its events.
func follow(t *testing.T, c *servertest.Client, target string, headers ...string) (<-chan event, context.CancelFunc) {
	t.Helper()
	server := httptest.NewServer(c.Handler)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { cancel(); server.Close() })
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+target, nil)
	servertest.Must(t, err)
	r.Header.Set("Accept", "text/event-stream")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	response, err := server.Client().Do(r)
	servertest.Must(t, err)
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s: %s %s", target, response.Status, response.Header)
	}
	events := make(chan event, 1000)
	go func() {
		defer close(events)
		defer response.Body.Close()
		var e event
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			switch name, value, _ := strings.Cut(lines.Text(), ": "); name {
			case "event":
				e.name = value
			case "id":
				e.id = value
			case "data":
				e.data = value
			case "retry":
				e.retry = value
			case "":
				if e != (event{}) {
					events <- e
				}
				e = event{}
			}
		}
	}()
	return events, cancel
}

// TestEventStream follows the changes, breaks off, and resumes by Last-Event-ID: each change comes once.
func TestEventStream(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		all, end, _ := changesOf(t, c, "/api/changes?limit=1000")
		events, stop := follow(t, c, "/api/changes")
		begin := <-events
		if begin.data != "" || begin.id == "" || begin.retry == "" {
			t.Errorf("the stream begins with %+v", begin)
		}
		c.Get(t, `mutation { updateBook(input: {id: 1, patch: {name: "Bilbo"}}) { book { id } } }`, "")
		var seen change
		for e := range events {
			if e.data == "" {
				continue
			}
			servertest.Unmarshal(t, e.data, &seen)
			if seen.Position != e.id || seen.Actor != nil || seen.Version != 2 || !strings.Contains(string(seen.Data), "Bilbo") {
				t.Errorf("event %s: %+v", e.id, seen)
			}
			break
		}
		stop()
		events, _ = follow(t, c, "/api/changes?types=book&after="+end, "Last-Event-ID: "+all[4].Position)
		var ids []string
		for e := range events {
			if e.data != "" {
				ids = append(ids, e.id)
			}
			if e.id == seen.Position {
				break
			}
		}
		want := []string{all[5].Position, all[6].Position, all[7].Position, all[8].Position, seen.Position}
		if !slices.Equal(ids, want) {
			t.Errorf("resumed with %q, want %q", ids, want)
		}
		if w := c.Do(http.MethodHead, "/api/changes", "", "Accept: text/event-stream"); w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("HEAD: %d %s", w.Code, w.Header())
		}
	})
}

// TestChangesAsDescribed wants responses as openapi.yaml describes them.
func TestChangesAsDescribed(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		s.fill(3)
		a := s.want(http.StatusOK, "GET", "/api/changes?limit=2", "")
		s.want(http.StatusNotModified, "GET", "/api/changes?limit=2", "", "If-None-Match: "+a.header.Get("ETag"))
		s.want(http.StatusOK, "GET", "/api/changes?types=book&price_min=0&after="+a.header.Get("Catalogue-Position"), "")
		s.want(http.StatusGone, "GET", "/api/changes?after=99999999999.0", "")
		s.want(http.StatusUnprocessableEntity, "GET", "/api/changes?types=x", "")
		s.want(http.StatusOK, "GET", "/api/books?per_page=1", "", "Catalogue-Position: report")
		s.fill(250) // a whole list from a temporary file
		for _, encoding := range []string{"identity", "gzip"} {
			w := s.want(http.StatusOK, "GET", "/api/books", "", "Catalogue-Position: report", "Accept-Encoding: "+encoding)
			if position := w.header.Get("Catalogue-Position"); !strings.Contains(position, ".") || strings.Contains(w.body, position) {
				t.Errorf("a long list has the position %q", position)
			}
			if w = s.want(http.StatusOK, "GET", "/api/books", "", "Accept-Encoding: "+encoding); w.header.Get("Catalogue-Position") != "" {
				t.Errorf("a position that was not requested")
			}
		}
	})
}
