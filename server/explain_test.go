package server_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/graphqlhttp"
)

// explained is extensions.explain.
type explained struct {
	Statements []struct {
		Field, SQL string
		Arguments  []any
		DurationMS *float64
		Plan       json.RawMessage
	}
	Omitted int
}

// explain sends a document and gives what its statements were.
func (c *client) explain(t *testing.T, document, variables string) (e explained, timing string) {
	t.Helper()
	w := c.do(http.MethodPost, "/graphql", `{"query":`+encode(t, document)+`,"variables":`+variables+`}`, "GraphQL-Explain: report")
	var body struct {
		Errors     []failure
		Extensions struct{ Explain explained }
	}
	unmarshal(t, w.Body.String(), &body)
	if w.Code != http.StatusOK || len(body.Errors) > 0 {
		t.Errorf("%s: status %d: %s", document, w.Code, w.Body)
	}
	timing = w.Header().Get("Server-Timing")
	for _, s := range body.Extensions.Explain.Statements {
		transaction := s.SQL == "BEGIN" || s.SQL == "COMMIT"
		if s.DurationMS == nil || strings.Contains(string(s.Plan), "null") != transaction || s.Arguments == nil != transaction {
			t.Errorf("%s: %s took %v, arguments %v, plan %s", document, s.SQL, s.DurationMS, s.Arguments, s.Plan)
		}
	}
	if n := statementCount(t, w); n > len(body.Extensions.Explain.Statements)+body.Extensions.Explain.Omitted {
		t.Errorf("%s: %d statements, explained are %+v", document, n, body.Extensions.Explain)
	}
	return body.Extensions.Explain, timing
}

// fields returns the fields that statements were run for.
func (e explained) fields() (fields []string) {
	for _, s := range e.Statements {
		if !slices.Contains(fields, s.Field) {
			fields = append(fields, s.Field)
		}
	}
	slices.Sort(fields)
	return fields
}

// explaining returns a client of a server that explains its statements, and has
// just been started.
func explaining(t *testing.T, url string) *client {
	c := serve(t, url)
	c.shelves(t)
	c.restart(t)
	return c
}

func (c *client) restart(t testing.TB) {
	t.Helper()
	c.handler = newHandler(t, c.log, server.Config{Catalogue: resolvers.New(c.store), Authenticate: c.authenticate, CacheBytes: 1 << 20,
		GraphQL: graphqlhttp.Options{Explain: true}})
}

// TestExplain asks for the statements of queries, which the plan and the
// reference executor answer, and of a mutation.
func TestExplain(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := explaining(t, url)
		for document, fields := range map[string][]string{
			`query ($n: Int!) { shelf: books(first: $n) { totalCount rows: nodes { id genre { kind: category { name } } } } }`: {
				"shelf.rows", "shelf.rows.genre", "shelf.rows.genre.kind", "shelf.totalCount"},
			`query ($n: Int!) { categories(first: $n) { edges { node { genres { nodes { name } totalCount } } } } }`: {
				"categories.edges", "categories.edges.node.genres.nodes", "categories.edges.node.genres.totalCount"},
			`query ($n: ID!) { nodes(nodeIds: ["x", $n]) { nodeId } node(nodeId: "Qm9vazoz") { ... on Book { genre { books { nodes { id } } } } } }`: {
				"node", "node.genre", "node.genre.books.nodes"},
		} {
			for _, executor := range []string{"plan", "reference"} {
				c.restart(t)
				text := document
				if executor == "reference" { // a directive that plans do not know
					text = strings.Replace(document, "{", "{ ... @defer(if: false) { __typename } ", 1)
				}
				e, timing := c.explain(t, text, `{"n":1}`)
				if strings.Contains(timing, "plan") != (executor == "plan") {
					t.Fatalf("%s: %s", text, timing)
				}
				if diff := cmp.Diff(fields, e.fields()); diff != "" {
					t.Errorf("%s by the %s (-want +got):\n%s", document, executor, diff)
				}
			}
		}

		c.restart(t)
		e, _ := c.explain(t, `query ($name: String!) { books(first: 2, filter: {name: {eq: $name}}) { nodes { id } } }`, `{"name":"`+strings.Repeat("é", 1000)+`"}`)
		if len(e.Statements) == 0 {
			t.Fatal("no statement")
		}
		page := e.Statements[len(e.Statements)-1] // SQLite counts before how to find it
		if !strings.HasPrefix(page.SQL, "SELECT ") || !slices.ContainsFunc(page.Arguments, func(a any) bool {
			text, _ := a.(string)
			return text == strings.Repeat("é", 100)+"…"
		}) {
			t.Errorf("%+v", e)
		}
		plan := string(page.Plan)
		if sqlite := strings.HasPrefix(url, "sqlite:"); sqlite && !strings.Contains(plan, `"detail":`) || !sqlite && !strings.Contains(plan, `"Node Type":`) {
			t.Errorf("the plan is %s", plan)
		}

		e, _ = c.explain(t, `mutation ($n: ID!) { rename: updateBook(input: {id: $n, patch: {name: "Other"}}) { book { id } } }`, `{"n":1}`)
		var texts []string
		for _, s := range e.Statements {
			texts = append(texts, strings.Fields(s.SQL)[0])
		}
		if got := strings.Join(texts, " "); got != "BEGIN SELECT UPDATE COMMIT" || e.fields()[0] != "rename" {
			t.Errorf("%s, for %v", got, e.fields())
		}
		c.want(t, `{ book(id: 1) { name version } }`, "", `{"book":{"name":"Other","version":2}}`) // EXPLAIN did not run it again
	})
}

// TestExplainIsBounded asks for more statements than are told of.
func TestExplainIsBounded(t *testing.T) {
	t.Parallel()
	c := explaining(t, catalogtest.SQLite(t))
	e, _ := c.explain(t, `mutation ($rows: [CreateGenreInput!]!) { createGenres(input: {genres: $rows}) { results { genre { books { nodes { id } } } } } }`,
		`{"rows":[`+strings.Repeat(`{"name":"Genre","categoryId":1},`, 119)+`{"name":"Genre","categoryId":1}]}`)
	if len(e.Statements) != 100 || e.Omitted < 20 {
		t.Errorf("%d statements, and %d more", len(e.Statements), e.Omitted)
	}
}

// TestExplainIsNotKept asks for an explanation before and after an answer is
// kept: it is not taken from there, and does not come there.
func TestExplainIsNotKept(t *testing.T) {
	t.Parallel()
	c := explaining(t, catalogtest.SQLite(t))
	const document = `{ book(id: 1) { name } }`
	for range 3 {
		if e, timing := c.explain(t, document, `{}`); len(e.Statements) != 1 || strings.Contains(timing, "cache") {
			t.Errorf("%+v, %s", e, timing)
		}
		if w := c.do(http.MethodPost, "/graphql", `{"query":"`+document+`"}`); w.Body.String() != `{"data":{"book":{"name":"The Hobbit"}}}` {
			t.Errorf("without being asked: %s", w.Body)
		}
		if w := c.do(http.MethodGet, "/graphql?query="+strings.ReplaceAll(document, " ", "%20"), "", "GraphQL-Explain: report"); !strings.Contains(w.Body.String(), `"explain"`) ||
			w.Header().Get("ETag") != "" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("by GET: %v %s", w.Header(), w.Body)
		}
	}
}

// TestExplainIsRefused asks where there is no setting for it, and without a token.
func TestExplainIsRefused(t *testing.T) {
	t.Parallel()
	c := serve(t, catalogtest.SQLite(t))
	want := func(status int, text string, headers ...string) {
		t.Helper()
		w := c.do(http.MethodPost, "/graphql", `{"query":"{ books { totalCount } }"}`, headers...)
		if w.Code != status || !strings.Contains(w.Body.String(), text) || statementCount(t, w) != 0 {
			t.Errorf("%q: status %d, %s: %s", headers, w.Code, w.Header().Get("Server-Timing"), w.Body)
		}
		if challenge := w.Header().Get("WWW-Authenticate"); status == http.StatusUnauthorized != strings.HasPrefix(challenge, "Bearer") {
			t.Errorf("%q: WWW-Authenticate: %q", headers, challenge)
		}
	}
	want(http.StatusForbidden, `"code":"FORBIDDEN"`, "GraphQL-Explain: report")
	c.restart(t)
	want(http.StatusUnauthorized, `"code":"UNAUTHENTICATED"`, "GraphQL-Explain: report", "Authorization:")
	want(http.StatusUnauthorized, `"code":"UNAUTHENTICATED"`, "GraphQL-Explain: report", "Authorization: Bearer "+c.token+"x")
	want(http.StatusBadRequest, "has one value: report", "GraphQL-Explain: true")
}
