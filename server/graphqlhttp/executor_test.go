package graphqlhttp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/admission"
	"library-catalogue/edge/pipeline"
	"library-catalogue/edge/telemetry"
	"library-catalogue/resolvers"
)

// CreateOperationContext implements graphql.GraphExecutor.
func (h *Handler) CreateOperationContext(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	body, err := json.Marshal(params) // the limits of a body apply
	if err != nil {
		return &graphql.OperationContext{}, badRequest("The request cannot be written as JSON.").errors
	}
	return h.CreateOperation(ctx, body, params.Headers)
}

// stream returns the responses to an operation as gqlgen's transports of streams get them.
func stream(t *testing.T, exec graphql.GraphExecutor, params *graphql.RawParams) (texts []string) {
	t.Helper()
	operation, errs := exec.CreateOperationContext(t.Context(), params)
	ctx := graphql.WithOperationContext(t.Context(), operation)
	var next graphql.ResponseHandler
	if errs != nil {
		next = graphql.OneShot(exec.DispatchError(ctx, errs))
	} else {
		next, ctx = exec.DispatchOperation(ctx, operation)
	}
	for response := next(ctx); response != nil; response = next(ctx) {
		text, err := json.Marshal(response)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

// TestExecutor runs operations as a transport of gqlgen does, which knows nothing but the
// Handler: limits, prices and errors are those of HTTP.
func TestExecutor(t *testing.T) {
	t.Parallel()
	catalogue := resolvers.New(catalogtest.Open(t, catalogtest.SQLite(t)))
	h := New(Config{
		Catalogue: catalogue,
		Options:   Options{Limits: Limits{Cost: 500}},
		Pipeline:  &pipeline.Pipeline{Catalogue: catalogue, Admission: admission.New(10), Timeout: time.Minute},
		Observer:  telemetry.New(telemetry.Config{Logger: slog.New(slog.DiscardHandler)}),
		Logger:    slog.New(slog.DiscardHandler),
	})
	tooMany := "" // more errors than a response has
	for i := range maxErrors + 1 {
		tooMany += fmt.Sprintf("a%d: books(first: -1) {totalCount} ", i)
	}
	for _, tt := range []struct{ query, variables, want string }{
		{`query ($id: ID!) {book(id: $id) {name} books {totalCount}}`, `{"id": 7}`, `{"data":{"book":null,"books":{"totalCount":0}}}`},
		{`{node(nodeId: "x") {nodeId}}`, `null`, `{"data":{"node":null}}`},
		{`mutation {deleteBook(input: {id: 1}) {clientMutationId}}`, `null`, `UNAUTHENTICATED`},
		{`{` + tooMany + `}`, `null`, `"path":["a0"]`},
		{`{books(first: 1000) {nodes {name}}}`, `null`, `COST_LIMIT_EXCEEDED`},
		{`query ($f: BookFilter) {books(filter: $f) {totalCount}}`, `{"f": ` + strings.Repeat(`{"and": [`, maxValueDepth) + strings.Repeat(`]}`, maxValueDepth) + `}`, `TOO_LARGE`},
		{`{books {isbn}}`, `null`, `GRAPHQL_VALIDATION_FAILED`},
		{``, `null`, `The request has no query.`},
	} {
		params := &graphql.RawParams{Query: tt.query}
		decoder := json.NewDecoder(strings.NewReader(tt.variables))
		decoder.UseNumber()
		if err := decoder.Decode(&params.Variables); err != nil {
			t.Fatal(err)
		}
		got := stream(t, h, params)
		if len(got) != 1 || !strings.Contains(got[0], tt.want) || strings.Count(got[0], `"code"`) > maxErrors {
			t.Errorf("%s: %s, want %s", tt.query, got, tt.want)
		}
	}
}
