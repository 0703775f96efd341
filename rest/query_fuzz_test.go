package rest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/admission"
	"library-catalogue/edge/pipeline"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/rest"
)

// FuzzListParameters asks for lists with any query. Whatever it is, it is
// answered or refused, by GET and HEAD alike, and never a failure of ours.
func FuzzListParameters(f *testing.F) {
	store := catalogtest.Open(f, catalogtest.SQLite(f))
	catalogue := resolvers.New(store)
	ctx := catalogue.WithSnapshot(model.WithCaller(f.Context(), model.Caller{}))
	form, err := model.ParseForm([]byte(`{"name":"Momo","pages":304,"published_at":"1973-01-01","author":"Michael Ende","price":9.99,"genre":"Fantasy","category":"Fiction"}`))
	if err != nil {
		f.Fatal(err)
	}
	if _, err := catalogue.ImportBooks(ctx, []model.Form{form}); err != nil {
		f.Fatal(err)
	}
	for _, a := range alikes {
		f.Add(a.list, a.parameters)
	}
	for _, query := range []string{
		"genre_id=1,,2&genre_id[]=3&category_id=9223372036854775808", "price_min=1e-9&price_max=-.5e+99", "published_from=0001-01-01T00:00&published_to=9999-12-31",
		"author=%FF%00&q=%ED%A0%80", "q=%22a%22*+OR+NEAR(b)+-c:d^e&sort=-relevance", "sort=,-,id&per_page=1&page=2", "after=AAAA&per_page=1000", "&&=&;%=%zz;", "author=100%",
	} {
		f.Add("books", query)
	}
	operations := &pipeline.Pipeline{Catalogue: catalogue, Admission: admission.New(4), Timeout: time.Minute}
	h := rest.New(catalogue, rest.Options{Pipeline: operations})
	f.Fuzz(func(t *testing.T, list, query string) {
		if list != "books" && list != "genres" && list != "categories" {
			return
		}
		status := map[string]int{}
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			r := httptest.NewRequestWithContext(t.Context(), method, "/api/"+list, nil)
			r.URL.RawQuery = query
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			status[method] = w.Code
			if w.Code != http.StatusOK && w.Code != http.StatusUnprocessableEntity {
				t.Errorf("%s status %d: %s", method, w.Code, w.Body)
			}
			if method == http.MethodGet && !json.Valid(w.Body.Bytes()) {
				t.Errorf("no JSON: %s", w.Body)
			}
		}
		if status[http.MethodGet] != status[http.MethodHead] {
			t.Errorf("the status is %v", status)
		}
	})
}
