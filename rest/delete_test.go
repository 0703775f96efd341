package rest_test

import (
	"fmt"
	"net/http"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/rest"
)

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
