package rest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/rest"
)

// TestBodies tries bodies that are wrong as a whole, or hold more than is asked
// for, against both endpoints.
func TestBodies(t *testing.T) {
	t.Parallel()
	const notJSON, notObject = "The request body is not valid JSON.", "The request body must be a JSON object."
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := serve(t, url, rest.Options{}).shelf()
		for body, says := range map[string]string{
			"{\"name\":\"\xff\"}":               notJSON,
			"{\"name\":\"\xed\xa0\x80\"}":       notJSON, // half of a surrogate pair as bytes
			"{\"name\":\"\xc0\x80\"}":           notJSON, // NUL in two bytes
			"{\"\xff\":1,\"name\":\"a\"}":       notJSON,
			`{"name":"\ud800"}`:                 notJSON,
			`{"name":"\udc00"}`:                 notJSON,
			`{"name":"\ud800\ud800"}`:           notJSON,
			`{"name":"\udc00\ud800"}`:           notJSON,
			`{"name":"\ud83dx"}`:                notJSON,
			`{"name":"\\\ud83d"}`:               notJSON,
			`{"\ud800":1,"name":"a"}`:           notJSON,
			"\ufeff" + `{"name":"a"}`:           notJSON,
			"{\"name\":\"a\nb\"}":               notJSON,
			`{'name':'a'}`:                      notJSON,
			`{"name":"a",}`:                     notJSON,
			`{"name":NaN}`:                      notJSON,
			`{"name":01}`:                       notJSON,
			`{"name":"a"}}`:                     notJSON,
			`name=a`:                            notJSON,
			" ":                                 notJSON,
			strings.Repeat(`{"a":`, 100_000):    notJSON,
			strings.Repeat(`[`, 100_000) + `{}`: notJSON,
			`[{"name":"a"}]`:                    notObject,
			`"name"`:                            notObject,
			`7`:                                 notObject,
			`null`:                              notObject,
			`true`:                              notObject,
		} {
			for method, target := range map[string]string{"POST": "/api/categories", "PUT": "/api/categories/1"} {
				if a := s.call(method, target, body); a.status != http.StatusBadRequest || a.message(t) != says {
					t.Errorf("%s %s: %d %s", method, clip(body), a.status, clip(a.body))
				}
			}
			wrapped := `{"query":"mutation($input:CreateCategoryInput!){createCategory(input:$input){category{id}}}","variables":{"input":` + body + `}}`
			a := s.call("POST", "/graphql", wrapped)
			e := decode[graphQLAnswer](t, a.body).Errors
			if a.status >= 500 || len(e) == 0 || e[0].Extensions.Code != "BAD_USER_INPUT" && e[0].Extensions.Code != "GRAPHQL_VALIDATION_FAILED" {
				t.Errorf("GraphQL, %s: %d %s", clip(body), a.status, clip(a.body))
			}
		}

		created := s.want(http.StatusCreated, "POST", "/api/books", ` {"id":77,"version":9,"created_at":"1999-01-01T00:00:00.000000Z","updated_at":null,"genre":{"id":2,"name":"x"},
			"name":"first","name":"last","Name":"other","NAME":7,"pages":1,"published_at":"2000-01-01","author":"a","price":1,"genre_id":1,"unknown":{"a":[{"b":"\u0000"}]},"":null} `)
		if got := created.data(t); string(got["id"]) != "4" || string(got["name"]) != `"last"` || string(got["genre_id"]) != "1" ||
			strings.HasPrefix(string(got["created_at"]), `"1999`) || created.header.Get("ETag") != `"1.1.1"` {
			t.Errorf("what the service assigns was taken from the body: %s", created.body)
		}
		changed := s.want(http.StatusOK, "PUT", "/api/genres/1", `{"id":3,"genre_id":3,"name":"Myths","category":{"id":2},"created_at":"1999-01-01T00:00:00.000000Z"}`)
		if got := changed.data(t); string(got["id"]) != "1" || string(got["category_id"]) != "1" || strings.HasPrefix(string(got["created_at"]), `"1999`) {
			t.Errorf("what the service assigns was taken from the body: %s", changed.body)
		}
		if a := s.want(http.StatusCreated, "POST", "/api/categories/", `{"name":"a"}`); a.header.Get("Location") != "/api/categories/"+a.id(t) {
			t.Errorf("the new category is at %s", a.header.Get("Location"))
		}
		for _, contentType := range []string{"application/json;charset=UTF-8", "Application/JSON", "application/json; charset=\"utf8\"", "application/json ; x=y"} {
			s.want(http.StatusCreated, "POST", "/api/categories", `{"name":"a"}`, "Content-Type: "+contentType)
		}
	})
}

// TestBodySize tries the biggest body and one byte more, with its length said
// beforehand or not.
func TestBodySize(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := serve(t, url, rest.Options{})
		for length, want := range map[int]int{1 << 20: http.StatusCreated, 1<<20 + 1: http.StatusRequestEntityTooLarge} {
			body := `{"name":"a","unknown":"`
			body += strings.Repeat("x", length-len(body)-2) + `"}`
			s.want(want, "POST", "/api/categories", body)

			request, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/api/categories", io.MultiReader(strings.NewReader(body)))
			must(t, err)
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("Authorization", "Bearer "+s.token)
			response, err := s.client.Do(request)
			must(t, err)
			response.Body.Close()
			if response.StatusCode != want {
				t.Errorf("%d bytes in chunks: status %d, want %d", length, response.StatusCode, want)
			}
		}
	})
}
