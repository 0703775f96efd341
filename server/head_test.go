package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"library-catalogue/server"
)

// TestHead asks GraphQL by HEAD for what GET answers (RFC 9110, section 9.3.2),
// over a connection.
func TestHead(t *testing.T) {
	t.Parallel()
	c := shelved(t)
	srv := httptest.NewServer(newHandler(t, c.log, server.Config{Catalogue: c.catalogue, Authenticate: c.authenticate, CacheBytes: 1 << 20}))
	defer srv.Close()
	ask := func(method, query, tag string) (*http.Response, string) {
		request, err := http.NewRequest(method, srv.URL+"/graphql?query="+url.QueryEscape(query), nil)
		must(t, err)
		request.Header.Set("Accept", "application/graphql-response+json")
		request.Header.Set("Accept-Encoding", "identity")
		request.Header.Set("Authorization", "Bearer "+c.token)
		if tag != "" {
			request.Header.Set("If-None-Match", tag)
		}
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		must(t, err)
		return response, string(body)
	}
	for query, status := range map[string]int{
		`{ books(first: 1) { nodes { name } } }`: 200, `{ isbn }`: 400, ``: 400, tooMuch: 400, mutations["deleteBook"]: 405,
	} {
		for range 3 { // from the cache too
			got, _ := ask(http.MethodGet, query, "")
			head, body := ask(http.MethodHead, query, "")
			if head.StatusCode != status || got.StatusCode != status || body != "" {
				t.Errorf("%s: status %d by HEAD, %d by GET, want %d: %s", query, head.StatusCode, got.StatusCode, status, body)
			}
			for _, name := range []string{"Allow", "Cache-Control", "Content-Type", "ETag", "Vary"} {
				if h, g := head.Header.Get(name), got.Header.Get(name); h != g {
					t.Errorf("%s: %s is %q by HEAD, %q by GET", query, name, h, g)
				}
			}
			if status == 200 && head.ContentLength != got.ContentLength { // an error has its request's id
				t.Errorf("%s: %d bytes by HEAD, %d by GET", query, head.ContentLength, got.ContentLength)
			}
			if tag := head.Header.Get("ETag"); tag != "" {
				if again, _ := ask(http.MethodHead, query, tag); again.StatusCode != http.StatusNotModified {
					t.Errorf("%s: status %d by HEAD for its tag", query, again.StatusCode)
				}
			}
		}
	}
	if allow := c.do(http.MethodDelete, "/graphql", "").Header().Get("Allow"); allow != "GET, HEAD, POST" {
		t.Errorf("allowed are %s", allow)
	}
	c.want(t, "{ books { totalCount } }", "", `{"books":{"totalCount":4}}`)
}
