package auth_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/auth"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// TestWritesNeedAToken tries every mutation, and every write of /api, without a
// token and with such as are none.
func TestWritesNeedAToken(t *testing.T) {
	t.Parallel()
	expired, err := auth.Sign(servertest.Secret, "tester", "", "", time.Minute, time.Now().Add(-time.Hour))
	servertest.Must(t, err)
	forged, err := auth.Sign([]byte("another secret of 32 bytes, or so"), "tester", "", "", time.Hour, time.Now())
	servertest.Must(t, err)
	headers := map[string]string{
		"none": "Authorization:", "no scheme": "Authorization: token", "another scheme": "Authorization: Basic dGVzdGVyOg==",
		"an empty one": "Authorization: Bearer", "expired": "Authorization: Bearer " + expired, "forged": "Authorization: Bearer " + forged,
	}
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		c.Shelves(t)
		before := servertest.Revision(t, c.Store)
		for name, header := range headers {
			for _, document := range servertest.Mutations {
				f := c.WantError(t, document, "", "UNAUTHENTICATED", "Unauthenticated.", header)
				if len(f.Path) != 1 {
					t.Errorf("%s: path %v", document, f.Path)
				}
			}
			// What is wrong with the input is not said to who may not write.
			c.WantError(t, `mutation { createBook(input: {name: "", pages: 0, publishedAt: "2000-01-01", author: "", price: 1, genreId: 99}) { book { id } } }`,
				"", "UNAUTHENTICATED", "Unauthenticated.", header)
			for _, noun := range []string{"books", "genres", "categories"} {
				for method, path := range map[string]string{
					http.MethodPost: "/api/" + noun, http.MethodPut: "/api/" + noun + "/1", http.MethodDelete: "/api/" + noun + "/1?cascade=true",
				} {
					w := c.Do(method, path, `{"name":"New"}`, header)
					if w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") != "Bearer" {
						t.Errorf("%s %s, token %s: status %d, WWW-Authenticate %q", method, path, name, w.Code, w.Header().Get("WWW-Authenticate"))
					}
				}
			}
		}
		if after := servertest.Revision(t, c.Store); after != before {
			t.Error("something was written without a token")
		}
		// Reading is open to all, also with a token that is none.
		for _, header := range headers {
			if a := c.Ask(t, "{ book(id: 1) { name } }", "", header); len(a.Errors) > 0 {
				t.Errorf("%s: %+v", header, a.Errors)
			}
		}
	})
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	for _, field := range schema.Mutation.Fields {
		ofAccounts := field.Name == "login" || field.Name == "logout"                                        // package server/accounthttp tests them
		if _, ok := servertest.Mutations[field.Name]; !ok && !ofAccounts && field.Name != "undoChangeSet" && // TestUndoForCallers
			!strings.HasPrefix(field.Name, "__") {
			t.Errorf("%s is new: give it a document, to be tried without a token", field.Name)
		}
	}
}

// TestScopes tries every mutation, and every write of /api, with tokens that have
// all scopes but one, only those that are needed, and others.
func TestScopes(t *testing.T) {
	t.Parallel()
	all := []string{"catalogue:read", "catalogue", "write", "catalogue:*", "books:*", "*", "Catalogue:Write", "catalogue:write:more"}
	for _, scopes := range servertest.NeededScopes {
		for _, scope := range scopes {
			if !slices.Contains(all, scope) {
				all = append(all, scope)
			}
		}
	}
	c := servertest.ServeScoped(t)
	c.Shelves(t)
	refused := func(document string, scopes ...string) {
		t.Helper()
		before := servertest.Revision(t, c.Store)
		c.WantError(t, document, "", "FORBIDDEN", "The token lacks the scope ", "Authorization: Bearer "+servertest.TokenFor(t, scopes...))
		if servertest.Revision(t, c.Store) != before {
			t.Errorf("%s was refused and wrote", document)
		}
	}
	for name, document := range servertest.Mutations {
		refused(document)
		refused(document, "catalogue:read", "nothing:"+name)
		for _, scope := range servertest.NeededScopes[name] {
			f := c.WantError(t, document, "", "FORBIDDEN", "The token lacks the scope "+scope+".",
				"Authorization: Bearer "+servertest.TokenFor(t, servertest.Without(all, scope)...))
			if len(f.Path) != 1 {
				t.Errorf("%s: path %v", document, f.Path)
			}
		}
	}
	for name, document := range servertest.Mutations {
		for _, scopes := range [][]string{servertest.NeededScopes[name], {"x", "catalogue:write"}} {
			if scopes == nil {
				continue
			}
			c := servertest.ServeScoped(t)
			if name != "loadSample" {
				c.Shelves(t)
			}
			if noun, ok := strings.CutPrefix(name, "restore"); ok { // a change to take back
				c.Ask(t, servertest.Mutations["update"+noun], "", "Authorization: Bearer "+servertest.TokenFor(t, "catalogue:write"))
			}
			if a := c.Ask(t, document, "", "Authorization: Bearer "+servertest.TokenFor(t, scopes...)); len(a.Errors) > 0 {
				t.Errorf("%s with %s: %+v", document, scopes, a.Errors)
			}
		}
	}
}

func TestScopesOfREST(t *testing.T) {
	t.Parallel()
	c := servertest.ServeScoped(t)
	c.Shelves(t)
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
			token := "Authorization: Bearer " + servertest.TokenFor(t, append(servertest.Without(tt.scopes, missing), "catalogue:read")...)
			for _, body := range []string{tt.body, "not JSON"} { // which is said only to who may write
				w := c.Do(tt.method, tt.target, body, token)
				if w.Code != http.StatusForbidden || w.Body.String() != `{"success":false,"message":"The token lacks the scope `+missing+`.","data":null}` ||
					w.Header().Get("WWW-Authenticate") != `Bearer error="insufficient_scope"` {
					t.Errorf("%s %s without %s: status %d: %s", tt.method, tt.target, missing, w.Code, w.Body)
				}
			}
		}
		w := c.Do(tt.method, tt.target, tt.body, "Authorization: Bearer "+servertest.TokenFor(t, tt.scopes...), "Idempotency-Key: "+tt.target)
		if w.Code != tt.status {
			t.Errorf("%s %s with %s: status %d: %s", tt.method, tt.target, tt.scopes, w.Code, w.Body)
		}
	}
	// Reading needs no scope, and no token.
	if w := c.Do("GET", "/api/books", "", "Authorization: Bearer "+servertest.TokenFor(t)); w.Code != http.StatusOK {
		t.Errorf("a read: status %d", w.Code)
	}
}

// TestScopesOfNestedWrites: what a mutation does to further types needs scopes
// of these.
func TestScopesOfNestedWrites(t *testing.T) {
	t.Parallel()
	c := servertest.ServeScoped(t)
	c.Shelves(t)
	for document, scopes := range map[string][]string{
		`mutation { createBook(input: {` + servertest.BookInput + `, genre: {connect: {id: 1}}}) { book { id } } }`:                                                                     {"books:create"},
		`mutation { createBook(input: {` + servertest.BookInput + `, genre: {create: {name: "G", categoryId: 1}}}) { book { id } } }`:                                                   {"books:create", "genres:create"},
		`mutation { createBook(input: {` + servertest.BookInput + `, genre: {create: {name: "G", category: {create: {name: "C"}}}}}) { book { id } } }`:                                 {"books:create", "genres:create", "categories:create"},
		`mutation { createBooks(input: {books: [{` + servertest.BookInput + `, genreId: 1}, {` + servertest.BookInput + `, genre: {create: {name: "G", categoryId: 1}}}]}) { count } }`: {"books:create", "genres:create"},
		`mutation { createGenres(input: {genres: [{name: "G", category: {create: {name: "C"}}}]}) { count } }`:                                                                          {"genres:create", "categories:create"},
		`mutation { upsertCategory(input: {id: 1, name: "C"}) { created } }`:                                                                                                            {"categories:update"},
		`mutation { createGenre(input: {name: "G", category: {create: {name: "C"}}}) { genre { id } } }`:                                                                                {"genres:create", "categories:create"},
		`mutation { deleteGenre(input: {id: 2, onChildren: REASSIGN, reassignTo: 1}) { deletedGenreId } }`:                                                                              {"genres:delete", "books:update"},
		`mutation { deleteCategory(input: {id: 2, onChildren: REASSIGN, reassignTo: 1}) { deletedCategoryId } }`:                                                                        {"categories:delete", "genres:update"},
	} {
		for _, missing := range scopes {
			c.WantError(t, document, "", "FORBIDDEN", "The token lacks the scope "+missing+".", "Authorization: Bearer "+servertest.TokenFor(t, servertest.Without(scopes, missing)...))
		}
		if a := c.Ask(t, document, "", "Authorization: Bearer "+servertest.TokenFor(t, scopes...)); len(a.Errors) > 0 {
			t.Errorf("%s with %s: %+v", document, scopes, a.Errors)
		}
	}
}

// TestScopesWhereDeleteIsOpen: a token that says what its holder may do is heard.
func TestScopesWhereDeleteIsOpen(t *testing.T) {
	t.Parallel()
	c := servertest.ServeScoped(t, func(cfg *server.Config) { cfg.REST.OpenDelete = true })
	c.Shelves(t)
	if w := c.Do("DELETE", "/api/books/1", "", "Authorization: Bearer "+servertest.TokenFor(t, "books:create")); w.Code != http.StatusForbidden {
		t.Errorf("without the scope: status %d: %s", w.Code, w.Body)
	}
	for target, header := range map[string]string{
		"/api/books/1": "Authorization:", "/api/books/2": "Authorization: Bearer " + strings.Repeat("x", 50), "/api/books/3": "Authorization: Bearer " + servertest.TokenFor(t, "books:delete"),
	} {
		if w := c.Do("DELETE", target, "", header); w.Code != http.StatusOK {
			t.Errorf("%s: status %d: %s", target, w.Code, w.Body)
		}
	}
}

// tokenOf returns the header with a token, valid from then for an hour.
func tokenOf(t *testing.T, subject string, from time.Time, scopes ...string) string {
	t.Helper()
	token, err := auth.Sign(servertest.Secret, subject, "", "", time.Hour, from, scopes...)
	servertest.Must(t, err)
	return "Authorization: Bearer " + token
}

// TestViewer asks who is asking, as several callers and none in turn, by a server
// that caches answers.
func TestViewer(t *testing.T) {
	t.Parallel()
	c := servertest.ServeCached(t, catalogtest.SQLite(t), 1<<20)
	now := time.Now()
	const document = `{ viewer { expiresAt __typename who: subject scopes } }`
	ends := string(model.Timestamp(now.Add(time.Hour).Truncate(time.Second).UnixMicro()).AppendJSON(nil))
	for range 3 {
		for header, want := range map[string]string{
			"Authorization:": `{"data":{"viewer":null}}`,
			tokenOf(t, "ada", now, "books:create", "a"): `{"data":{"viewer":{"expiresAt":` + ends + `,"__typename":"Viewer","who":"ada","scopes":["books:create","a"]}}}`,
			tokenOf(t, "", now):                         `{"data":{"viewer":{"expiresAt":` + ends + `,"__typename":"Viewer","who":null,"scopes":[]}}}`,
		} {
			if w := c.Do(http.MethodPost, "/graphql", `{"query":"`+document+`"}`, header); w.Body.String() != want {
				t.Errorf("%s: %s", header, w.Body)
			}
			if w := c.Do(http.MethodGet, servertest.ByGet(document), "", header); w.Body.String() != want || w.Header().Get("ETag") != "" || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s by GET: %v %s", header, w.Header(), w.Body)
			}
		}
	}
	c.WantError(t, document, "", "UNAUTHENTICATED", "The token has expired.", tokenOf(t, "ada", now.Add(-2*time.Hour)))
	c.WantError(t, document, "", "UNAUTHENTICATED", "The token is not valid.", "Authorization: Bearer x")
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
	c := servertest.ServeCached(t, catalogtest.SQLite(t), 1<<20)
	const document = `{ book(id: 1) { name } }`
	const data = `"data":{"book":{"name":"The Hobbit"}}`
	wantNothing := func() {
		t.Helper()
		for _, header := range []string{"Authorization:", "X-Nothing:"} { // nobody, and the tester
			w := c.Do(http.MethodPost, "/graphql", `{"query":"`+document+`"}`, header)
			if w.Body.String() != `{`+data+`}` || w.Header().Get("WWW-Authenticate") != "" {
				t.Errorf("%s: %v %s", header, w.Header(), w.Body)
			}
			if w := c.Do(http.MethodGet, "/api/books/1", "", header); w.Header().Get("WWW-Authenticate") != "" {
				t.Errorf("%s: %v", header, w.Header())
			}
		}
	}
	for header, code := range badTokens(t) {
		for range 3 {
			w := c.Do(http.MethodPost, "/graphql", `{"query":"`+document+`"}`, header)
			if w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), `{`+data+`,"extensions":{"warnings":[{"code":"`+code+`","message":"The token `) {
				t.Errorf("%s: %d %s", header, w.Code, w.Body)
			}
			wantChallenge(t, header, w.Header())
			w = c.Do(http.MethodGet, servertest.ByGet(document), "", header)
			if w.Header().Get("ETag") != "" || !strings.Contains(w.Body.String(), code) {
				t.Errorf("%s by GET: %v %s", header, w.Header(), w.Body)
			}
			wantChallenge(t, header, w.Header())
			w = c.Do(http.MethodGet, "/api/books/1", "", header)
			if w.Code != http.StatusOK || strings.Contains(w.Body.String(), code) {
				t.Errorf("%s: %d %s", header, w.Code, w.Body)
			}
			wantChallenge(t, header, w.Header())
			w = c.Do(http.MethodPost, "/api/books", `{}`, header)
			if w.Code != http.StatusUnauthorized || w.Body.String() != `{"success":false,"message":"Unauthenticated.","data":null}` || w.Header().Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("a write, %s: %d %v %s", header, w.Code, w.Header(), w.Body)
			}
		}
		wantNothing()
	}
	if w := c.Do(http.MethodGet, "/api/books/1", "", "Authorization: Bearer x"); !servertest.FromCache(w) {
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
	c := servertest.ServeCached(t, catalogtest.SQLite(t), 1<<20)
	c.Reconfigure(t, server.Config{CacheBytes: 1 << 20, RequireValidToken: true})
	targets := map[string]string{servertest.ByGet("{ book(id: 1) { name } }"): "UNAUTHENTICATED", "/api/books/1": `{"success":false,"message":"Unauthenticated.","data":null}`, "/": ""}
	for range 3 { // that it is cached changes nothing
		for target, text := range targets {
			for _, header := range []string{"Authorization:", "X-Nothing:"} {
				if w := c.Do(http.MethodGet, target, "", header); w.Code != http.StatusOK {
					t.Errorf("%s, %s: %d %s", target, header, w.Code, w.Body)
				}
			}
			for header := range badTokens(t) {
				w := c.Do(http.MethodGet, target, "", header)
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
