package cost_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/edge/ratelimit"
	"library-catalogue/server"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// TestCostLimit asks for too much: the database is not asked, and the answer says
// what it is that costs so much.
func TestCostLimit(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		for document, of := range map[string]struct{ variables, error string }{
			servertest.TooMuch: {`{}`, `{"message":"The operation costs 1002002001; the limit is 50000. The field with the highest cost, 1001000000, is categories.nodes.genres.nodes.all. Request smaller pages or fewer fields.",
				"locations":[{"line":1,"column":67}],"extensions":{"code":"COST_LIMIT_EXCEEDED","cost":{"requested":1002002001,"limit":50000,"field":"categories.nodes.genres.nodes.all","fieldCost":1001000000},"requestId":"test"}}`},
			`query ($n: Int!, $yes: Boolean!) { ...f @include(if: $yes) __typename } fragment f on Query { genres(first: $n) { nodes { books(first: $n) { totalCount } } } }`: {
				`{"n":300,"yes":true}`, `{"message":"The operation costs 93601; the limit is 50000. The field with the highest cost, 90300, is genres.nodes.books. Request smaller pages or fewer fields.",
				"locations":[{"line":1,"column":123}],"extensions":{"code":"COST_LIMIT_EXCEEDED","cost":{"requested":93601,"limit":50000,"field":"genres.nodes.books","fieldCost":90300},"requestId":"test"}}`},
		} {
			w := c.Do(http.MethodPost, "/graphql", `{"query":`+servertest.Encode(t, document)+`,"variables":`+of.variables+`}`, "Accept: application/graphql-response+json")
			if w.Code != http.StatusUnprocessableEntity || servertest.StatementCount(t, w) != 0 {
				t.Errorf("%s: status %d, %s", document, w.Code, w.Header().Get("Server-Timing"))
			}
			if diff := cmp.Diff(servertest.Indented(t, `{"errors":[`+of.error+`]}`), servertest.Indented(t, w.Body.String())); diff != "" {
				t.Errorf("%s (-want +got):\n%s", document, diff)
			}
		}
		if c.Log.Has("level=ERROR") || c.Log.Has("level=WARN") {
			t.Errorf("the log takes it for a fault:\n%s", c.Log)
		}
		// With the variables that it has by default the same document costs less.
		c.Want(t, `query ($n: Int = 1) { genres(first: $n) { nodes { books(first: $n) { totalCount } } } }`, "", `{"genres":{"nodes":[{"books":{"totalCount":2}}]}}`)
	})
}

// TestCostOfUse asks for what people ask for.
func TestCostOfUse(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		rows, _ := json.Marshal(make([]struct{}, 10_000))
		categories := strings.ReplaceAll(string(rows), "{}", `{"name":"Category"}`)
		for _, of := range []struct{ document, variables string }{
			{`{ books(first: 1000) { totalCount nodes { name price genre { name category { name } } } pageInfo { endCursor } } }`, ""},
			{`{ genres(first: 20) { nodes { name books(first: 10) { nodes { name } } } } }`, ""},
			{`{ categories(first: 20) { nodes { genres(first: 10) { nodes { books(first: 20) { nodes { name genre { name } } } } } } } }`, ""},
			{`{ genres(first: 1000) { nodes { books { totalCount nodes { name } } } } }`, ""},
			{`mutation ($rows: [CreateCategoryInput!]!) { createCategories(input: {categories: $rows}) { count results { category { id } } } }`, `{"rows":` + categories + `}`},
		} {
			if a := c.Ask(t, of.document, of.variables); len(a.Errors) > 0 {
				t.Errorf("%s: %.300v", of.document, a.Errors)
			}
		}
	})
}

// TestCostReport asks for the cost: it is told, by both methods, and no answer
// with it is kept or given to another.
func TestCostReport(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		c.Reconfigure(t, server.Config{CacheBytes: 1 << 20, GraphQL: graphqlhttp.Options{Limits: graphqlhttp.Limits{Cost: 40}}})
		const document = `query ($n: Int!) { books(first: $n) { nodes { id genre { name } } } }`
		body := `{"query":` + servertest.Encode(t, document) + `,"variables":{"n":1}}`
		get := "/graphql?variables=" + url.QueryEscape(`{"n":1}`) + "&query=" + url.QueryEscape(document)
		const data = `"data":{"books":{"nodes":[{"id":"1","genre":{"name":"Fantasy"}}]}}`
		for range 3 {
			for _, reported := range []bool{false, true} {
				want, header := `{`+data+`}`, "GraphQL-Cost:"
				if reported {
					want, header = `{`+data+`,"extensions":{"cost":{"requested":3,"limit":40}}}`, "GraphQL-Cost: report"
				}
				post, got := c.Do(http.MethodPost, "/graphql", body, header), c.Do(http.MethodGet, get, "", header)
				if post.Body.String() != want || got.Body.String() != want {
					t.Errorf("%q: %s by POST, %s by GET, want %s", header, post.Body, got.Body, want)
				}
				tag := got.Header().Get("ETag")
				if reported && (tag != "" || got.Header().Get("Cache-Control") != "no-store" || strings.Contains(post.Header().Get("Server-Timing"), "cache")) ||
					!reported && tag == "" {
					t.Errorf("%q: %v and %v", header, post.Header(), got.Header())
				}
			}
		}
		if w := c.Do(http.MethodPost, "/graphql", body); !strings.Contains(w.Header().Get("Server-Timing"), "cache") {
			t.Errorf("the answer without the cost is not kept: %v", w.Header())
		}
		c.WantError(t, `{ books(first: 40) { totalCount } }`, "", "COST_LIMIT_EXCEEDED", "costs 51; the limit is 40", "GraphQL-Cost: report")
		if w := c.Do(http.MethodPost, "/graphql", body, "GraphQL-Cost: yes"); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "has one value: report") {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
	})
}

// TestCostIsCharged has a caller pay: a unit for each 100, one for an answer that
// was kept, and one for what is refused.
func TestCostIsCharged(t *testing.T) {
	c := servertest.Shelved(t)
	c.Reconfigure(t, server.Config{CacheBytes: 1 << 20, Rate: ratelimit.Rate{PerSecond: 1.0 / (1 << 20), Burst: 100}})
	const page = `{ books(first: 1000) { nodes { genre { category { name } } } } }`
	left := func(document string) string {
		w := c.Do(http.MethodPost, "/graphql", `{"query":`+servertest.Encode(t, document)+`}`)
		remaining, _, _ := strings.Cut(strings.TrimPrefix(w.Header().Get("RateLimit"), `"default";r=`), ";")
		return fmt.Sprint(w.Code, " ", remaining)
	}
	for i, of := range []struct{ document, want string }{
		{page, "200 69"}, {page, "200 38"}, {page, "200 37"}, {page, "200 36"}, // kept from the second time on
		{servertest.TooMuch, "200 35"}, {page + " # a", "200 4"}, {page + " # b", "429 3"}, {`{ book(id: 1) { id } }`, "200 2"},
	} {
		if got := left(of.document); got != of.want {
			t.Errorf("request %d, %s: %s, want %s", i+1, of.document, got, of.want)
		}
	}
}

// TestCostAtTheLimit asks for what costs exactly as much as is allowed, and for
// what costs one more.
func TestCostAtTheLimit(t *testing.T) {
	c := servertest.Shelved(t)
	for limit, allowed := range map[int]bool{51: true, 50: false} {
		c.Reconfigure(t, server.Config{GraphQL: graphqlhttp.Options{Limits: graphqlhttp.Limits{Cost: limit}}})
		const document = `{ books(first: 40) { totalCount } }`
		if allowed {
			c.Want(t, document, "", `{"books":{"totalCount":4}}`)
		} else {
			c.WantError(t, document, "", "COST_LIMIT_EXCEEDED", "costs 51; the limit is 50")
		}
	}
}
