package rest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/rest"
)

// TestPut tries which fields a PUT must have, keeps, and clears.
func TestPut(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		describe := func(target, body, want string) {
			t.Helper()
			before := s.want(http.StatusOK, "GET", target, "").data(t)
			after := s.want(http.StatusOK, "PUT", target, body).data(t)
			if string(after["description"]) != want {
				t.Errorf("%s: the description is %s, want %s", body, after["description"], want)
			}
			if string(after["created_at"]) != string(before["created_at"]) || string(after["updated_at"]) < string(before["updated_at"]) {
				t.Errorf("%s: made at %s, changed at %s; before, at %s and %s", body, after["created_at"], after["updated_at"], before["created_at"], before["updated_at"])
			}
			stored := s.want(http.StatusOK, "GET", target, "")
			if got := stored.data(t); fmt.Sprintf("%s", got) != fmt.Sprintf("%s", after) {
				t.Errorf("%s: answered was %s, and stored is %s", body, after, got)
			}
		}
		for target, required := range map[string]string{
			"/api/categories/1": `"name":"a"`,
			"/api/genres/1":     `"name":"a"`,
			"/api/books/1":      `"name":"a","pages":1,"published_at":"2000-01-01","author":"a","price":1,"genre_id":1`,
		} {
			before := string(s.want(http.StatusOK, "GET", target, "").data(t)["description"])
			describe(target, `{`+required+`}`, before)
			describe(target, `{`+required+`,"description":" new "}`, `"new"`)
			describe(target, `{`+required+`}`, `"new"`)
			describe(target, `{`+required+`,"description":null}`, `null`)
			describe(target, `{`+required+`}`, `null`)
			describe(target, `{`+required+`,"description":"again"}`, `"again"`)
			describe(target, `{`+required+`,"description":" "}`, `null`)
			for field := range strings.SplitSeq(required, ",") {
				name := strings.Trim(strings.Split(field, ":")[0], `"`)
				for _, body := range []string{
					strings.ReplaceAll(`{`+required+`,"x":1}`, field+",", ""),
					strings.ReplaceAll(`{`+required+`}`, field, quote(name)+":null"),
					strings.ReplaceAll(`{`+required+`}`, field, quote(name)+`:""`),
				} {
					a := s.want(http.StatusUnprocessableEntity, "PUT", target, body)
					if got, want := refusalOf(t, a), (refusal{name, "The " + strings.ReplaceAll(name, "_", " ") + " field is required."}); got != want {
						t.Errorf("%s: %v, want %v", body, got, want)
					}
				}
			}
		}

		category := func(body, want string) {
			t.Helper()
			if got := string(s.want(http.StatusOK, "PUT", "/api/genres/1", body).data(t)["category_id"]); got != want {
				t.Errorf("%s: the category is %s, want %s", body, got, want)
			}
		}
		category(`{"name":"a","category_id":"2"}`, "2")
		category(`{"name":"a"}`, "2")
		category(`{"name":"a","category_id":1}`, "1")
		for _, missing := range []string{`null`, `""`} {
			a := s.want(http.StatusUnprocessableEntity, "PUT", "/api/genres/1", `{"name":"a","category_id":`+missing+`}`)
			if got, want := refusalOf(t, a), (refusal{"category_id", "The category id field is required."}); got != want {
				t.Errorf("%v, want %v", got, want)
			}
		}
	})
}

// TestOrderOfChecks sends requests with ever fewer things wrong: what is said is
// always the first in the order of the contract.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	const stale = `If-Match: "99.99.99"`
	steps := []struct {
		status               int
		method, target, body string
		headers              []header
	}{
		{401, "POST", "/api/genres", `{`, []header{noAuth, "Content-Type: text/plain", "Idempotency-Key: ÿ"}},
		{415, "POST", "/api/genres", `{`, []header{"Content-Type: text/plain", "Idempotency-Key: ÿ"}},
		{400, "POST", "/api/genres", `{`, []header{"Idempotency-Key: ÿ"}},
		{422, "POST", "/api/genres", `{"name":"a","category_id":99}`, nil},
		{201, "POST", "/api/genres", `{"name":"a","category_id":1}`, nil},

		{401, "PUT", "/api/genres/99", `{`, []header{noAuth, "Content-Type: text/plain", stale}},
		{415, "PUT", "/api/genres/99", `{`, []header{"Content-Type: text/plain", stale}},
		{400, "PUT", "/api/genres/99", `{`, []header{stale}},
		{422, "PUT", "/api/genres/99", `{"name":""}`, []header{stale}},
		{422, "PUT", "/api/genres/99", `{"name":"a","category_id":99}`, []header{stale}},
		{422, "PUT", "/api/genres/1", `{"name":"a","category_id":99}`, []header{stale}},
		{404, "PUT", "/api/genres/99", `{"name":"a"}`, []header{stale}},
		{404, "PUT", "/api/genres/99", `{"name":"a"}`, []header{"If-Match: *"}},
		{404, "PUT", "/api/genres/x", `{"name":"a"}`, []header{"If-None-Match: *"}},
		{412, "PUT", "/api/genres/1", `{"name":"a"}`, []header{stale}},
		{200, "PUT", "/api/genres/1", `{"name":"a"}`, nil},

		{401, "DELETE", "/api/genres/99?cascade=maybe", ``, []header{noAuth, stale}},
		{422, "DELETE", "/api/genres/99?cascade=maybe", ``, []header{stale}},
		{404, "DELETE", "/api/genres/99", ``, []header{stale}},
		{412, "DELETE", "/api/genres/1", ``, []header{stale}},
		{409, "DELETE", "/api/genres/1", ``, nil},
		{200, "DELETE", "/api/genres/1?cascade=true", ``, nil},

		{404, "POST", "/api/authors", `{`, []header{noAuth}},
		{405, "PATCH", "/api/genres/99", `{`, []header{noAuth}},
	}
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := serve(t, url, rest.Options{}).shelf()
		for _, step := range steps {
			a := s.call(step.method, step.target, step.body, step.headers...)
			if a.status != step.status {
				t.Errorf("%s %s %s %q: status %d, want %d: %s", step.method, step.target, step.body, step.headers, a.status, step.status, a.body)
			}
		}
	})
}

// TestUnauthenticatedAlike tells no cause of a 401 from another.
func TestUnauthenticatedAlike(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := serve(t, url, rest.Options{})
		const want = `{"success":false,"message":"Unauthenticated.","data":null}`
		for _, credentials := range []string{"", "Bearer", "Bearer x", "Bearer " + s.token + "x", "Basic YTpi", s.token, "Bearer " + s.token[:len(s.token)-1]} {
			a := s.call("POST", "/api/categories", `{"name":"a"}`, "Authorization: "+credentials)
			if a.status != http.StatusUnauthorized || a.body != want || a.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%q: %d %v %s", credentials, a.status, a.header, a.body)
			}
		}
		if total := s.want(http.StatusOK, "GET", "/api/categories", "").rows(t); len(total) != 0 {
			t.Errorf("stored was %v", total)
		}
	})
}

// TestClientGivesUp lets a client go that waits for a row which another holds.
// That is no fault either, and the row stays as it is.
func TestClientGivesUp(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		id := rand.Text()
		s.holding(1, func() {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, err := s.try(ctx, "PUT", "/api/categories/1", `{"name":"Tales"}`, "X-Request-Id: "+id); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the client got %v", err)
			}
			eventually(t, func() string { return strings.Join(s.log.linesWith("msg=request ", id), "") })
		})
		if lines := s.log.linesWith("level=ERROR", id); len(lines) > 0 {
			t.Errorf("the log says %q", lines)
		}
		if tag := s.tag("/api/categories/1"); tag != `"1"` {
			t.Errorf("the row is at version %s", tag)
		}
	})
}

// contents gives the ids of all that is stored.
func (s *service) contents() string {
	s.Helper()
	var ids [3][]string
	for i, target := range []string{"/api/books", "/api/genres", "/api/categories"} {
		ids[i] = s.want(http.StatusOK, "GET", target, "").ids(s.T)
	}
	return fmt.Sprint("books ", ids[0], " genres ", ids[1], " categories ", ids[2])
}

const everything = "books [1 2 3] genres [1 2 3] categories [1 2]"

// TestDelete deletes what others point at, under each policy: what is refused
// loses nothing, what cascades leaves nothing behind.
func TestDelete(t *testing.T) {
	t.Parallel()
	type request struct {
		target string
		status int
		says   string // of a refusal, or what is left
	}
	const (
		withoutGenre1    = "books [2] genres [2 3] categories [1 2]"
		withoutCategory1 = "books [2] genres [2] categories [2]"
	)
	tests := map[string]struct {
		options  rest.Options
		requests []request
	}{
		"restrict": {rest.Options{}, []request{
			{"/api/genres/1", 409, "Genre has 2 books"},
			{"/api/genres/2", 409, "Genre has 1 book"},
			{"/api/categories/1", 409, "Category has 2 genres"},
			{"/api/categories/2", 409, "Category has 1 genre"},
			{"/api/genres/1?cascade=false", 409, "Genre has 2 books"},
			{"/api/genres/1?cascade=0", 409, "Genre has 2 books"},
			{"/api/genres/1?cascade=", 409, "Genre has 2 books"},
			{"/api/genres/1?cascade", 409, "Genre has 2 books"},
			{"/api/genres/1?Cascade=true", 409, "Genre has 2 books"},
			{"/api/genres/1?cascade=maybe", 422, "The cascade field must be true or false."},
			{"/api/books/1?cascade=maybe", 422, "The cascade field must be true or false."},
			{"/api/genres/1?cascade=true%20", 422, "The cascade field must be true or false."},
			{"/api/genres/4?cascade=true", 404, "Genre not found"},
		}},
		"leaf":                {rest.Options{}, []request{{"/api/genres/3", 200, "books [1 2 3] genres [1 2] categories [1 2]"}}},
		"book":                {rest.Options{}, []request{{"/api/books/2", 200, "books [1 3] genres [1 2 3] categories [1 2]"}}},
		"book, cascading":     {rest.Options{}, []request{{"/api/books/2?cascade=true", 200, "books [1 3] genres [1 2 3] categories [1 2]"}}},
		"genre, cascading":    {rest.Options{}, []request{{"/api/genres/1?cascade=true", 200, withoutGenre1}}},
		"genre, 1":            {rest.Options{}, []request{{"/api/genres/1?cascade=1", 200, withoutGenre1}}},
		"category, cascading": {rest.Options{}, []request{{"/api/categories/1?cascade=true", 200, withoutCategory1}}},
		"genre, by option":    {rest.Options{Cascade: true}, []request{{"/api/genres/1", 200, withoutGenre1}}},
		"category, by option": {rest.Options{Cascade: true}, []request{{"/api/categories/1", 200, withoutCategory1}}},
		"against the option": {rest.Options{Cascade: true}, []request{
			{"/api/categories/1?cascade=false", 409, "Category has 2 genres"},
			{"/api/genres/1?cascade=0", 409, "Genre has 2 books"},
			{"/api/genres/1?cascade=no", 422, "The cascade field must be true or false."},
		}},
	}
	catalogtest.Each(t, func(t *testing.T, url string) {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				s := serve(t, another(t, url), test.options).shelf()
				for _, r := range test.requests {
					a := s.want(r.status, "DELETE", r.target, "")
					left := everything
					if r.status == http.StatusOK {
						left = r.says
					} else if a.message(t) != r.says {
						t.Errorf("%s: %s, want %q", r.target, a.body, r.says)
					}
					if diff := gocmp.Diff(left, s.contents()); diff != "" {
						t.Errorf("%s leaves (-want +got):\n%s", r.target, diff)
					}
				}
			})
		}
	})
}

// TestOpenDelete deletes without a token: by default nobody can, with the option
// everybody, and nothing else is opened by it.
func TestOpenDelete(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		closed := serve(t, url, rest.Options{}).shelf()
		for _, target := range []string{"/api/books/1", "/api/genres/3", "/api/categories/1?cascade=true", "/api/books/99", "/api/books/x"} {
			for _, credentials := range []header{noAuth, "Authorization: Bearer x"} {
				closed.want(http.StatusUnauthorized, "DELETE", target, "", credentials)
			}
		}
		if diff := gocmp.Diff(everything, closed.contents()); diff != "" {
			t.Fatal(diff)
		}
		opened := serve(t, url, rest.Options{OpenDelete: true})
		opened.want(http.StatusConflict, "DELETE", "/api/genres/1", "", noAuth)
		opened.want(http.StatusNotFound, "DELETE", "/api/books/99", "", noAuth)
		opened.want(http.StatusPreconditionFailed, "DELETE", "/api/books/1", "", noAuth, `If-Match: "x"`)
		opened.want(http.StatusOK, "DELETE", "/api/books/1", "", noAuth)
		opened.want(http.StatusOK, "DELETE", "/api/books/3", "", "Authorization: Bearer x")
		opened.want(http.StatusOK, "DELETE", "/api/genres/1", "")
		opened.want(http.StatusOK, "DELETE", "/api/categories/2?cascade=true", "", noAuth)
		opened.want(http.StatusUnauthorized, "POST", "/api/categories", poetry, noAuth)
		opened.want(http.StatusUnauthorized, "PUT", "/api/categories/1", poetry, noAuth)
		a := opened.call("POST", "/graphql", `{"query":"mutation{deleteGenre(input:{id:3}){deletedGenreId}}"}`, noAuth)
		if e := decode[graphQLAnswer](t, a.body).Errors; len(e) != 1 || e[0].Extensions.Code != "UNAUTHENTICATED" {
			t.Errorf("GraphQL is open, too: %s", a.body)
		}
		if diff := gocmp.Diff("books [] genres [3] categories [1]", opened.contents()); diff != "" {
			t.Error(diff)
		}
	})
}
