package graphqlhttp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/live"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
)

// TestLive follows a list, whose page, total and nested rows stay current.
func TestLive(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := newSubscriber(t, url)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		s.write(`createCategory(input: {name: "Fiction"}) {clientMutationId}`)
		s.write(`a: createGenre(input: {name: "Novel", categoryId: 1}) {clientMutationId} b: createGenre(input: {name: "Poem", categoryId: 1}) {clientMutationId}`)
		next := s.start(ctx, `query @live {books(filter: {genreId: {eq: 1}}, orderBy: {field: PRICE}) {totalCount nodes {name genre {name}}}}`)
		book := func(name string, price, genre int) string {
			return fmt.Sprintf(`createBook(input: {name: %q, pages: 1, publishedAt: "1815-12-23", author: "Jane Austen", price: %d, genreId: %d}) {clientMutationId}`, name, price, genre)
		}
		want := func(want string) {
			t.Helper()
			if got := next(); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		want(`{"data":{"books":{"totalCount":0,"nodes":[]}}}`)
		s.write(book("Emma", 2, 1))
		want(`{"data":{"books":{"totalCount":1,"nodes":[{"name":"Emma","genre":{"name":"Novel"}}]}}}`)
		s.write(book("Ode", 1, 2)) // another list
		s.write(book("Persuasion", 1, 1))
		want(`{"data":{"books":{"totalCount":2,"nodes":[{"name":"Persuasion","genre":{"name":"Novel"}},{"name":"Emma","genre":{"name":"Novel"}}]}}}`)
		s.write(`updateBook(input: {id: 1, patch: {genreId: 2}}) {clientMutationId}`) // leaves the list
		want(`{"data":{"books":{"totalCount":1,"nodes":[{"name":"Persuasion","genre":{"name":"Novel"}}]}}}`)
		s.write(`updateGenre(input: {id: 1, patch: {name: "Roman"}}) {clientMutationId}`)
		want(`{"data":{"books":{"totalCount":1,"nodes":[{"name":"Persuasion","genre":{"name":"Roman"}}]}}}`)
		stop()
		want("")
		if n := s.bases.Len(); n > 0 {
			t.Errorf("data of %d states are kept for patches that nobody wants", n)
		}
	})
}

// TestLivePatches follows a list by patches, beside a client that wants none. The same client gets the whole list when
// its data are no longer known.
func TestLivePatches(t *testing.T) {
	t.Parallel()
	s := newSubscriber(t, catalogtest.SQLite(t))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s.write(`createCategory(input: {name: "Fiction"}) {clientMutationId}`)
	s.write(`createGenre(input: {name: "Novel", categoryId: 1}) {clientMutationId}`)
	s.write(`createBook(input: {name: "A book with a name that is long enough", pages: 1, publishedAt: "1815-12-23", author: "Jane Austen", price: 2, genreId: 1}) {clientMutationId}`)
	start := func(extensions map[string]any) func() string {
		operation, errs := s.CreateOperationContext(ctx, &graphql.RawParams{
			Query: `query @live {books {nodes {name price genre {name}}}}`, Extensions: extensions})
		if errs != nil {
			t.Fatal(errs)
		}
		next, ctx := s.DispatchOperation(ctx, operation)
		return func() string { return string(AppendResponse(nil, next(ctx))) }
	}
	patched, whole := start(map[string]any{"live": map[string]any{"patch": true}}), start(nil)
	data := func(price string) string {
		return `{"books":{"nodes":[{"name":"A book with a name that is long enough","price":"` + price + `","genre":{"name":"Novel"}}]}}`
	}
	for _, step := range []struct{ price, patched string }{
		{"2.00", `{"data":` + data("2.00") + `,"revision":1}`},
		{"3.00", `{"patch":[{"value":"3.00","op":"replace","path":"/books/nodes/0/price"}],"revision":2}`},
		{"4.00", `{"patch":[{"value":"4.00","op":"replace","path":"/books/nodes/0/price"}],"revision":3}`},
		{"5.00", `{"data":` + data("5.00") + `,"revision":1}`}, // without the data of 4.00
		{"6.00", `{"patch":[{"value":"6.00","op":"replace","path":"/books/nodes/0/price"}],"revision":2}`},
	} {
		if step.price != "2.00" {
			s.write(`updateBook(input: {id: 1, patch: {price: ` + step.price + `}}) {clientMutationId}`)
		}
		if step.price == "5.00" {
			s.bases.Delete(sha256.Sum256([]byte(data("4.00"))))
		}
		if got := patched(); got != step.patched {
			t.Errorf("got %s, want %s", got, step.patched)
		}
		if got, want := whole(), `{"data":`+data(step.price)+"}"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestPatcher sends states with null between them, which a client shows without applying it, and two long lists.
func TestPatcher(t *testing.T) {
	t.Parallel()
	long := `{"a":[{}` + strings.Repeat(",{}", 1_200) + `],"b":`
	p := patcher{bases: newBases()}
	for i, step := range []struct{ data, want string }{
		{`null`, `null`},
		{`{"a":"a long text, which patches do not repeat","b":1}`, `{"a":"a long text, which patches do not repeat","b":1},"revision":1`},
		{`{"a":"a long text, which patches do not repeat","b":2}`, `[{"value":2,"op":"replace","path":"/b"}],"revision":2`},
		{`null`, `null`},
		{`{"a":"a long text, which patches do not repeat","b":2}`, `[],"revision":3`}, // after an error
		{`{"a":"short","b":3}`, `{"a":"short","b":3},"revision":1`},                   // no patch is shorter
		{long + `4}`, long + `4},"revision":1`},
		{long + `5}`, long + `5},"revision":1`},
	} {
		response := &liveResponse{Response: &graphql.Response{Data: []byte(step.data)}, patches: map[sum]json.RawMessage{}}
		state := live.State{Sum: sha256.Sum256([]byte{byte(i)}), Response: response}
		if got := p.next(state); string(got) != step.want {
			t.Errorf("got %s, want %s", got, step.want)
		}
	}
}

// TestLiveArguments checks the arguments of @live and its place.
func TestLiveArguments(t *testing.T) {
	t.Parallel()
	s := newSubscriber(t, catalogtest.SQLite(t))
	for document, want := range map[string]string{
		`query @live(throttle: 99) {__typename}`:                        "The throttle argument of @live must be between 100 and 60000.",
		`query @live(if: false, throttle: 60001) {__typename}`:          "The throttle argument of @live must be between 100 and 60000.",
		`query ($t: Int = -1) @live(throttle: $t) {__typename}`:         "The throttle argument of @live must be between 100 and 60000.",
		`mutation @live {loadSample {count}}`:                           `Directive \"@live\" may not be used on MUTATION.`,
		`subscription @live {changes {id}}`:                             `Directive \"@live\" may not be used on SUBSCRIPTION.`,
		`{__typename @live}`:                                            `Directive \"@live\" may not be used on FIELD.`,
		`query @live @live {__typename}`:                                `can only be used once`,
		`query ($t: Int) @live(throttle: $t) {__typename}`:              `{"data":{"__typename":"Query"}}`,
		`query @live(throttle: 60000) {__typename}`:                     `{"data":{"__typename":"Query"}}`,
		`query ($live: Boolean! = false) @live(if: $live) {__typename}`: `{"data":{"__typename":"Query"}}`,
	} {
		if got := s.first(t, document); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", document, got, want)
		}
	}
	for document, responses := range map[string]int{
		`query @live(if: false) {__typename}`:                          1,
		`query @live {book(id: 1, asOf: "2020-01-01T00:00:00Z") {id}}`: 1,
	} {
		next := s.start(t.Context(), document)
		for range responses {
			next()
		}
		if got := next(); got != "" {
			t.Errorf("%s: %s after %d responses", document, got, responses)
		}
	}
}

// first returns the first response of an operation, or the errors of one that is refused.
func (s *subscriber) first(t *testing.T, document string) string {
	operation, errs := s.CreateOperationContext(t.Context(), &graphql.RawParams{Query: document})
	if errs != nil {
		text, _ := json.Marshal(errs)
		return string(text)
	}
	next, ctx := s.DispatchOperation(graphql.WithOperationContext(t.Context(), operation), operation)
	text, _ := json.Marshal(next(ctx))
	return string(text)
}

// TestLiveExtensions lets clients of one query ask for different reports. None gets another's, and each error has the
// id of its own request.
func TestLiveExtensions(t *testing.T) {
	t.Parallel()
	s := newSubscriber(t, catalogtest.SQLite(t))
	listen := func(document string, change func(*request)) func() string {
		ctx, _ := telemetry.WithRequest(t.Context(), document)
		e := &execution{Handler: s.Handler, request: &request{query: document}}
		change(e.request)
		if refused := e.prepare(ctx, http.Header{}); refused != nil {
			t.Fatal(refused)
		}
		next, ctx := e.start(ctx)
		return func() string {
			text, _ := json.Marshal(next(ctx))
			return string(text)
		}
	}
	for name, document := range map[string]string{
		"planned": `query @live {categories {totalCount}}`, "reference": `query @live {bookGroups(by: [GENRE]) {totalCount} categories {totalCount}}`,
	} {
		costly := listen(document, func(q *request) { q.wantsCost = true })
		plain := listen(document, func(*request) {})
		for n := range 3 {
			if got := costly(); !strings.Contains(got, `"cost":`) {
				t.Errorf("%s: no report: %s", name, got)
			}
			if got := plain(); strings.Contains(got, "extensions") {
				t.Errorf("%s: a report of another client: %s", name, got)
			}
			s.write(fmt.Sprintf(`createCategory(input: {name: "%s %d"}) {clientMutationId}`, name, n))
		}
	}
	var ends []*graphql.Response
	for range 2 {
		shared := &refusal{errors: gqlerror.List{newError(model.Forbidden, "no")}}
		ends = append(ends, &graphql.Response{Errors: cloned(ErrorsOf(shared))}, &graphql.Response{Errors: cloned(ErrorsOf(shared))})
	}
	recordErrors(t.Context(), ends[0])
	if ends[1].Errors[0].Extensions["requestId"] != nil {
		t.Error("an error has the id of another request")
	}
}
