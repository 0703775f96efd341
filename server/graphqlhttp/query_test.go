package graphqlhttp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"library-catalogue/server"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/servertest"
)

// TestQuery sends requests by QUERY (RFC 10008): they read only, and need a media type.
func TestQuery(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		const query, data = `{"query":"{ book(id: 1) { name } }"}`, `{"data":{"book":{"name":"The Hobbit"}}}`
		document := func(text string) string { return `{"query":` + servertest.Encode(t, text) + `}` }
		const subscription = `subscription { changes { position } }`
		for name, tt := range map[string]struct {
			body    string
			headers []string
			status  int
			allow   string
			want    string // the beginning of the body, or the error's code
		}{
			"a query":               {query, nil, 200, "", data},
			"with variables":        {`{"query":"query ($id: ID!) { book(id: $id) { name } }","variables":{"id":1}}`, nil, 200, "", data},
			"by hash, unknown":      {`{"extensions":` + byHash(hashOf("{ book(id: 1) { name } }")) + `}`, nil, 200, "", "PERSISTED_QUERY_NOT_FOUND"},
			"as an event":           {query, []string{"Accept: text/event-stream"}, 200, "", "event: next\ndata: " + data},
			"a mutation":            {document(servertest.Mutations["deleteBook"]), nil, 405, "POST", "BAD_USER_INPUT"},
			"a mutation of two":     {`{"query":"query A { __typename } mutation B { deleteBook(input: {id: 1}) { deletedBookId } }","operationName":"B"}`, nil, 405, "POST", "BAD_USER_INPUT"},
			"a subscription":        {document(subscription), nil, 405, "GET, POST", "BAD_USER_INPUT"},
			"a subscription, event": {document(subscription), []string{"Accept: text/event-stream"}, 405, "GET, POST", "BAD_USER_INPUT"},
			"no media type":         {query, []string{"Content-Type:"}, 415, "", "BAD_USER_INPUT"},
			"text":                  {query, []string{"Content-Type: text/plain"}, 415, "", "BAD_USER_INPUT"},
			"a form":                {"query={__typename}", []string{"Content-Type: application/x-www-form-urlencoded"}, 415, "", "BAD_USER_INPUT"},
			"no JSON":               {"{ book(id: 1) { name } }", nil, 400, "", "BAD_USER_INPUT"},
			"no request":            {`{"qeury":""}`, []string{"Accept: application/graphql-response+json"}, 422, "", "BAD_USER_INPUT"},
			"an invalid document":   {document("{ isbn }"), []string{"Accept: application/graphql-response+json"}, 422, "", "GRAPHQL_VALIDATION_FAILED"},
			"no acceptable type":    {query, []string{"Accept: text/html"}, 406, "", "BAD_USER_INPUT"},
			"a long body":           {strings.Repeat("x", 2<<20), nil, 413, "", "TOO_LARGE"},
			"compressed":            {query, []string{"Content-Encoding: gzip"}, 415, "", "BAD_USER_INPUT"},
		} {
			w := c.Do("QUERY", "/graphql", tt.body, tt.headers...)
			if w.Code != tt.status || w.Header().Get("Allow") != tt.allow || w.Header().Get("Accept-Query") != "application/json" {
				t.Errorf("%s: status %d, want %d, %v: %.200s", name, w.Code, tt.status, w.Header(), w.Body)
			}
			if !strings.HasPrefix(w.Body.String(), tt.want) && !strings.Contains(w.Body.String(), `"code":"`+tt.want+`"`) {
				t.Errorf("%s: %.200s, want %s", name, w.Body, tt.want)
			}
		}
		c.Want(t, "{ books { totalCount } }", "", `{"books":{"totalCount":4}}`) // no mutation came through
		for method, target := range map[string]string{"GET": "/graphql?query={__typename}", "POST": "/graphql", "OPTIONS": "/graphql", "PUT": "/graphql"} {
			if w := c.Do(method, target, query); w.Header().Get("Accept-Query") != "application/json" {
				t.Errorf("%s: Accept-Query %q", method, w.Header().Get("Accept-Query"))
			}
		}
	})
}

// TestQueryOfTrustedDocuments sends documents by QUERY to a server that runs only those of a manifest.
func TestQueryOfTrustedDocuments(t *testing.T) {
	c := servertest.Shelved(t)
	c.Reconfigure(t, server.Config{GraphQL: graphqlhttp.Options{Trusted: graphqlhttp.TrustedDocuments{"x": "{ book(id: 1) { name } }"}}})
	wants(t, "by id", c.Do("QUERY", "/graphql", `{"documentId":"x"}`), `{"book":{"name":"The Hobbit"}}`)
	wants(t, "another", c.Do("QUERY", "/graphql", `{"query":"{ __typename }"}`), "FORBIDDEN")
}

// TestConditionalQuery sends queries by QUERY again: to clients that have the response, and from the cache, which
// distinguishes bodies and shares responses with GET.
func TestConditionalQuery(t *testing.T) {
	c := servertest.Shelved(t)
	c.Reconfigure(t, server.Config{CacheBytes: 1 << 20})
	ask := func(id, tag string) *httptest.ResponseRecorder {
		return c.Do("QUERY", "/graphql", `{"query":"query ($id: ID!) { book(id: $id) { name } }","variables":{"id":`+id+`}}`, "If-None-Match: "+tag)
	}
	for range 2 {
		first := ask("1", "")
		tag := first.Header().Get("ETag")
		if first.Code != http.StatusOK || tag == "" || first.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("status %d, %v", first.Code, first.Header())
		}
		if again := ask("1", tag); again.Code != http.StatusNotModified || again.Body.Len() > 0 || again.Header().Get("ETag") != tag || again.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("again: status %d, %v: %s", again.Code, again.Header(), again.Body)
		}
		for range 2 {
			for id, name := range map[string]string{"1": "The Hobbit", "99": ""} {
				w := ask(id, "")
				if got := w.Body.String(); strings.Contains(got, "The Hobbit") != (name != "") || w.Header().Get("ETag") != tag {
					t.Errorf("%s: %v: %s", id, w.Header(), got)
				}
			}
		}
		cached := ask("1", "")
		if !servertest.FromCache(cached) || cached.Header().Get("Accept-Query") != "application/json" || cached.Body.String() != first.Body.String() {
			t.Errorf("%v: %s", cached.Header(), cached.Body)
		}
		c.Get(t, servertest.Mutations["createBook"], "")
		if later := ask("1", tag); later.Code != http.StatusOK || later.Header().Get("ETag") == tag {
			t.Errorf("status %d after a write", later.Code)
		}
	}
	if w := ask("null", "*"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "errors") {
		t.Errorf("an invalid variable: status %d: %s", w.Code, w.Body)
	}
	if w := c.Do("POST", "/graphql", `{"query":"query ($id: ID!) { book(id: $id) { name } }","variables":{"id":1}}`, "If-None-Match: *"); w.Code != http.StatusOK || w.Header().Get("ETag") != "" {
		t.Errorf("POST: status %d, %v", w.Code, w.Header())
	}
}
