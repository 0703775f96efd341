package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/auth"
)

// tokenOf returns the header with a token, valid from then for an hour.
func tokenOf(t *testing.T, subject string, from time.Time, scopes ...string) string {
	t.Helper()
	token, err := auth.Sign(secret, subject, "", "", time.Hour, from, scopes...)
	must(t, err)
	return "Authorization: Bearer " + token
}

// TestViewer asks who is asking, as several people and nobody in turn, by a server
// that caches answers.
func TestViewer(t *testing.T) {
	t.Parallel()
	c := newCached(t, catalogtest.SQLite(t), 1<<20)
	now := time.Now()
	const document = `{ viewer { expiresAt __typename who: subject scopes } }`
	ends := string(model.Timestamp(now.Add(time.Hour).Truncate(time.Second).UnixMicro()).AppendJSON(nil))
	for range 3 {
		for header, want := range map[string]string{
			"Authorization:": `{"data":{"viewer":null}}`,
			tokenOf(t, "ada", now, "books:create", "a"): `{"data":{"viewer":{"expiresAt":` + ends + `,"__typename":"Viewer","who":"ada","scopes":["books:create","a"]}}}`,
			tokenOf(t, "", now):                         `{"data":{"viewer":{"expiresAt":` + ends + `,"__typename":"Viewer","who":null,"scopes":[]}}}`,
		} {
			if w := c.do(http.MethodPost, "/graphql", `{"query":"`+document+`"}`, header); w.Body.String() != want || !strings.Contains(w.Header().Get("Server-Timing"), "plan") {
				t.Errorf("%s: %s, %s", header, w.Header().Get("Server-Timing"), w.Body)
			}
			if w := c.do(http.MethodGet, byGet(document), "", header); w.Body.String() != want || w.Header().Get("ETag") != "" || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s by GET: %v %s", header, w.Header(), w.Body)
			}
		}
	}
	c.wantError(t, document, "", "UNAUTHENTICATED", "The token has expired.", tokenOf(t, "ada", now.Add(-2*time.Hour)))
	c.wantError(t, document, "", "UNAUTHENTICATED", "The token is not valid.", "Authorization: Bearer x")
}

// badTokens are headers that are not accepted, with the code of the warning.
func badTokens(t *testing.T) map[string]string {
	return map[string]string{
		tokenOf(t, "ada", time.Now().Add(-2*time.Hour)): "TOKEN_EXPIRED",
		tokenOf(t, "ada", time.Now()) + "x":             "TOKEN_INVALID",
		"Authorization: Bearer":                         "TOKEN_INVALID",
		"Authorization: Basic dGVzdGVyOg==":             "TOKEN_INVALID",
	}
}

// TestBadTokensAreTold reads with tokens that are not accepted, from the cache too: the
// answer says so, and nobody else gets that answer.
func TestBadTokensAreTold(t *testing.T) {
	t.Parallel()
	c := newCached(t, catalogtest.SQLite(t), 1<<20)
	const document = `{ book(id: 1) { name } }`
	const data = `"data":{"book":{"name":"The Hobbit"}}`
	wantNothing := func() {
		t.Helper()
		for _, header := range []string{"Authorization:", "X-Nothing:"} { // nobody, and the tester
			w := c.do(http.MethodPost, "/graphql", `{"query":"`+document+`"}`, header)
			if w.Body.String() != `{`+data+`}` || w.Header().Get("WWW-Authenticate") != "" {
				t.Errorf("%s: %v %s", header, w.Header(), w.Body)
			}
			if w := c.do(http.MethodGet, "/api/books/1", "", header); w.Header().Get("WWW-Authenticate") != "" {
				t.Errorf("%s: %v", header, w.Header())
			}
		}
	}
	for header, code := range badTokens(t) {
		for range 3 {
			w := c.do(http.MethodPost, "/graphql", `{"query":"`+document+`"}`, header)
			if w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), `{`+data+`,"extensions":{"warnings":[{"code":"`+code+`","message":"The token `) {
				t.Errorf("%s: %d %s", header, w.Code, w.Body)
			}
			wantChallenge(t, header, w.Header())
			w = c.do(http.MethodGet, byGet(document), "", header)
			if w.Header().Get("ETag") != "" || !strings.Contains(w.Body.String(), code) {
				t.Errorf("%s by GET: %v %s", header, w.Header(), w.Body)
			}
			wantChallenge(t, header, w.Header())
			w = c.do(http.MethodGet, "/api/books/1", "", header)
			if w.Code != http.StatusOK || strings.Contains(w.Body.String(), code) {
				t.Errorf("%s: %d %s", header, w.Code, w.Body)
			}
			wantChallenge(t, header, w.Header())
			w = c.do(http.MethodPost, "/api/books", `{}`, header)
			if w.Code != http.StatusUnauthorized || w.Body.String() != `{"success":false,"message":"Unauthenticated.","data":null}` || w.Header().Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("a write, %s: %d %v %s", header, w.Code, w.Header(), w.Body)
			}
		}
		wantNothing()
	}
	if w := c.do(http.MethodGet, "/api/books/1", "", "Authorization: Bearer x"); !cached(w) {
		t.Error("no answer with a bad token came from the cache: the test says little")
	}
}

// wantChallenge demands what RFC 6750, section 3, says of a token that is not accepted.
func wantChallenge(t *testing.T, token string, header http.Header) {
	t.Helper()
	challenge := header["Www-Authenticate"]
	if len(challenge) != 1 || !strings.HasPrefix(challenge[0], `Bearer error="invalid_token", error_description="The token `) || strings.Count(challenge[0], `"`) != 4 {
		t.Errorf("%s: WWW-Authenticate: %q", token, challenge)
	}
}

// TestValidTokensAreRequired reads with bad tokens where that is an error.
func TestValidTokensAreRequired(t *testing.T) {
	t.Parallel()
	c := newCached(t, catalogtest.SQLite(t), 1<<20)
	c.handler = newHandler(t, c.log, server.Config{
		Catalogue: resolvers.New(c.store), Authenticate: c.authenticate, CacheBytes: 1 << 20, RequireValidToken: true,
	})
	targets := map[string]string{byGet("{ book(id: 1) { name } }"): "UNAUTHENTICATED", "/api/books/1": `{"success":false,"message":"Unauthenticated.","data":null}`, "/": ""}
	for range 3 { // that it is cached changes nothing
		for target, text := range targets {
			for _, header := range []string{"Authorization:", "X-Nothing:"} {
				if w := c.do(http.MethodGet, target, "", header); w.Code != http.StatusOK {
					t.Errorf("%s, %s: %d %s", target, header, w.Code, w.Body)
				}
			}
			for header := range badTokens(t) {
				w := c.do(http.MethodGet, target, "", header)
				if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), text) {
					t.Errorf("%s, %s: %d %s", target, header, w.Code, w.Body)
				}
				if target == "/api/books/1" {
					if w.Header().Get("WWW-Authenticate") != "Bearer" {
						t.Errorf("%s: %v", header, w.Header())
					}
				} else {
					wantChallenge(t, header, w.Header())
				}
			}
		}
	}
}
