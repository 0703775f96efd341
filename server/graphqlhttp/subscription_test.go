package graphqlhttp

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/admission"
	"library-catalogue/edge/eventstream"
	"library-catalogue/edge/live"
	"library-catalogue/edge/pipeline"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
)

// subscriber is a Handler with a subscription, as transports run one.
type subscriber struct {
	*Handler
	t         *testing.T
	catalogue *resolvers.Resolver
}

func newSubscriber(t *testing.T, url string) *subscriber {
	t.Helper()
	catalogue := resolvers.New(catalogtest.Open(t, url))
	run := &pipeline.Pipeline{Catalogue: catalogue, Admission: admission.New(10), Timeout: time.Minute}
	h := New(Config{
		Catalogue: catalogue,
		Pipeline:  run,
		Live:      live.NewHub(context.Background(), run, catalogue.Follow),
		Observer:  telemetry.New(telemetry.Config{Logger: slog.New(slog.DiscardHandler)}),
		Streams:   eventstream.New(10),
		Logger:    slog.New(slog.DiscardHandler),
	})
	return &subscriber{h, t, catalogue}
}

// start starts an operation and returns a function for its next response, "" at the end.
func (s *subscriber) start(ctx context.Context, document string) (next func() string) {
	s.t.Helper()
	operation, errs := s.CreateOperationContext(ctx, &graphql.RawParams{Query: document})
	if errs != nil {
		s.t.Fatal(errs)
	}
	responses, ctx := s.DispatchOperation(graphql.WithOperationContext(ctx, operation), operation)
	return func() string {
		response := responses(ctx)
		if response == nil {
			return ""
		}
		text, err := json.Marshal(response)
		if err != nil {
			s.t.Error(err)
		}
		return string(text)
	}
}

// write runs a mutation as a writer.
func (s *subscriber) write(document string) {
	s.t.Helper()
	ctx := model.WithCaller(s.t.Context(), model.Caller{Subject: "writer"})
	if got := s.start(ctx, "mutation {"+document+"}")(); strings.Contains(got, "errors") {
		s.t.Fatal(got)
	}
}

// TestSubscription follows changes with nested rows from a position, for a caller with a token and one without.
func TestSubscription(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := newSubscriber(t, url)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		s.write(`createCategory(input: {name: "Fiction"}) {clientMutationId}`)
		var page struct {
			Data struct{ Changes struct{ Position string } }
		}
		text := s.start(ctx, `{changes {position}}`)()
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			t.Fatal(err)
		}
		s.write(`a: createGenre(input: {name: "Novel", categoryId: 1}) {clientMutationId}
			b: createBook(input: {name: "Emma", pages: 1, publishedAt: "1815-12-23", author: "Jane Austen", price: 1, genreId: 1}) {clientMutationId}`)
		after := page.Data.Changes.Position
		known := s.start(model.WithCaller(ctx, model.Caller{}), `subscription {news: changes(types: [BOOK], after: "`+after+`") {operation actor book {name genre {name category {name}}}}}`)
		unknown := s.start(ctx, `subscription {changes(filter: {genre: {name: {eq: "Novel"}}}, after: "`+after+`") {type rowId actor version genre {books {totalCount}}}}`)
		for want, next := range map[string]func() string{
			`{"data":{"news":{"operation":"CREATE","actor":"writer","book":{"name":"Emma","genre":{"name":"Novel","category":{"name":"Fiction"}}}}}}`: known,
			`{"data":{"changes":{"type":"GENRE","rowId":"1","actor":null,"version":1,"genre":{"books":{"totalCount":1}}}}}`:                           unknown,
		} {
			if got := next(); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		s.write(`deleteGenre(input: {id: 1, onChildren: CASCADE}) {clientMutationId}`)
		if got := known(); got != `{"data":{"news":{"operation":"DELETE","actor":"writer","book":null}}}` {
			t.Errorf("a deletion: %s", got)
		}
		late := s.start(ctx, `subscription {news: changes(types: [BOOK], after: "`+after+`") {operation book {genre {name}}}}`)
		if got := late(); !strings.Contains(got, `"data":{"news":{"operation":"CREATE","book":null}}`) || !strings.Contains(got, `"path":["news","book","genre"]`) || !strings.Contains(got, `"code":"NOT_FOUND"`) {
			t.Errorf("a book of a deleted genre: %s", got)
		}
		stop()
		if got := known(); got != "" {
			t.Errorf("after the end: %s", got)
		}
	})
}

// TestSubscriptionRefused starts subscriptions that end with an error.
func TestSubscriptionRefused(t *testing.T) {
	t.Parallel()
	s := newSubscriber(t, catalogtest.SQLite(t))
	for document, want := range map[string]string{
		`subscription {changes(ids: [1]) {id}}`:                                            `"code":"BAD_USER_INPUT"`,
		`subscription {changes(types: [BOOK], filter: {genre: {}}) {id}}`:                  `"code":"BAD_USER_INPUT"`,
		`subscription {changes(types: [BOOK], filter: {book: {price: {gte: null}}}) {id}}`: `"code":"BAD_USER_INPUT"`,
		`subscription {changes(after: "12") {id}}`:                                         `"code":"BAD_USER_INPUT"`,
		`subscription {changes(after: "99999999999.0") {id}}`:                              `"code":"POSITION_GONE"`,
	} {
		next := s.start(t.Context(), document)
		if got := next(); !strings.Contains(got, want) || strings.Contains(got, `"data":{`) {
			t.Errorf("%s: %s, want %s", document, got, want)
		}
		if got := next(); got != "" {
			t.Errorf("%s goes on: %s", document, got)
		}
	}
}

// TestSubscriptionSelectsOneField refuses subscriptions that select no field, or several responses of one.
func TestSubscriptionSelectsOneField(t *testing.T) {
	s := newSubscriber(t, catalogtest.SQLite(t))
	for _, document := range []string{
		"subscription { a: changes { position } b: changes { id } }",
		"subscription { ...F } fragment F on Subscription { a: changes { position } b: changes { id } }",
		"subscription { changes @skip(if: true) { position } }",
		"subscription ($off: Boolean = false) { changes @include(if: $off) { position } }",
	} {
		_, errs := s.CreateOperationContext(t.Context(), &graphql.RawParams{Query: document})
		if len(errs) != 1 || errs[0].Extensions["code"] != "GRAPHQL_VALIDATION_FAILED" {
			t.Errorf("%s: got %v, want a validation error", document, errs)
		}
	}
}
