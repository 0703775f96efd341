package web_test

import (
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

const password = "correct horse"

// people serves the pages with accounts.
type people struct {
	*servertest.Client
	service *accounts.Service
}

func servePeople(t *testing.T, url string) people {
	t.Helper()
	c, service := servertest.ServeAccounts(t, url, func(cfg *server.Config) {
		cfg.CacheBytes = 1 << 20
	})
	servertest.Must(t, c.Store.Webhooks.Add(t.Context(), &model.Webhook{
		URL: "https://example.com/hook", Types: []model.CatalogueType{model.TypeBook, model.TypeGenre}, Secrets: []string{"whsec_x"},
	}))
	fillShelf(t, c)
	return people{c, service}
}

// as returns the headers of a person's session.
func (p people) as(t *testing.T, name string, role model.Role) string {
	t.Helper()
	_, secret, err := p.service.Invite(accounts.WithCommandLine(t.Context()), accounts.Invitation{Name: name, Role: role})
	servertest.Must(t, err)
	in, err := p.service.Accept(t.Context(), accounts.Acceptance{Secret: secret, Password: password})
	servertest.Must(t, err)
	return "Cookie: __Host-catalogue-session=" + in.Secret
}

// page returns a page for a browser.
func (p people) page(target string, headers ...string) *httptest.ResponseRecorder {
	return p.Do(http.MethodGet, target, "", append([]string{"Authorization:", "Accept: text/html"}, headers...)...)
}

// signIn sends the form of /login without scripts.
func (p people) signIn(fields url.Values) *httptest.ResponseRecorder {
	return p.Do(http.MethodPost, "/login", fields.Encode(), "Authorization:", "Accept: text/html", "Content-Type: application/x-www-form-urlencoded", "Sec-Fetch-Site: same-origin")
}

// TestRoles shows to each person what they may do, and nothing else. The page of one person is never that of another.
func TestRoles(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		p := servePeople(t, url)
		reader, editor, admin := p.as(t, "Zora", model.Reader), p.as(t, "Yuki", model.Editor), p.as(t, "Ada", model.Admin)
		const guarded = `<html lang="en" class="guarded">`
		for _, tt := range []struct {
			target, who, headers string
			status               int
			has, lacks           []string
		}{
			{"/books/1", "nobody", "", 200, []string{guarded, `data-account=""`, `href="/login?next=%2Fbooks%2F1"`}, []string{"Sign out"}},
			{"/books/1", "a reader", reader, 200, []string{guarded, "Zora", "Sign out", `href="/account"`}, []string{"/books/1/edit", "<delete-button", "/admin"}},
			{"/books/1", "an editor", editor, 200, []string{`<html lang="en">`, "Yuki", "/books/1/edit", "<delete-button"}, []string{"/admin", "guarded"}},
			{"/books/1", "an admin", admin, 200, []string{"Ada", "/books/1/edit", `href="/admin"`}, []string{"guarded"}},
			{"/books/1", "nobody again", "", 200, []string{guarded, `data-account=""`}, []string{"Ada", "Yuki", "Zora"}},
			{"/", "a reader", reader, 200, []string{"Sign out"}, []string{"/books/new", "/import", `class="tick"`}},
			{"/", "an editor", editor, 200, []string{"/books/new", "/import", `class="tick"`}, nil},
			{"/genres", "a reader", reader, 200, []string{"Sign out"}, []string{"<add-button", "<edit-button", "<delete-button"}},
			{"/genres", "an editor", editor, 200, []string{"<add-button", "<edit-button", "<delete-button"}, nil},
			{"/books/1/history", "a reader", reader, 200, []string{"Created"}, []string{"<restore-button"}},
			{"/books/new", "nobody", "", 200, []string{"<book-form"}, nil},
			{"/books/new", "a reader", reader, 403, []string{"can only read"}, []string{"<book-form"}},
			{"/books/1/edit", "a reader", reader, 403, []string{"can only read"}, []string{"<book-form"}},
			{"/import", "a reader", reader, 403, []string{"can only read"}, []string{"<book-import"}},
			{"/books/new", "an editor", editor, 200, []string{"<book-form"}, nil},
			{"/account", "nobody", "", 303, nil, nil},
			{"/account", "a reader", reader, 200, []string{"See who changed what", "(here)", `autocomplete="new-password"`}, []string{"Add books"}},
			{"/account", "an editor", editor, 200, []string{"Add books", "All of these, and imports"}, nil},
			{"/changes", "nobody", "", 303, nil, nil},
			{"/changes", "a reader", reader, 200, []string{"Added ", "book <strong", `href="/books/1"`, `href="/books/1/history"`, "version 1", ">Anyone<"}, []string{"Yuki", "<undo-button"}},
			{"/changes", "an editor", editor, 200, []string{"<undo-button"}, nil},
			{"/changes?kind=GENRE&what=CREATE&since=2001-01-01", "a reader", reader, 200, []string{"Added ", "genre <strong", `value="2001-01-01"`, `value="GENRE" selected`}, []string{"book <strong"}},
			{"/changes?who=account%3A2", "an admin", admin, 200, []string{"No change is kept that matches", `value="account:2" selected>Yuki<`}, []string{"book <strong"}},
			{"/changes?since=today", "an admin", admin, 400, []string{"invalid day"}, nil},
			{"/changes?kind=x", "an admin", admin, 400, []string{"unknown filter"}, nil},
			{"/changes?after=1.1", "an admin", admin, 410, []string{"No longer kept"}, nil},
			{"/troubles", "nobody", "", 303, nil, nil},
			{"/troubles", "a reader", reader, 200, []string{"Books without a language", `href="/books/`}, []string{"<differ-button"}},
			{"/admin", "nobody", "", 303, nil, nil},
			{"/admin", "an editor", editor, 403, []string{"for admins"}, []string{"Zora", "example.com", "whsec"}},
			{"/admin", "an admin", admin, 200, []string{"Zora", "Yuki", "(you)", "https://example.com/hook", "Changes of books, genres.", "Nothing delivered yet.", "/webhooks/1/disable", "/webhooks/1/remove", "Invite someone"}, nil},
		} {
			w := p.page(tt.target, tt.headers)
			if w.Code != tt.status {
				t.Errorf("%s for %s: status %d, want %d", tt.target, tt.who, w.Code, tt.status)
			}
			page := w.Body.String()
			for _, text := range tt.has {
				if !strings.Contains(page, text) {
					t.Errorf("%s for %s lacks %q", tt.target, tt.who, text)
				}
			}
			for _, text := range tt.lacks {
				if strings.Contains(page, text) {
					t.Errorf("%s for %s has %q", tt.target, tt.who, text)
				}
			}
			if control := w.Header().Get("Cache-Control"); tt.headers != "" && control != "private, no-store" {
				t.Errorf("%s for %s: Cache-Control %q", tt.target, tt.who, control)
			}
		}
	})
}

// TestTroublesPage shows pairs with the way to their books, and buttons to those who write.
func TestTroublesPage(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servePeople(t, url)
		reader, editor := c.as(t, "Zora", model.Reader), c.as(t, "Yuki", model.Editor)
		for i, author := range []string{"Flann Ó'Brien", "Flann Ó'Brian", "<b>", "<b>"} {
			input := map[string]any{"name": []string{"One", "Two", "Twice", "Twice"}[i], "pages": 2, "publishedAt": "2000-01-01", "author": author, "price": "1", "genreId": "1"}
			c.Get(t, `mutation ($input: CreateBookInput!) { createBook(input: $input) { book { id } } }`, `{"input":`+servertest.Encode(t, input)+`}`)
		}
		const button = `<differ-button data-kind="SIMILAR_AUTHORS" data-first="Flann Ó&#39;Brian" data-second="Flann Ó&#39;Brien">`
		page, pageOfReader := c.page("/troubles", editor).Body.String(), c.page("/troubles", reader).Body.String()
		for _, text := range []string{"Authors that may be one", `href="/?author=Flann%20%c3%93%27Brian&amp;author=Flann%20%c3%93%27Brien"`, "Books that may be there twice", "&lt;b&gt;", ">Twice</a>"} {
			if !strings.Contains(page, text) || !strings.Contains(pageOfReader, text) {
				t.Errorf("the page lacks %s", text)
			}
		}
		if !strings.Contains(page, button) || strings.Contains(pageOfReader, "<differ-button") {
			t.Errorf("the button: %s", page)
		}
		c.Get(t, `mutation { markDifferent(input: {kind: SIMILAR_AUTHORS, one: "Flann Ó'Brien", other: "Flann Ó'Brian"}) { different } }`, "{}")
		if page := c.page("/troubles", editor).Body.String(); !strings.Contains(page, strings.TrimSuffix(button, ">")+" data-back>") || strings.Contains(page, button) {
			t.Errorf("after the mark: %s", page)
		}
	})
}

// TestOwnRow offers to the only admin no change that is refused, and asks before others disable themselves.
func TestOwnRow(t *testing.T) {
	t.Parallel()
	p := servePeople(t, catalogtest.SQLite(t))
	admin := p.as(t, "Ada", model.Admin)
	own := []string{`id="set-role-1"`, "Disable me now"}
	shows := func(want bool) {
		t.Helper()
		page := p.page("/admin", admin).Body.String()
		for _, text := range append(own, `id="enable-1"`) {
			if has := strings.Contains(page, text); has != (want && text != `id="enable-1"`) {
				t.Errorf("%q on People: %v", text, has)
			}
		}
	}
	shows(false)
	_, _, err := p.service.Invite(accounts.WithCommandLine(t.Context()), accounts.Invitation{Name: "Pending", Role: model.Admin})
	servertest.Must(t, err)
	shows(false) // nobody signs in as that one yet
	p.as(t, "Eve", model.Admin)
	shows(true)
	if page := p.page("/admin", admin).Body.String(); !strings.Contains(page, "Last seen ") || strings.Contains(page, "Last signed in") {
		t.Error("People names the last use as a login")
	}
}

// TestSignInForm signs in without scripts. An error keeps the name, says what to do, and next leads to this site only.
func TestSignInForm(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, database string) {
		p := servePeople(t, database)
		p.as(t, "Ada", model.Editor)
		page := p.page("/login?next=%2Fgenres").Body.String()
		for _, text := range []string{`action="/login"`, `autocomplete="username"`, `autocomplete="current-password"`, `name="next" value="/genres"`} {
			if !strings.Contains(page, text) {
				t.Errorf("the form lacks %q", text)
			}
		}
		for _, next := range []string{"//evil.example", `/\evil.example`, "https://evil.example/", "javascript:alert(1)", "/\t/evil.example"} {
			query := url.Values{"next": {next}}.Encode()
			if page := p.page("/login?" + query).Body.String(); !strings.Contains(page, `name="next" value="/"`) || strings.Contains(page, "evil") {
				t.Errorf("next=%q leads away", next)
			}
			if to := p.signIn(url.Values{"email": {"Ada"}, "password": {password}, "next": {next}}).Header().Get("Location"); to != "/" {
				t.Errorf("next=%q leads to %q", next, to)
			}
		}
		w := p.signIn(url.Values{"email": {"Ada<"}, "password": {"wrong password"}, "next": {"/genres"}})
		for _, text := range []string{"The name or the password is not right.", `value="Ada&lt;"`, `name="next" value="/genres"`} {
			if !strings.Contains(w.Body.String(), text) || w.Code != http.StatusUnauthorized {
				t.Errorf("a wrong password: status %d without %q", w.Code, text)
			}
		}
		if w := p.signIn(url.Values{}); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "Enter your name and your password.") {
			t.Errorf("nothing entered: status %d", w.Code)
		}
		if w := p.signIn(url.Values{"email": {"ada"}, "password": {password}, "next": {"/genres?a=b"}}); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/genres?a=b" {
			t.Errorf("status %d to %q", w.Code, w.Header().Get("Location"))
		}
		if w := p.page("/welcome"); w.Header().Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("/welcome has Referrer-Policy %q", w.Header().Get("Referrer-Policy"))
		}
	})
}

// TestPageImports imports by the session of an editor. /api does not know the session.
func TestPageImports(t *testing.T) {
	t.Parallel()
	p := servePeople(t, catalogtest.SQLite(t))
	reader, editor := p.as(t, "Zora", model.Reader), p.as(t, "Yuki", model.Editor)
	for _, tt := range []struct {
		target string
		status int
		header []string
	}{
		{"/api/imports?dry_run=true", http.StatusUnauthorized, []string{editor, "Sec-Fetch-Site: same-origin"}},
		{"/import/files?dry_run=true", http.StatusUnauthorized, []string{"Sec-Fetch-Site: same-origin"}},
		{"/import/files?dry_run=true", http.StatusForbidden, []string{reader, "Sec-Fetch-Site: same-origin"}},
		{"/import/files?dry_run=true", http.StatusForbidden, []string{editor, "Sec-Fetch-Site: cross-site"}},
		{"/import/files?dry_run=true", http.StatusAccepted, []string{editor, "Sec-Fetch-Site: same-origin"}},
	} {
		w := p.Do(http.MethodPost, tt.target, "name,author\nMomo,Michael Ende\n", append([]string{"Authorization:", "Content-Type: text/csv"}, tt.header...)...)
		if w.Code != tt.status {
			t.Errorf("%s %v: status %d, want %d: %.200s", tt.target, tt.header[len(tt.header)-1], w.Code, tt.status, w.Body)
		}
	}
}

// TestAccountsOff has no trace of accounts.
func TestAccountsOff(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	fillShelf(t, c)
	for _, target := range []string{"/login", "/welcome", "/account", "/admin", "/import/files"} {
		if w := c.Do(http.MethodGet, target, "", "Accept: text/html"); w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", target, w.Code)
		}
	}
	page := c.Do(http.MethodGet, "/books/1", "", "Accept: text/html").Body.String()
	if strings.Contains(page, "guarded") || strings.Contains(page, "Sign in") || !strings.Contains(page, "data-edit") {
		t.Error("the page of a book knows accounts")
	}
}
