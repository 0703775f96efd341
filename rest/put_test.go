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
