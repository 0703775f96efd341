package plan_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/graph/plan"
	"library-catalogue/resolvers"
)

// operations is how many random operations the reference check compares.
var operations = dbtest.Runs(10_000)

// shelf opens a store with rows that are hard on an encoder: nulls, quotes,
// control characters, emoji, parents without children.
func shelf(t testing.TB, url string) *resolvers.Resolver {
	t.Helper()
	ctx := context.Background()
	store := catalogtest.Open(t, url)
	texts := []string{`plain`, `"quoted" \ back`, "tab\tline\nreturn\rbell\x07del\x7f", "🐉 <b>&amp;</b> \u2028", "Čapek, García Márquez"}
	text := func(i int) string { return fmt.Sprintf("%s %d", texts[i%len(texts)], i) }
	maybe := func(i int) *string {
		if i%3 == 0 {
			return nil
		}
		s := text(i)
		return &s
	}
	for i := range 4 {
		if _, err := store.Categories.Create(ctx, &model.CreateCategoryInput{Name: text(i), Description: graphql.OmittableOf(maybe(i))}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 9 { // the last category has no genre
		if _, err := store.Genres.Create(ctx, &model.CreateGenreInput{Name: text(i), Description: graphql.OmittableOf(maybe(i + 1)), CategoryID: model.ID(i%3 + 1)}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 60 { // the last two genres have no book
		_, err := store.Books.Create(ctx, &model.CreateBookInput{
			Name: text(i), Description: graphql.OmittableOf(maybe(i)), Pages: i + 1, PublishedAt: model.Date{Year: int16(975 + i*7), Month: uint8(i%12 + 1), Day: uint8(i%28 + 1)},
			Author: text(i * 7), Price: model.Cents(i * 1234567), GenreID: model.ID(i%7 + 1),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []model.ID{3, 17, 60} { // gaps
		if err := store.Books.Delete(ctx, id, nil, model.Cascade); err != nil {
			t.Fatal(err)
		}
	}
	return resolvers.New(store)
}

// pair is the reference executor and what plans know, which must agree.
type pair struct {
	reference *executor.Executor
	schema    *ast.Schema
	known     *plan.Type[plan.Root]
	plan      *plan.Plan
	query     string // that the plan is of
	begin     func(context.Context) context.Context

	planned, unplanned int // answers with a plan, and with the reference executor in place of one
}

func newPair(source graph.Source, begin func(context.Context) context.Context) *pair {
	schema := graph.NewExecutableSchema(graph.Config{Resolvers: source})
	p := &pair{reference: executor.New(schema), schema: schema.Schema(), known: graph.Planned(source), begin: begin}
	p.reference.SetQueryCache(&lastDocument{})
	return p
}

// lastDocument caches one document, as a server caches many: its plans are used
// again with other variables.
type lastDocument struct {
	query    string
	document *ast.QueryDocument
}

func (l *lastDocument) Get(_ context.Context, query string) (*ast.QueryDocument, bool) {
	return l.document, l.document != nil && l.query == query
}

func (l *lastDocument) Add(_ context.Context, query string, document *ast.QueryDocument) {
	l.query, l.document = query, document
}

// answer runs an operation, by its plan if it has one, and gives its data and errors as JSON.
func (p *pair) answer(t testing.TB, planned bool, query string, variables map[string]any) (data, errs string) {
	t.Helper()
	return p.answerIn(t, context.Background(), planned, query, variables)
}

func (p *pair) answerIn(t testing.TB, ctx context.Context, planned bool, query string, variables map[string]any) (data, errs string) {
	t.Helper()
	ctx = graphql.StartOperationTrace(p.begin(ctx))
	now := graphql.Now()
	operation, problems := p.reference.CreateOperationContext(ctx, &graphql.RawParams{
		Query: query, Variables: variables, ReadTime: graphql.TraceTiming{Start: now, End: now},
	})
	if problems != nil {
		t.Fatalf("the generator made an invalid operation: %v\n%s", problems, query)
	}
	if p.query != query || p.plan.Conditional {
		p.plan, p.query = plan.Compile(p.known, operation), query
	}
	var response *graphql.Response
	if planned && p.plan.Complete() {
		p.planned++
		ctx = graphql.WithResponseContext(graphql.WithOperationContext(ctx, operation), graphql.DefaultErrorPresenter, graphql.DefaultRecover)
		response = p.plan.Answer(ctx, nil, math.MaxInt)
	} else {
		if planned {
			p.unplanned++
		}
		responses, ctx := p.reference.DispatchOperation(ctx, operation)
		response = responses(ctx)
	}
	text, err := json.Marshal(response.Errors)
	if err != nil {
		t.Fatal(err)
	}
	return string(response.Data), string(text)
}

// cursors returns some cursors of each type of connection.
func (p *pair) cursors(t testing.TB) map[string][]string {
	t.Helper()
	data, _ := p.answer(t, false, `{
		BookConnection: books(first: 9) {edges {cursor}}
		GenreConnection: genres(first: 9) {edges {cursor}}
		CategoryConnection: categories(first: 9) {edges {cursor}}
	}`, nil)
	var pages map[string]struct{ Edges []struct{ Cursor string } }
	if err := json.Unmarshal([]byte(data), &pages); err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for name, page := range pages {
		for _, edge := range page.Edges {
			out[name] = append(out[name], edge.Cursor)
		}
	}
	return out
}

// compareRandom compares a random operation with several sets of variables.
func (p *pair) compareRandom(t testing.TB, cursors map[string][]string, r *rand.Rand) {
	t.Helper()
	query, sets := generate(p.schema, cursors, r)
	for _, variables := range sets {
		p.compare(t, query, variables)
	}
}

// compare fails where the two answers differ by a byte. Errors of one answer
// come in the order in which goroutines ran, so they are compared as a set.
func (p *pair) compare(t testing.TB, query string, variables map[string]any) {
	t.Helper()
	wantData, wantErrs := p.answer(t, false, query, variables)
	gotData, gotErrs := p.answer(t, true, query, variables)
	if gotData != wantData {
		t.Fatalf("%s\nvariables %v\nplanned   %s\nreference %s", query, variables, gotData, wantData)
	}
	if diff := cmp.Diff(sortedErrors(t, wantErrs), sortedErrors(t, gotErrs)); diff != "" {
		t.Fatalf("%s\nvariables %v\nerrors (-reference +planned):\n%s", query, variables, diff)
	}
}

func sortedErrors(t testing.TB, text string) map[string]int {
	t.Helper()
	var errs []json.RawMessage
	if err := json.Unmarshal([]byte(text), &errs); err != nil {
		t.Fatal(err)
	}
	set := map[string]int{}
	for _, err := range errs {
		set[string(err)]++
	}
	return set
}

// TestReference compares random operations with the reference executor: the
// answers must be the same to the byte.
func TestReference(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		url  func(testing.TB) string
		runs int
	}{{"sqlite", catalogtest.SQLite, operations}, {"postgres", catalogtest.Postgres, operations / 20}} {
		t.Run(tt.name, func(t *testing.T) {
			r := shelf(t, tt.url(t))
			p := newPair(r, r.WithSnapshot)
			cursors := p.cursors(t)
			for seed := range tt.runs {
				p.compareRandom(t, cursors, rand.New(rand.NewPCG(uint64(seed), 1)))
			}
			if p.planned < 9*p.unplanned {
				t.Errorf("%d operations took the plan, %d did not: the check says little", p.planned, p.unplanned)
			}
		})
	}
}

// FuzzReference is TestReference for as long as one likes.
func FuzzReference(f *testing.F) {
	r := shelf(f, catalogtest.SQLite(f))
	p := newPair(r, r.WithSnapshot)
	cursors := p.cursors(f)
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		p.compareRandom(t, cursors, rand.New(rand.NewPCG(a, b)))
	})
}

// TestReferenceOfFailures compares operations in which look-ups fail.
func TestReferenceOfFailures(t *testing.T) {
	t.Parallel()
	f := &failing{Resolver: shelf(t, catalogtest.SQLite(t))}
	p := newPair(f, f.WithSnapshot)
	p.reference.SetRecoverFunc(func(context.Context, any) error { return errors.New("a panic") })
	cursors := p.cursors(t)
	for seed := range operations / 5 {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		f.lookups, f.panics = r.Uint32()&r.Uint32(), r.IntN(4) == 0
		p.compareRandom(t, cursors, r)
	}
}

// TestFailuresOfRowsWithOneParent fails a field of genres that share a category, which the first discarded row holds.
func TestFailuresOfRowsWithOneParent(t *testing.T) {
	t.Parallel()
	f := &failing{Resolver: shelf(t, catalogtest.SQLite(t)), lookups: 1 << booksOfGenre}
	newPair(f, f.WithSnapshot).compare(t, `{ genres(first: 9) { nodes { books(first: 1) { totalCount } category { a: name b: name c: name d: name e: name } } } }`, nil)
}

// TestPlanned holds operations of every shape to the plan: none of them may
// fall back silently.
func TestPlanned(t *testing.T) {
	t.Parallel()
	r := shelf(t, catalogtest.SQLite(t))
	p := newPair(r, r.WithSnapshot)
	tests := []struct {
		name, query string
		variables   map[string]any
		reference   bool
	}{
		{name: "page", query: `{books(first:3){nodes{id name genre{name category{name}}} pageInfo{hasNextPage endCursor} totalCount}}`},
		{name: "edges", query: `{genres(last:2){edges{cursor node{books(first:1){edges{node{name}}}}} __typename}}`},
		{name: "fragments", query: `query($y:Boolean!){book(id:1){...F ...on Book{author}}} fragment F on Book{name @include(if:$y) n:nodeId genre{...G}} fragment G on Genre{id}`, variables: map[string]any{"y": true}},
		{name: "merged", query: `{book(id:"1"){genre{id} genre{name} genre{category{id}}}}`},
		{name: "on an interface", query: `{book(id:1){...on Node{nodeId} ...F genre{...F}}} fragment F on Node{__typename nodeId ...on Book{name}}`},
		{name: "node", query: `{node(nodeId:"Qm9vazox"){nodeId} book(id:1){name}}`, reference: true},
		{name: "unknown id", query: `{book(id:999){name} genre(id:"x"){name} category(id:0){name}}`},
		{name: "typename", query: `{__typename}`},
		{name: "introspection", query: `{__schema{queryType{name}}}`, reference: true},
		{name: "filter", query: `query($f:BookFilter){books(first:2,filter:{id:{gt:5,lte:"9"}}){nodes{id} totalCount pageInfo{hasNextPage hasPreviousPage}} genres{nodes{books(filter:$f){totalCount nodes{id}}}}}`, variables: map[string]any{"f": map[string]any{"id": map[string]any{"gte": "20"}}}},
		{name: "figures", query: `{books(filter:{price:{gt:5}}){aggregate{count price{avg a:sum} ...F} a:aggregate{__typename}} genres{aggregate{count} nodes{books{aggregate{...F}}}}} fragment F on BookAggregate{pages{min ...on IntAggregate{sum}} publishedAt{max}}`},
		{name: "amounts between cents", query: `query($p:Decimal!){books(filter:{price:{gte:$p,notIn:[8.994 "9.001"]}}){totalCount nodes{price}} a:books(filter:{price:{eq:"8.994"}}){totalCount}}`, variables: map[string]any{"p": json.Number("5.001")}},
		{name: "facets", query: `query($n:Int,$b:[Decimal!]!){books{facets{genres(first:$n){genre{name} count} g:genres(first:1){genre{id}} categories{category{name}} authors{author} years{year} prices(bounds:$b){from to count}}} categories{nodes{books{facets{years(first:$n){year count} authors{count}}}}}}`, variables: map[string]any{"n": 3, "b": []any{"5", 10}}},
		{name: "correction", query: `{books(search:"bok"){correction totalCount a:correction} genres(search:"genre"){correction} categories{correction nodes{genres(search:"gnre"){correction} books(search:"bok"){correction}}}}`},
		{name: "groups", query: `{bookGroups(by:[CATEGORY AUTHOR],first:9,orderBy:{field:PRICE_AVG}){nodes{genre{id} category{name} author year aggregate{count price{avg}}} pageInfo{hasNextPage} totalCount}}`, reference: true},
		{name: "bounds", query: `{books{facets{prices(bounds:[2 1]){count} years{year}} aggregate{count}}}`},
		{name: "null operand", query: `{books(filter:{id:{gt:null}}){nodes{id}}}`},
		{name: "no id", query: `{books(filter:{id:{gt:"x"}}){nodes{id}}}`},
		{name: "bad cursor", query: `{book(id:1){genre{category{books(after:"x"){nodes{id}}}}} genres{nodes{books(after:"x"){nodes{id}}}}}`},
		{name: "bad page", query: `{books(first:1001){nodes{id}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p.compare(t, tt.query, tt.variables)
			if p.plan.Complete() == tt.reference {
				t.Errorf("has a plan: %v", !tt.reference)
			}
		})
	}
}

// TestConditions runs one document with every conditionBits of its @include and @skip,
// in one order and in the other: no plan is used for another conditionBits.
func TestConditions(t *testing.T) {
	t.Parallel()
	r := shelf(t, catalogtest.SQLite(t))
	p := newPair(r, r.WithSnapshot)
	const query = `query ($a: Boolean!, $b: Boolean!, $c: Boolean!) {
		book(id: 1) @skip(if: $c) { id name @include(if: $a) ...F @skip(if: $b) ... @include(if: $b) { genre { name @skip(if: $a) category { id } } } }
	} fragment F on Book { author genre { id } }`
	answers := map[string]bool{}
	for range 2 {
		for conditionBits := range 8 {
			variables := map[string]any{"a": conditionBits&1 != 0, "b": conditionBits&2 != 0, "c": conditionBits&4 != 0}
			p.compare(t, query, variables)
			data, _ := p.answer(t, true, query, variables)
			answers[data] = true
		}
	}
	if p.unplanned != 0 || p.planned != 32 {
		t.Errorf("%d took the plan, %d did not", p.planned, p.unplanned)
	}
	if len(answers) != 5 {
		t.Errorf("%d different answers: the test says little", len(answers))
	}
}

// TestRefusedArguments counts the statements of queries with an argument that is
// refused below others that are not: they are no more than the reference needs.
func TestRefusedArguments(t *testing.T) {
	t.Parallel()
	r := shelf(t, catalogtest.SQLite(t))
	p := newPair(r, r.WithSnapshot)
	for _, query := range []string{
		`{books {totalCount nodes {id}} genres {nodes {books(after: "x") {nodes {id}}}}}`,
		`{a: books {totalCount nodes {id}} b: books(filter: {name: {eq: "\u0000"}}) {totalCount}}`,
		`{books {aggregate {count} nodes {id}} bookGroups(by: [GENRE], first: -1) {nodes {aggregate {count}}}}`,
	} {
		count := func(planned bool) int {
			ctx, stats := stats.With(t.Context())
			if _, errs := p.answerIn(t, ctx, planned, query, nil); errs == "null" {
				t.Errorf("%s: no error", query)
			}
			return stats.Statements()
		}
		count(false) // what is remembered of lists is known then
		if planned, reference := count(true), count(false); planned > reference {
			t.Errorf("%s: %d statements, the reference needs %d", query, planned, reference)
		}
	}
}

// gone is a catalogue from which the genres of books were deleted a moment ago.
type gone struct{ *resolvers.Resolver }

func (g gone) LoadGenres(_ context.Context, ids []model.ID) ([]*model.Genre, error) {
	return make([]*model.Genre, len(ids)), nil
}

func (g gone) ParentGenres(ctx context.Context, _ []model.ID) ([]*model.Genre, error) {
	return g.Resolver.ParentGenres(ctx, []model.ID{1 << 40})
}

// TestRowsThatAreGone asks for what rows point at, and is not there: the query is to be run again.
func TestRowsThatAreGone(t *testing.T) {
	t.Parallel()
	r := shelf(t, catalogtest.SQLite(t))
	p := newPair(gone{r}, r.WithSnapshot)
	if data, errs := p.answer(t, true, `{books {nodes {genre {name}}}}`, nil); data != "null" || !strings.Contains(errs, model.ErrSnapshotChanged.Error()) {
		t.Errorf("data %s, errors %s", data, errs)
	}
	if _, errs := p.answer(t, true, `{genre(id: 1) {name}}`, nil); errs != "null" {
		t.Errorf("a genre that nothing points at: errors %s", errs)
	}
}

// TestStatements counts what levels cost.
func TestStatements(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		r := shelf(t, url)
		p := newPair(r, r.WithSnapshot)
		perParent := 1
		if strings.HasPrefix(url, "sqlite:") {
			perParent = 4 // SQLite has no way to limit each parent: one statement each
		}
		for query, want := range map[string]int{
			`{a: book(id: 1) {name} b: book(id: 2) {name} c: book(id: 9) {name}}`: 1,
			`{books(first: 50) {nodes {name}}}`:                                   1,
			`{books(first: 50) {totalCount}}`:                                     1,
			`{categories {nodes {genres(first: 2) {nodes {name}}}}}`:              1 + perParent,
			`{categories {nodes {genres(first: 2) {totalCount}}}}`:                2,
		} {
			ctx, stats := stats.With(t.Context())
			begin := p.begin
			p.begin = func(context.Context) context.Context { return begin(ctx) }
			if _, errs := p.answer(t, true, query, nil); errs != "null" {
				t.Error(errs)
			}
			p.begin = begin
			if got := stats.Statements(); got != want {
				t.Errorf("%d statements, want %d: %s", got, want, query)
			}
		}
	})
}

// TestFields wants every field of the schema to be known to the plan, or to the
// list of those that are left to the reference executor.
func TestFields(t *testing.T) {
	t.Parallel()
	r := shelf(t, catalogtest.SQLite(t))
	p := newPair(r, r.WithSnapshot)
	for _, query := range paths(p.schema) {
		p.compare(t, query, nil)
		if !p.plan.Complete() {
			t.Errorf("no plan for %s", query)
		}
	}
}

// left are the fields of a query that are left to the reference executor.
var left = []string{"bookGroups", "booksByIsbn", "changeSet", "lookup", "node", "nodes", "troubles", "viewer"}

// changePage is the type of the fields of the log, which are left to the reference executor too.
const changePage = "ChangePage"

// paths returns an operation for every field that a query can reach, but for those in left.
func paths(schema *ast.Schema) (out []string) {
	seen := map[string]bool{}
	var walk func(def *ast.Definition, open, closing string)
	walk = func(def *ast.Definition, open, closing string) {
		for _, field := range def.Fields {
			if seen[def.Name+"."+field.Name] || strings.HasPrefix(field.Name, "__") || field.Type.Name() == changePage || def == schema.Query && slices.Contains(left, field.Name) {
				continue
			}
			seen[def.Name+"."+field.Name] = true
			text := field.Name
			for _, argument := range field.Arguments {
				if argument.Type.NonNull && argument.DefaultValue == nil {
					text += fmt.Sprintf("(%s:%s)", argument.Name, map[string]string{"id": "1", "bounds": "[5]"}[argument.Name])
				}
			}
			target := schema.Types[field.Type.Name()]
			if target.IsLeafType() {
				out = append(out, open+text+closing)
				continue
			}
			out = append(out, open+text+"{__typename}"+closing)
			walk(target, open+text+"{", "}"+closing)
		}
	}
	walk(schema.Query, "{", "}")
	return out
}
