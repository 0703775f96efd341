package accounthttp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"library-catalogue/accounts"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

const (
	password   = "correct horse"
	cookieName = "__Host-catalogue-session"
)

// site is a server with accounts.
type site struct {
	*servertest.Client
	service *accounts.Service
}

func on(t *testing.T, run func(t *testing.T, s site), change ...func(*server.Config)) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c, service := servertest.ServeAccounts(t, url, change...)
		run(t, site{c, service})
	})
}

// link returns the secret of the link of a new account.
func (s site) link(t *testing.T, name string, role model.Role) string {
	t.Helper()
	_, secret, err := s.service.Invite(accounts.WithCommandLine(context.Background()), accounts.Invitation{Name: name, Role: role})
	servertest.Must(t, err)
	return secret
}

// send sends a request without a token. A cookie is one of the headers.
func (s site) send(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	if target[0] == '/' {
		target = "http://localhost" + target
	}
	return s.Do(method, target, body, append([]string{"Authorization:", "Origin: http://localhost"}, headers...)...)
}

// post sends JSON from a page of the server.
func (s site) post(target, body string, headers ...string) *httptest.ResponseRecorder {
	return s.send(http.MethodPost, target, body, append([]string{"Sec-Fetch-Site: same-origin"}, headers...)...)
}

// join accepts a link and returns the header with the cookie.
func (s site) join(t *testing.T, name string, role model.Role) string {
	t.Helper()
	return cookieOf(t, s.post("/welcome", servertest.Encode(t, map[string]string{"secret": s.link(t, name, role), "password": password})))
}

// cookieOf returns the cookie that a response sets, as a header.
func cookieOf(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	cookies := w.Result().Cookies()
	if w.Code >= 400 || len(cookies) != 1 || cookies[0].Name != cookieName {
		t.Fatalf("status %d, cookies %v: %s", w.Code, cookies, w.Body)
	}
	return "Cookie: " + cookieName + "=" + cookies[0].Value
}

func want(t *testing.T, w *httptest.ResponseRecorder, code int, text string) {
	t.Helper()
	if w.Code != code || !strings.Contains(w.Body.String(), text) {
		t.Errorf("status %d, want %d with %q: %s", w.Code, code, text, w.Body)
	}
}

const newCategory = `{"query":"mutation { createCategory(input: {name: \"N\"}) { category { id } } }"}`

// TestCookie signs in, writes, signs out.
func TestCookie(t *testing.T) {
	on(t, func(t *testing.T, s site) {
		w := s.post("/welcome", servertest.Encode(t, map[string]string{"secret": s.link(t, "ada", model.Editor), "password": password}))
		cookie := w.Result().Cookies()[0]
		if !cookie.HttpOnly || !cookie.Secure || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "" || cookie.MaxAge < 30*24*3600-9 || len(cookie.Value) != 43 {
			t.Errorf("cookie %s", cookie)
		}
		if h := w.Header(); h.Get("Cache-Control") != "private, no-store" && h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("headers %v", h)
		}
		session := cookieOf(t, w)
		want(t, s.post("/graphql", newCategory, session), 200, `"id":"1"`)
		want(t, s.send("GET", "/account/data", "", session), 200, `"name":"ada"`)

		again := s.post("/login", `{"email":"ADA","password":"`+password+`"}`, session)
		second := cookieOf(t, again)
		if second == session {
			t.Error("the session is not a new one after a login")
		}
		want(t, s.post("/graphql", newCategory, session), 200, "UNAUTHENTICATED") // the browser's earlier one has ended
		want(t, s.post("/graphql", newCategory, second), 200, `"id":"2"`)
		w = s.post("/logout", "", second)
		if want(t, w, 200, "Done"); w.Result().Cookies()[0].MaxAge >= 0 {
			t.Error("logout keeps the cookie")
		}
		want(t, s.post("/graphql", newCategory, second), 200, "UNAUTHENTICATED")
		want(t, s.send("GET", "/account/data", "", second), 401, "Unauthenticated")
	})
}

// TestWhereCookiesCount sends a cookie to /api, and with a token.
func TestWhereCookiesCount(t *testing.T) {
	on(t, func(t *testing.T, s site) {
		session := s.join(t, "ada", model.Editor)
		want(t, s.post("/api/categories", `{"name":"N"}`, session), 401, "Unauthenticated.")
		want(t, s.post("/graphql", newCategory, session, "Authorization: Bearer x"), 200, "UNAUTHENTICATED")
		reader := s.join(t, "eve", model.Reader)
		want(t, s.post("/graphql", newCategory, reader), 200, "FORBIDDEN")
		want(t, s.post("/graphql", newCategory, reader, "Authorization: Bearer "+s.Token), 200, `"id":"1"`)
		want(t, s.post("/graphql", newCategory, session+"; "+strings.TrimPrefix(reader, "Cookie: ")), 200, "UNAUTHENTICATED")
		want(t, s.post("/graphql", newCategory, "Cookie: catalogue-session"+session[strings.Index(session, "="):]), 200, "UNAUTHENTICATED")
		for _, route := range []string{"/accounts", "/accounts/1/role", "/accounts/1/disable", "/accounts/1/link"} {
			want(t, s.post(route, `{"name":"x","role":"admin"}`, session), 403, "Your account may not do this.")
			want(t, s.post(route, `{"name":"x","role":"admin"}`), 401, "Unauthenticated")
			want(t, s.post(route, `{"name":"x","role":"admin"}`, "Authorization: Bearer "+s.Token), 403, "catalogue:admin")
		}
		want(t, s.send("GET", "/accounts/data", "", session), 403, "Your account may not do this.")
	})
}

// TestCheckLink says to the holder of a link alone which account it is of, and uses nothing up.
func TestCheckLink(t *testing.T) {
	on(t, func(t *testing.T, s site) {
		secret := s.link(t, "ada", model.Editor)
		body := `{"secret":"` + secret + `"}`
		for range 2 {
			want(t, s.post("/welcome/check", body), 200, `"data":{"name":"ada"}`)
		}
		want(t, s.post("/welcome/check", body, "Sec-Fetch-Site: cross-site"), 403, otherOrigin)
		want(t, s.post("/welcome/check", `{"secret":"x"}`), 409, "has expired")
		want(t, s.post("http://library.example/welcome/check", body, "Origin: http://library.example", "Sec-Fetch-Site:"), 403, "CATALOGUE_INSECURE_COOKIES")
		want(t, s.post("/welcome", `{"secret":"`+secret+`","password":"`+password+`"}`), 200, "ada")
		want(t, s.post("/welcome/check", body), 409, "was used")
	})
}

const otherOrigin = "This request comes from another origin. Behind a proxy set CATALOGUE_PUBLIC_URL to the address of the pages."

// TestOtherOrigins sends requests as pages of other sites do.
func TestOtherOrigins(t *testing.T) {
	on(t, func(t *testing.T, s site) {
		session := s.join(t, "ada", model.Editor)
		for name, headers := range map[string][]string{
			"cross-site":       {"Sec-Fetch-Site: cross-site"},
			"same-site":        {"Sec-Fetch-Site: same-site", "Origin: http://other.localhost"},
			"by origin":        {"Sec-Fetch-Site:", "Origin: https://evil.example"},
			"no origin":        {"Sec-Fetch-Site:", "Origin: null"},
			"an allowed one":   {"Sec-Fetch-Site: cross-site", "Origin: https://app.example"},
			"allowed, no site": {"Sec-Fetch-Site:", "Origin: https://app.example"},
		} {
			t.Run(name, func(t *testing.T) {
				with := append([]string{session}, headers...)
				w := s.post("/graphql", newCategory, with...)
				want(t, w, 403, "")
				for _, target := range []string{"/login", "/logout", "/account/password", "/welcome"} {
					w := s.post(target, `{"email":"ada","password":"`+password+`"}`, headers...)
					want(t, w, 403, `{"success":false,"message":"`+otherOrigin+`","data":null}`)
					w = s.post(target, "", append(headers, "Accept: text/html", "Content-Type: application/x-www-form-urlencoded")...)
					if want(t, w, 403, otherOrigin); !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
						t.Errorf("%s without scripts: %s", target, w.Header())
					}
				}
				want(t, s.send("GET", "/graphql?query=subscription{changes{position}}", "", append(with, "Accept: text/event-stream")...), 403, "another origin")
				want(t, s.send("GET", "/graphql", "", append(with, "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")...), 403, "")
				if name != "cross-site" { // that is a link
					want(t, s.send("GET", "/account/data", "", with...), 401, "")
				}
			})
		}
		want(t, s.send("GET", "/account/data", "", session, "Origin:", "Sec-Fetch-Site: cross-site"), 200, `"ada"`)
		want(t, s.send("GET", "/graphql?query="+url.QueryEscape(`mutation { createCategory(input: {name: "N"}) { category { id } } }`), "", session), 405, "must be sent by POST")
		if servertest.Revision(t, s.Store) != 0 {
			t.Error("something was written")
		}
	}, func(cfg *server.Config) { cfg.Origins, cfg.Credentials = []string{"https://app.example"}, true })
}

// TestPrivate asks for a cached page and a cached response by a cookie.
func TestPrivate(t *testing.T) {
	on(t, func(t *testing.T, s site) {
		session := s.join(t, "ada", model.Editor)
		for _, target := range []string{"/", servertest.ByGet("{ books { nodes { name } } }")} {
			for range 3 { // the third comes from the cache
				w := s.send("GET", target, "", "Accept: text/html, application/json;q=0.9")
				if h := w.Header(); strings.Contains(h.Get("Cache-Control"), "private") || !strings.Contains(strings.Join(h.Values("Vary"), ","), "Cookie") {
					t.Errorf("%s without a cookie: %v", target, h)
				}
			}
			for _, cookie := range []string{session, "Cookie: " + cookieName + "=ended"} {
				w := s.send("GET", target, "", cookie, "Accept: text/html, application/json;q=0.9")
				if h := w.Header(); w.Code != 200 || h.Get("Cache-Control") != "private, no-store" {
					t.Errorf("%s with a cookie: %d %v", target, w.Code, h)
				}
				w = s.send("GET", target, "", cookie, "Accept: text/html, application/json;q=0.9") // the session is known
				if fromCache := strings.Contains(w.Header().Get("Server-Timing"), `"0 statements"`); fromCache == (cookie == session) {
					t.Errorf("%s with %s: from the cache %t", target, cookie, fromCache)
				}
			}
		}
		if h := s.send("GET", "/api/books", "", session).Header(); h.Get("Cache-Control") != "no-cache" || strings.Contains(strings.Join(h.Values("Vary"), ","), "Cookie") {
			t.Errorf("/api, where it does not count: %v", h)
		}
	}, func(cfg *server.Config) { cfg.CacheBytes = 1 << 20 })
}

// TestLogin logs in by /api.
func TestLogin(t *testing.T) {
	on(t, func(t *testing.T, s site) {
		s.join(t, "ada", model.Editor)
		good := `{"email":"ada","password":"` + password + `"}`
		want(t, s.send("POST", "/api/login", "email=ada", "Content-Type: application/x-www-form-urlencoded"), 415, "")
		want(t, s.send("POST", "/api/login", "{"), 400, "")
		want(t, s.send("POST", "/api/login", "{}"), 422, `"errors":{"email":["The email field is required."],"password":["The password field is required."]}`)
		for body, status := range map[string]int{
			`{"name":"Ada","password":"` + password + `"}`: 200, `{"name":"nobody","email":"ada","password":"` + password + `"}`: 200,
			`{"name":"ada","email":" ","password":"` + password + `"}`: 200, `{"name":"ada","email":null,"password":"` + password + `"}`: 200,
			`{"name":"ada","email":"nobody","password":"` + password + `"}`: 401, `{"name":" ","password":"x"}`: 422, `{"name":"ada"}`: 422,
		} {
			want(t, s.send("POST", "/api/login", body), status, "")
			want(t, s.post("/login", body), status, "")
		}
		want(t, s.send("POST", "/api/login", `{"password":"x"}`), 422, `"errors":{"email":["The email field is required."]}`)
		w := s.send("POST", "/api/login", good)
		var answer struct {
			Message string
			Data    struct {
				Token     string
				ExpiresAt string `json:"expires_at"`
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Message != "Logged in successfully" || len(answer.Data.ExpiresAt) != 27 || w.Header().Get("Cache-Control") != "no-store" {
			t.Fatalf("%v %s %v", err, w.Body, w.Header())
		}
		bearer := "Authorization: Bearer " + answer.Data.Token
		want(t, s.send("POST", "/api/categories", `{"name":"N"}`, bearer), 201, "")
		want(t, s.send("GET", "/api/changes", "", bearer), 200, `"actor":"account:1"`)
		want(t, s.send("GET", "/api/login", ""), 405, "Supported methods: POST.")
		want(t, s.send("POST", "/api/logout", "", "Authorization: Bearer "+s.Token), 422, "no session")
		want(t, s.send("POST", "/api/logout", "", bearer), 200, `{"success":true,"message":"Logged out successfully","data":null}`)
		want(t, s.send("POST", "/api/categories", `{"name":"N"}`, bearer), 401, "Unauthenticated.")
		want(t, s.send("POST", "/api/logout", "", bearer), 401, "Unauthenticated.")

		var bodies []string
		for _, bad := range []string{`{"email":"ada","password":"wrong"}`, `{"email":"nobody","password":"wrong"}`} {
			w := s.send("POST", "/api/login", bad)
			bodies = append(bodies, w.Body.String())
			if w.Code != 401 || w.Header().Get("Www-Authenticate") != "" || !strings.Contains(bodies[0], "These credentials do not match our records.") || bodies[0] != w.Body.String() {
				t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
			}
		}
		for range 9 {
			s.send("POST", "/api/login", `{"name":"ada","password":"wrong"}`)
		}
		w = s.send("POST", "/api/login", good)
		if want(t, w, 429, "Too Many Attempts."); w.Header().Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		want(t, s.post("/login", good), 429, "Too Many Attempts.")
		want(t, s.send("POST", "/api/login", "{}"), 422, "")
	})
}

// TestOff asks for the routes of accounts where there are none.
func TestOff(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	for _, route := range []string{"/api/login", "/api/logout"} {
		want(t, c.Do("POST", route, "{}"), 404, `"message":"The route `+route[1:]+` could not be found."`)
	}
	for _, route := range []string{"/login", "/welcome", "/account/data", "/accounts/data", "/accounts"} {
		want(t, c.Do("GET", route, ""), 404, "")
	}
}

// TestForms uses the routes without scripts.
func TestForms(t *testing.T) {
	on(t, func(t *testing.T, s site) {
		form := func(target, body string, headers ...string) *httptest.ResponseRecorder {
			return s.post(target, body, append(headers, "Content-Type: application/x-www-form-urlencoded", "Accept: text/html")...)
		}
		w := form("/welcome", url.Values{"secret": {s.link(t, "root", model.Admin)}, "password": {password}, "next": {"/books/new?a=1"}}.Encode())
		root := cookieOf(t, w)
		if w.Code != 303 || w.Header().Get("Location") != "/books/new?a=1" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
		for _, next := range []string{"https://evil.example/", "//evil.example", "///evil.example", `/\evil.example`, "javascript:alert(1)", "/\t/evil.example", ""} {
			w := form("/login", url.Values{"email": {"root"}, "password": {password}, "next": {next}}.Encode())
			if w.Code != 303 || w.Header().Get("Location") != "/" {
				t.Errorf("%q leads to %q", next, w.Header().Get("Location"))
			}
		}
		want(t, form("/account/tokens", "name=backup&scopes=books:create&scopes=catalogue:read&days=7", root), 200, "It is not shown again: cat_")
		want(t, form("/accounts", "name=eve&role=editor", root), 200, "It is not shown again: ")
		want(t, s.send("GET", "/accounts/data", "", root), 200, `"name":"eve","display_name":"eve","role":"editor","pending":true`)
		want(t, form("/accounts/1/disable", "", root), 409, "last admin")
		want(t, form("/accounts/2/role", "role=admin", root), 303, "")
		want(t, form("/accounts/9/role", "role=admin", root), 404, "no account 9")
		want(t, form("/accounts/x/role", "role=admin", root), 404, "")
		want(t, s.send("GET", "/account/data", "", root), 200, `"scopes":["books:create","catalogue:read"]`)
		want(t, form("/account/tokens/1/revoke", "", root), 303, "")
		want(t, form("/account/name", "display_name=", root), 422, "display name field is required")
		want(t, form("/account/name", "display_name=The+boss", root), 303, "")
		want(t, s.send("GET", "/account/data", "", root), 200, `"name":"root","display_name":"The boss"`)
		want(t, form("/account/password", url.Values{"old_password": {"wrong"}, "password": {"another password"}}.Encode(), root), 422, "not correct")
		w = form("/account/password", url.Values{"old_password": {password}, "password": {"another password"}}.Encode(), root)
		renewed := cookieOf(t, w)
		want(t, s.send("GET", "/account/data", "", root), 401, "")
		want(t, s.send("GET", "/account/data", "", renewed), 200, "")
		want(t, s.post("/login", `{"email":"root"}`, "Content-Type: multipart/form-data"), 415, "")
		want(t, s.post("/login", strings.Repeat("x", 70_000)), 413, "")
		want(t, s.post("http://library.example/login", `{"email":"root","password":"another password"}`, "Origin: http://library.example", "Sec-Fetch-Site:"), 403, "CATALOGUE_INSECURE_COOKIES")
	})
}

// TestGraphQL logs in by a mutation, and names the actor of a change.
func TestGraphQL(t *testing.T) {
	on(t, func(t *testing.T, s site) {
		s.join(t, "ada", model.Editor)
		const document = `mutation($password: String!) { login(input: {name: "ada", password: $password}) { token } }`
		s.WantError(t, document, `{"password":"wrong"}`, "UNAUTHENTICATED", "do not match", "Authorization:")
		s.WantError(t, document, `{"password":"`+password+`"}`, "BAD_USER_INPUT", "no Idempotency-Key", "Idempotency-Key: \"k\"")
		for range 10 {
			s.Ask(t, `mutation { login(input: {name: "eve", password: "wrong"}) { token } }`, "", "Authorization:")
		}
		w := s.Do("POST", "/graphql", `{"query":"mutation { login(input: {name: \"eve\", password: \"wrong\"}) { token } }"}`, "Authorization:")
		if seconds := w.Header().Get("Retry-After"); !strings.Contains(w.Body.String(), "RATE_LIMITED") || seconds == "" || seconds == "0" {
			t.Errorf("Retry-After %q: %s", seconds, w.Body)
		}
		var in struct{ Login struct{ Token string } }
		servertest.Unmarshal(t, s.Get(t, document, `{"password":"`+password+`"}`), &in)
		foreign := s.Token
		s.Token = in.Login.Token
		s.Want(t, "{ viewer { subject account { id name displayName role } scopes } }", "",
			`{"viewer":{"subject":"account:1","account":{"id":"1","name":"ada","displayName":"ada","role":"EDITOR"},"scopes":["catalogue:read","catalogue:write"]}}`)
		s.Get(t, `mutation { createCategory(input: {name: "N"}) { category { id } } }`, "")
		const changes = "{ changes { nodes { actor actorName } } }"
		s.Want(t, changes, "", `{"changes":{"nodes":[{"actor":"account:1","actorName":"ada"}]}}`)
		s.Get(t, "mutation { logout { clientMutationId } }", "")
		s.WantError(t, "{ viewer { subject } }", "", "UNAUTHENTICATED", "not valid")
		s.Want(t, changes, "", `{"changes":{"nodes":[{"actor":null,"actorName":null}]}}`)
		s.Token = foreign
		s.WantError(t, "mutation { logout { clientMutationId } }", "", "BAD_USER_INPUT", "no session")
		s.Want(t, "{ viewer { subject account { id } } }", "", `{"viewer":{"subject":"tester","account":null}}`)
		s.Token = servertest.TokenOf(t, "account:1")
		s.WantError(t, "{ viewer { subject } }", "", "UNAUTHENTICATED", "not valid")
	})
}
