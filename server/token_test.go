package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/auth"
)

// needed are the scopes of the mutations that do one thing each; any other
// mutation wants catalogue:write, or what its resolver says.
var needed = map[string][]string{
	"createBook": {"books:create"}, "updateBook": {"books:update"}, "deleteBook": {"books:delete"},
	"createGenre": {"genres:create"}, "updateGenre": {"genres:update"}, "deleteGenre": {"genres:delete", "books:delete"},
	"createCategory": {"categories:create"}, "updateCategory": {"categories:update"},
	"deleteCategory": {"categories:delete", "genres:delete", "books:delete"},
	"upsertBook":     {"books:create", "books:update"}, "upsertGenre": {"genres:create", "genres:update"}, "upsertCategory": {"categories:create", "categories:update"},
	"updateBooks": {"books:update"}, "updateGenres": {"genres:update"}, "updateCategories": {"categories:update"},
	"deleteBooks": {"books:delete"}, "deleteGenres": {"genres:delete", "books:delete"},
	"deleteCategories": {"categories:delete", "genres:delete", "books:delete"},
	"createBooks":      {"books:create"}, "createGenres": {"genres:create"}, "createCategories": {"categories:create"},
}

// serveScoped returns a client of a server that wants scopes.
func serveScoped(t *testing.T, change ...func(*server.Config)) *client {
	t.Helper()
	verifier, err := auth.New(t.Context(), auth.Config{Secret: secret, Scoped: true})
	must(t, err)
	c := serveWith(t, func(cfg *server.Config) {
		cfg.Authenticate = verifier.Middleware
		for _, change := range change {
			change(cfg)
		}
	})
	c.token = tokenFor(t, "catalogue:write")
	return c
}

func tokenFor(t *testing.T, scopes ...string) string {
	t.Helper()
	token, err := auth.Sign(secret, "tester", "", "", time.Hour, time.Now(), scopes...)
	must(t, err)
	return token
}

// TestScopes tries every mutation, and every write of /api, with tokens that have
// all scopes but one, only those that are needed, and others.
func TestScopes(t *testing.T) {
	t.Parallel()
	all := []string{"catalogue:read", "catalogue", "write", "catalogue:*", "books:*", "*", "Catalogue:Write", "catalogue:write:more"}
	for _, scopes := range needed {
		for _, scope := range scopes {
			if !slices.Contains(all, scope) {
				all = append(all, scope)
			}
		}
	}
	c := serveScoped(t)
	c.shelves(t)
	refused := func(document string, scopes ...string) {
		t.Helper()
		before := revision(t, c.store)
		c.wantError(t, document, "", "FORBIDDEN", "The token lacks the scope ", "Authorization: Bearer "+tokenFor(t, scopes...))
		if revision(t, c.store) != before {
			t.Errorf("%s was refused and wrote", document)
		}
	}
	for name, document := range mutations {
		refused(document)
		refused(document, "catalogue:read", "nothing:"+name)
		for _, scope := range needed[name] {
			f := c.wantError(t, document, "", "FORBIDDEN", "The token lacks the scope "+scope+".",
				"Authorization: Bearer "+tokenFor(t, without(all, scope)...))
			if len(f.Path) != 1 {
				t.Errorf("%s: path %v", document, f.Path)
			}
		}
	}
	for name, document := range mutations {
		for _, scopes := range [][]string{needed[name], {"x", "catalogue:write"}} {
			if scopes == nil {
				continue
			}
			c := serveScoped(t)
			if name != "loadSample" {
				c.shelves(t)
			}
			if a := c.ask(t, document, "", "Authorization: Bearer "+tokenFor(t, scopes...)); len(a.Errors) > 0 {
				t.Errorf("%s with %s: %+v", document, scopes, a.Errors)
			}
		}
	}
}

func without(all []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == one })
}

func TestScopesOfREST(t *testing.T) {
	t.Parallel()
	c := serveScoped(t)
	c.shelves(t)
	book := `{"name":"Momo","pages":304,"published_at":"1973-01-01","author":"Michael Ende","price":9.99,"genre_id":1}`
	for _, tt := range []struct {
		method, target, body string
		scopes               []string
		status               int
	}{
		{"POST", "/api/books", book, []string{"books:create"}, 201},
		{"PUT", "/api/books/1", book, []string{"books:update"}, 200},
		{"POST", "/api/genres", `{"name":"N","category_id":"1"}`, []string{"genres:create"}, 201},
		{"PUT", "/api/genres/1", `{"name":"N","category_id":"1"}`, []string{"genres:update"}, 200},
		{"POST", "/api/categories", `{"name":"N"}`, []string{"categories:create"}, 201},
		{"PUT", "/api/categories/1", `{"name":"N"}`, []string{"categories:update"}, 200},
		{"DELETE", "/api/books/1", "", []string{"books:delete"}, 200},
		{"DELETE", "/api/genres/1", "", []string{"genres:delete"}, 409}, // its books stay
		{"DELETE", "/api/genres/1?cascade=true", "", []string{"genres:delete", "books:delete"}, 200},
		{"DELETE", "/api/categories/1?cascade=true", "", []string{"categories:delete", "genres:delete", "books:delete"}, 200},
	} {
		for _, missing := range tt.scopes {
			token := "Authorization: Bearer " + tokenFor(t, append(without(tt.scopes, missing), "catalogue:read")...)
			for _, body := range []string{tt.body, "not JSON"} { // which is said only to who may write
				w := c.do(tt.method, tt.target, body, token)
				if w.Code != http.StatusForbidden || w.Body.String() != `{"success":false,"message":"The token lacks the scope `+missing+`.","data":null}` ||
					w.Header().Get("WWW-Authenticate") != `Bearer error="insufficient_scope"` {
					t.Errorf("%s %s without %s: status %d: %s", tt.method, tt.target, missing, w.Code, w.Body)
				}
			}
		}
		w := c.do(tt.method, tt.target, tt.body, "Authorization: Bearer "+tokenFor(t, tt.scopes...), "Idempotency-Key: "+tt.target)
		if w.Code != tt.status {
			t.Errorf("%s %s with %s: status %d: %s", tt.method, tt.target, tt.scopes, w.Code, w.Body)
		}
	}
	// Reading needs no scope, and no token.
	if w := c.do("GET", "/api/books", "", "Authorization: Bearer "+tokenFor(t)); w.Code != http.StatusOK {
		t.Errorf("a read: status %d", w.Code)
	}
}

// TestScopesOfNestedWrites: what a mutation does to further types needs scopes
// of these.
func TestScopesOfNestedWrites(t *testing.T) {
	t.Parallel()
	c := serveScoped(t)
	c.shelves(t)
	for document, scopes := range map[string][]string{
		`mutation { createBook(input: {` + book + `, genre: {connect: {id: 1}}}) { book { id } } }`:                                                     {"books:create"},
		`mutation { createBook(input: {` + book + `, genre: {create: {name: "G", categoryId: 1}}}) { book { id } } }`:                                   {"books:create", "genres:create"},
		`mutation { createBook(input: {` + book + `, genre: {create: {name: "G", category: {create: {name: "C"}}}}}) { book { id } } }`:                 {"books:create", "genres:create", "categories:create"},
		`mutation { createBooks(input: {books: [{` + book + `, genreId: 1}, {` + book + `, genre: {create: {name: "G", categoryId: 1}}}]}) { count } }`: {"books:create", "genres:create"},
		`mutation { createGenres(input: {genres: [{name: "G", category: {create: {name: "C"}}}]}) { count } }`:                                          {"genres:create", "categories:create"},
		`mutation { upsertCategory(input: {id: 1, name: "C"}) { created } }`:                                                                            {"categories:update"},
		`mutation { createGenre(input: {name: "G", category: {create: {name: "C"}}}) { genre { id } } }`:                                                {"genres:create", "categories:create"},
		`mutation { deleteGenre(input: {id: 2, onChildren: REASSIGN, reassignTo: 1}) { deletedGenreId } }`:                                              {"genres:delete", "books:update"},
		`mutation { deleteCategory(input: {id: 2, onChildren: REASSIGN, reassignTo: 1}) { deletedCategoryId } }`:                                        {"categories:delete", "genres:update"},
	} {
		for _, missing := range scopes {
			c.wantError(t, document, "", "FORBIDDEN", "The token lacks the scope "+missing+".", "Authorization: Bearer "+tokenFor(t, without(scopes, missing)...))
		}
		if a := c.ask(t, document, "", "Authorization: Bearer "+tokenFor(t, scopes...)); len(a.Errors) > 0 {
			t.Errorf("%s with %s: %+v", document, scopes, a.Errors)
		}
	}
}

// TestScopesWhereDeleteIsOpen: a token that says what its holder may do is heard.
func TestScopesWhereDeleteIsOpen(t *testing.T) {
	t.Parallel()
	c := serveScoped(t, func(cfg *server.Config) { cfg.REST.OpenDelete = true })
	c.shelves(t)
	if w := c.do("DELETE", "/api/books/1", "", "Authorization: Bearer "+tokenFor(t, "books:create")); w.Code != http.StatusForbidden {
		t.Errorf("without the scope: status %d: %s", w.Code, w.Body)
	}
	for target, header := range map[string]string{
		"/api/books/1": "Authorization:", "/api/books/2": "Authorization: Bearer " + strings.Repeat("x", 50), "/api/books/3": "Authorization: Bearer " + tokenFor(t, "books:delete"),
	} {
		if w := c.do("DELETE", target, "", header); w.Code != http.StatusOK {
			t.Errorf("%s: status %d: %s", target, w.Code, w.Body)
		}
	}
}

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
			if w := c.do(http.MethodPost, "/graphql", `{"query":"`+document+`"}`, header); w.Body.String() != want {
				t.Errorf("%s: %s", header, w.Body)
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
