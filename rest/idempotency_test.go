package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/rest"
)

const (
	key        = "Idempotency-Key: 8e03978e-40d5-43dd-bc93-6894a57f9324"
	anotherKey = "Idempotency-Key: another"
	wasAnother = "This Idempotency-Key was used with another request. Use a new key for a new request."
	replayed   = "Idempotency-Replayed"
	poetry     = `{"name":"Poetry"}`
)

// TestIdempotencyKey sends requests again, the same and others, under the same
// key and under others.
func TestIdempotencyKey(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		for target, body := range map[string]string{"/api/books": hobbit, "/api/genres": `{"name":"Odes","category_id":"1"}`, "/api/categories": poetry} {
			own := key + strings.ReplaceAll(target, "/", "-")
			before := len(s.want(http.StatusOK, "GET", target, "").rows(t))
			first := s.want(http.StatusCreated, "POST", target, body, own)
			// What becomes of the row meanwhile does not change the answer.
			s.want(http.StatusOK, "DELETE", first.header.Get("Location"), "")
			again := s.want(http.StatusCreated, "POST", target, body, own)
			if again.header.Get(replayed) != "true" || first.header.Get(replayed) != "" {
				t.Errorf("%s: %s is %q and %q", target, replayed, first.header.Get(replayed), again.header.Get(replayed))
			}
			for _, name := range []string{"Location", "ETag", "Content-Type"} {
				if first.header.Get(name) == "" || again.header.Get(name) != first.header.Get(name) {
					t.Errorf("%s: %s is %q and %q", target, name, first.header.Get(name), again.header.Get(name))
				}
			}
			if again.body != first.body {
				t.Errorf("%s: the answers are\n%s\n%s", target, first.body, again.body)
			}
			// A trailing slash makes no other request of it.
			if a := s.want(http.StatusCreated, "POST", target+"/", body, own); a.header.Get(replayed) != "true" || a.header.Get("Location") != first.header.Get("Location") {
				t.Errorf("%s/: %v", target, a.header)
			}
			if after := len(s.want(http.StatusOK, "GET", target, "").rows(t)); after != before {
				t.Errorf("%s: %d rows, want %d", target, after, before)
			}
			for _, other := range []string{strings.Replace(body, "}", ` }`, 1), strings.Replace(body, "name", "nam\\u0065", 1), `{"name":"Other","category_id":1}`} {
				if a := s.want(http.StatusUnprocessableEntity, "POST", target, other, own); a.message(t) != wasAnother {
					t.Errorf("%s: %s", target, a.body)
				}
			}
			fresh := s.want(http.StatusCreated, "POST", target, body, anotherKey+strings.ReplaceAll(target, "/", "-"))
			without := s.want(http.StatusCreated, "POST", target, body)
			if fresh.header.Get(replayed) != "" || without.header.Get(replayed) != "" || fresh.id(t) == first.id(t) || without.id(t) == fresh.id(t) {
				t.Errorf("%s: the ids are %s, %s, %s", target, first.id(t), fresh.id(t), without.id(t))
			}
		}
		// The same key at another path is another request.
		s.want(http.StatusCreated, "POST", "/api/categories", `{"name":"a","category_id":1}`, key)
		if a := s.want(http.StatusUnprocessableEntity, "POST", "/api/genres", `{"name":"a","category_id":1}`, key); a.message(t) != wasAnother {
			t.Errorf("at another path: %s", a.body)
		}
		// The same key in other letters is another key.
		if a := s.want(http.StatusCreated, "POST", "/api/categories", poetry, strings.ToUpper(key)); a.header.Get(replayed) != "" {
			t.Errorf("another key: %v", a.header)
		}
	})
}

// TestIdempotencyKeyScope gives two subjects the same key, and takes a subject
// its token.
func TestIdempotencyKeyScope(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := serve(t, url, rest.Options{})
		ids := map[string]bool{}
		for _, subject := range []string{"ann", "bob", "Ann"} {
			token := "Authorization: Bearer " + tokenFor(t, subject)
			a := s.want(http.StatusCreated, "POST", "/api/categories", poetry, key, token)
			again := s.want(http.StatusCreated, "POST", "/api/categories", poetry, key, token)
			if ids[a.id(t)] || a.header.Get(replayed) != "" || again.id(t) != a.id(t) || again.header.Get(replayed) != "true" {
				t.Errorf("%q: %s, again %s", subject, a.body, again.body)
			}
			ids[a.id(t)] = true
		}
		s.want(http.StatusUnprocessableEntity, "POST", "/api/categories", `{"name":"other"}`, key, "Authorization: Bearer "+tokenFor(t, "bob"))
		s.want(http.StatusUnprocessableEntity, "POST", "/api/categories", poetry, key, "Authorization: Bearer "+tokenFor(t, ""))
		s.want(http.StatusUnauthorized, "POST", "/api/categories", poetry, key, noAuth)
	})
}

// TestIdempotencyKeyErrors fails first: an error is not kept.
func TestIdempotencyKeyErrors(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := serve(t, url, rest.Options{})
		sonnets := `{"name":"Sonnets","category_id":1}`
		s.want(http.StatusUnauthorized, "POST", "/api/genres", sonnets, key, noAuth)
		s.want(http.StatusBadRequest, "POST", "/api/genres", `{`, key)
		s.want(http.StatusUnprocessableEntity, "POST", "/api/genres", `{"name":"a"}`, key)
		s.want(http.StatusUnprocessableEntity, "POST", "/api/genres", sonnets, key) // there is no category yet
		s.want(http.StatusCreated, "POST", "/api/categories", poetry)
		if a := s.want(http.StatusCreated, "POST", "/api/genres", sonnets, key); a.header.Get(replayed) != "" {
			t.Errorf("an error was kept: %v", a.header)
		}
		if a := s.want(http.StatusCreated, "POST", "/api/genres", sonnets, key); a.header.Get(replayed) != "true" {
			t.Errorf("the answer was not kept: %v", a.header)
		}
	})
}

// TestIdempotencyKeyAtOnce sends one request many times at once: it is carried
// out once, and every client hears the same.
func TestIdempotencyKeyAtOnce(t *testing.T) {
	t.Parallel()
	const clients = 40
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := serve(t, url, rest.Options{}).shelf()
		answers := make([]answer, clients)
		s.together(clients, func(i int) int {
			answers[i] = s.call("POST", "/api/books", hobbit, key)
			return 0
		})
		fresh := 0
		for _, a := range answers {
			if a.status != http.StatusCreated || a.body != answers[0].body {
				t.Fatalf("%d %s, and another heard %s", a.status, a.body, answers[0].body)
			}
			if a.header.Get(replayed) == "" {
				fresh++
			}
		}
		if books := s.want(http.StatusOK, "GET", "/api/books", "").rows(t); fresh != 1 || len(books) != 4 {
			t.Errorf("%d were carried out, and there are %d books, want 1 and 4", fresh, len(books))
		}

		// Two bodies under one key: one of them wins.
		statuses := s.together(clients, func(i int) int {
			return s.call("POST", "/api/categories", []string{poetry, `{"name":"Prose"}`}[i%2], anotherKey).status
		})
		slices.Sort(statuses)
		if statuses[clients/2-1] != http.StatusCreated || statuses[clients/2] != http.StatusUnprocessableEntity {
			t.Errorf("the statuses are %v", statuses)
		}
		if categories := s.want(http.StatusOK, "GET", "/api/categories", "").rows(t); len(categories) != 3 {
			t.Errorf("there are %d categories, want 3", len(categories))
		}
	})
}

// TestIdempotencyKeyBounds tries what may be a key.
func TestIdempotencyKeyBounds(t *testing.T) {
	t.Parallel()
	const says = "The Idempotency-Key header must be one key of 1 to 255 printable ASCII characters."
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := serve(t, url, rest.Options{})
		for _, good := range []string{"a", `"a"`, strings.Repeat("k", 255), "!~ {}[]\"'\\%_;--", "0"} {
			s.want(http.StatusCreated, "POST", "/api/categories", poetry, "Idempotency-Key: "+good)
			if a := s.want(http.StatusCreated, "POST", "/api/categories", poetry, "idempotency-key:   "+good+" "); a.header.Get(replayed) != "true" {
				t.Errorf("%q was not known again", good)
			}
		}
		for _, bad := range []string{strings.Repeat("k", 256), "ключ", "\xff", "a\tb"} {
			if a := s.want(http.StatusUnprocessableEntity, "POST", "/api/categories", poetry, "Idempotency-Key: "+bad); a.message(t) != says {
				t.Errorf("%q: %s", bad, a.body)
			}
		}
		if a := s.want(http.StatusUnprocessableEntity, "POST", "/api/categories", poetry, "Idempotency-Key: a", "Idempotency-Key: a"); a.message(t) != says {
			t.Errorf("two keys: %s", a.body)
		}
		request, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/api/categories", strings.NewReader(poetry))
		must(t, err)
		request.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + s.token}, "Idempotency-Key": {""}}
		response, err := s.client.Do(request)
		must(t, err)
		response.Body.Close()
		if response.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("an empty key: status %d", response.StatusCode)
		}
		if categories := s.want(http.StatusOK, "GET", "/api/categories", "").rows(t); len(categories) != 5 {
			t.Errorf("there are %d categories, want 5", len(categories))
		}
	})
}

// TestIdempotencyKeyExpires moves the time at which an answer was kept: after 24
// hours the key is free again.
func TestIdempotencyKeyExpires(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := serve(t, url, rest.Options{})
		first := s.want(http.StatusCreated, "POST", "/api/categories", poetry, key)
		keptFor := func(age time.Duration) {
			s.exec(`UPDATE idempotency_keys SET created_at = $1`, time.Now().Add(-age).UTC().Format("2006-01-02T15:04:05.000000Z"))
		}
		keptFor(24*time.Hour - time.Minute)
		if a := s.want(http.StatusCreated, "POST", "/api/categories", poetry, key); a.header.Get(replayed) != "true" || a.id(t) != first.id(t) {
			t.Errorf("the key was forgotten before its time: %s", a.body)
		}
		keptFor(24*time.Hour + time.Minute)
		second := s.want(http.StatusCreated, "POST", "/api/categories", `{"name":"Prose"}`, key)
		if second.header.Get(replayed) != "" || second.id(t) == first.id(t) {
			t.Errorf("the key was not forgotten: %s", second.body)
		}
		if a := s.want(http.StatusCreated, "POST", "/api/categories", `{"name":"Prose"}`, key); a.header.Get(replayed) != "true" || a.id(t) != second.id(t) {
			t.Errorf("the key's second use was not kept: %s", a.body)
		}
		keptFor(24*time.Hour + time.Minute)
		ids := s.together(20, func(int) int { return len(s.want(http.StatusCreated, "POST", "/api/categories", poetry, key).body) })
		if rows := s.want(http.StatusOK, "GET", "/api/categories", "").rows(t); len(rows) != 3 {
			t.Errorf("after %d requests at once under a key that was forgotten there are %d categories, want 3", len(ids), len(rows))
		}
	})
}
