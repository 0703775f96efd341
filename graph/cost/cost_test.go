package cost_test

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph"
	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
)

var (
	schema = graph.NewExecutableSchema(graph.Config{})

	parsing   sync.Mutex                               // guards documents
	documents = graphql.MapCache[*ast.QueryDocument]{} // an operation is known by its document
)

// parse makes what the executor would run.
func parse(t *testing.T, document string, variables map[string]any) *graphql.OperationContext {
	t.Helper()
	parsing.Lock()
	defer parsing.Unlock()
	e := executor.New(schema)
	e.SetQueryCache(documents)
	operation, errs := e.CreateOperationContext(graphql.StartOperationTrace(context.Background()),
		&graphql.RawParams{Query: document, Variables: variables})
	if errs != nil {
		t.Fatalf("%s: %v", document, errs)
	}
	return operation
}

// TestEstimate prices operations. Each is looked at twice: what is kept of the
// first time must give the same.
func TestEstimate(t *testing.T) {
	t.Parallel()
	type vars = map[string]any
	for _, tt := range []struct {
		document  string
		variables vars
		want      int64
		field     string // that costs most by itself
	}{
		{`{ __typename __schema { types { name fields { name type { name } } } } }`, nil, 0, ""},
		{`{ books(search: "bok") { totalCount correction nodes { name } edges { cursor node { name } } pageInfo { endCursor } } }`,
			nil, 1 + 20 + 10 + 10 + 1, "books"},
		{`{ books(first: 0) { nodes { genre { name } } } }`, nil, 1, "books"},
		{`{ books(last: 7) { nodes { genre { name } } edges { node { genre { name } } } } }`, nil, 1 + 7 + 7 + 7, "books"},
		{`{ categories(first: 1000) { nodes { genres(first: 1000) { nodes { books(first: 1000) { nodes { id } } } } } } }`, nil,
			1_001 + 1_000*1_001 + 1_000_000*1_001, "categories.nodes.genres.nodes.books"},
		{`{ books { aggregate { count price { min max } pages { sum } publishedAt { min } } } genres { aggregate { count } } }`, nil, 1 + 20 + 100 + 1 + 20 + 10, "books.aggregate"},
		{`{ books(first: 0) { facets { genres { genre { name } count } authors(first: 100) { author } prices(bounds: [1, 2]) { count } } } }`, nil, 1 + 500 + 20 + 20 + 500 + 100 + 500 + 2, "books.facets.authors"},
		{`{ bookGroups(by: [GENRE, YEAR], first: 30) { nodes { genre { category { name } } year aggregate { count price { avg } } } } }`, nil, 500 + 30 + 30 + 30, "bookGroups"},
		{`{ bookGroups(by: [GENRE]) { nodes { year } pageInfo { hasNextPage } totalCount } }`, nil, 500 + 20 + 1 + 500, "bookGroups"},
		{`{ lookup(isbn: "a") { books { name } sources { name } existing { name } } }`, nil, 100, "lookup"},
		{`{ lookup(isbn: "a") { existing { genre { category { name } } } } }`, nil, 100 + 2 + 2, "lookup"},

		// What the resolvers will refuse is cut, so that they say what is wrong.
		{`{ books(first: 5000) { nodes { id } } }`, nil, 1_001, "books"},
		{`{ books(first: -5) { nodes { id } } }`, nil, 1, "books"},
		{`{ books(first: 5, last: 10) { nodes { id } } }`, nil, 11, "books"},

		// Variables, their defaults, and null for the default of the page.
		{`query ($n: Int) { books(first: $n) { nodes { genre { name } } } }`, nil, 41, "books"},
		{`query ($n: Int) { books(first: $n) { nodes { genre { name } } } }`, vars{"n": nil}, 41, "books"},
		{`query ($n: Int = 3) { books(first: $n) { nodes { genre { name } } } }`, nil, 7, "books"},
		{`query ($ids: [ID!]!) { nodes(nodeIds: $ids) { nodeId } }`, vars{"ids": []any{"a", "b", "c"}}, 3, "nodes"},
		{`query ($ids: [ID!]!) { nodes(nodeIds: $ids) { nodeId } }`, vars{"ids": "a"}, 1, "nodes"},
		{`query ($id: ID!) { nodes(nodeIds: [$id, "b"]) { nodeId } }`, vars{"id": "a"}, 2, "nodes"},

		// Of the types that a node may be of, the one that costs most.
		{`{ node(nodeId: "a") { nodeId ... on Book { genre { name } } ... on Genre { books(first: 9) { nodes { id } } } } }`, nil, 1 + 10, "node.books"},
		{`{ nodes(nodeIds: ["a", "b"]) { ... on Book { genre { category { id } } } ... on Genre { category { id } } } }`, nil, 2 + 2*2, "nodes"},

		// Fragments, aliases, merged fields and conditions, as they are executed.
		{`{ a: books(first: 5) { nodes { id } } b: books(first: 6) { nodes { id } } }`, nil, 6 + 7, "b"},
		{`{ books(first: 5) { nodes { genre { id } } } books(first: 5) { nodes { genre { name } } } ...f } fragment f on Query { books(first: 5) { nodes { genre { category { id } } } } }`,
			nil, 1 + 5 + 5*2, "books"},
		{`{ ...f ...f ... on Query { ...f } } fragment f on Query { books(first: 5) { ...g } } fragment g on BookConnection { totalCount }`, nil, 1 + 5 + 10, "books.totalCount"},
		{`query ($yes: Boolean!) { ...f @include(if: $yes) } fragment f on Query { books(first: 5) { totalCount } }`, vars{"yes": false}, 0, ""},

		{`mutation { createCategory(input: {name: "a"}) { category { id } } }`, nil, 10 + 1, "createCategory"},
		{`mutation { createCategories(input: {categories: [{name: "a"}, {name: "b"}]}) { count results { category { id } error { message fields { field } } } } }`,
			nil, 10 + 2 + 2*(1+1), "createCategories"},
		{`mutation { updateCategories(input: {filter: {id: {gt: 1}}, patch: {name: "a"}, atMost: 50}) { results { category { id } } } }`, nil, 10 + 50 + 50, "updateCategories"},
		{`mutation { deleteBooks(input: {filter: {id: {eq: 1}}}) { count } }`, nil, 10 + 1, "deleteBooks"},
		{`mutation { deleteBooks(input: {filter: {id: {gt: 1}}, atMost: 2000000}) { count } }`, nil, 10 + 10_000, "deleteBooks"},
		{`mutation ($n: Int!) { deleteBooks(input: {filter: {id: {gt: 1}}, atMost: $n}) { count } }`, vars{"n": int64(7)}, 10 + 7, "deleteBooks"},
		{`mutation ($in: CreateCategoriesInput!) { createCategories(input: $in) { count } }`,
			vars{"in": vars{"categories": []any{vars{"name": "a"}, vars{"name": "b"}, vars{"name": "c"}}}}, 10 + 3, "createCategories"},
	} {
		operation := parse(t, tt.document, tt.variables)
		compiled := cost.Compile(schema.Schema(), operation)
		for range 2 {
			if got := compiled.Estimate(operation.Variables, model.Sizes{}); got.Total != tt.want || got.Field != tt.field {
				t.Errorf("%s %v: %d, most for %q; want %d, %q", tt.document, tt.variables, got.Total, got.Field, tt.want, tt.field)
			}
		}
	}
}

// TestEstimateOfOtherVariables asks for one document with several: what is compiled
// must not hold what only the first had, but for conditions.
func TestEstimateOfOtherVariables(t *testing.T) {
	t.Parallel()
	compiled := map[string]cost.Operation{}
	for _, tt := range []struct {
		n    int64
		all  bool
		want int64
	}{{1, true, 2 + 3}, {9, true, 10 + 3}, {9, false, 10}, {1, true, 2 + 3}} {
		for document, want := range map[string]int64{
			`query ($n: Int!, $all: Boolean!) { books(first: $n) { nodes { id } } genres(first: 2) @include(if: $all) { nodes { id } } }`: tt.want,
			`query ($n: Int!, $all: Boolean! = true) { books(first: $n, filter: {id: {isNull: $all}}) { nodes { id } } }`:                 tt.n + 1,
		} {
			operation := parse(t, document, map[string]any{"n": tt.n, "all": tt.all})
			if compiled[document] == nil || strings.Contains(document, "@include") {
				compiled[document] = cost.Compile(schema.Schema(), operation)
			}
			if got := compiled[document].Estimate(operation.Variables, model.Sizes{}); got.Total != want {
				t.Errorf("%s %+v: %d", document, tt, got.Total)
			}
		}
	}
}

// TestEstimateIsTooLarge nests the largest pages 12 deep, which is past an int64.
func TestEstimateIsTooLarge(t *testing.T) {
	t.Parallel()
	inner := "id"
	for range 12 {
		inner = "genres(first: 1000) { nodes { category { " + inner + " } } }"
	}
	got := cost.Compile(schema.Schema(), parse(t, "{ category(id: 1) { "+inner+" } }", nil)).Estimate(nil, model.Sizes{})
	if got.Total != math.MaxInt64 || got.FieldCost != math.MaxInt64 || got.Field == "" {
		t.Errorf("%+v", got)
	}
}

// TestEveryListHasAPrice wants a price for each field of the schema that is a
// list or a connection, or that takes a list of rows, and a field for each price.
func TestEveryListHasAPrice(t *testing.T) {
	t.Parallel()
	unused := map[string]bool{}
	for _, coordinate := range cost.Priced() {
		unused[coordinate] = true
	}
	types := schema.Schema().Types
	for _, def := range types {
		if def.Kind != ast.Object && def.Kind != ast.Interface || strings.HasPrefix(def.Name, "__") {
			continue
		}
		for _, f := range def.Fields {
			coordinate, of := def.Name+"."+f.Name, types[f.Type.Name()]
			list := f.Type.Elem != nil && of.IsCompositeType()
			connection := strings.HasSuffix(of.Name, "Connection")
			if (list || connection || takesRows(types, f)) && !unused[coordinate] && !strings.HasPrefix(f.Name, "__") {
				t.Errorf("%s has no price: it is to stand in the table of graph/cost/price.go", coordinate)
			}
			delete(unused, coordinate)
		}
	}
	for coordinate := range unused {
		t.Errorf("%s has a price, but is not in the schema", coordinate)
	}
}

// takesRows reports whether a mutation is about many rows: by a list of them, or by
// the most that may match.
func takesRows(types map[string]*ast.Definition, f *ast.FieldDefinition) bool {
	input := f.Arguments.ForName("input")
	if input == nil {
		return false
	}
	for _, field := range types[input.Type.Name()].Fields {
		if field.Type.Elem != nil && types[field.Type.Name()].Kind == ast.InputObject || field.Name == "atMost" {
			return true
		}
	}
	return false
}
