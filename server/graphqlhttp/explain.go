package graphqlhttp

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
	"library-catalogue/server/telemetry"
)

// explanation is extensions.explain.
type explanation struct {
	Statements []explained `json:"statements"`
	Omitted    int         `json:"omitted,omitempty"` // how many more were run
}

// explained is a statement that was run for a field.
type explained struct {
	Field      string          `json:"field"` // response keys from the root
	SQL        string          `json:"sql"`
	Arguments  []any           `json:"arguments"`
	DurationMS float64         `json:"durationMs"` // with the wait for a connection
	Plan       json.RawMessage `json:"plan"`       // as the database says it; null where there is none
}

// mayExplain refuses a request for an explanation, where it may not have one.
func (h *Handler) mayExplain(ctx context.Context) *refusal {
	if !h.Options.Explain {
		return refuse(http.StatusForbidden, model.Forbidden, "This server does not explain its statements. Its operator can switch that on with CATALOGUE_EXPLAIN.")
	}
	if _, err := model.Caller(ctx); err != nil {
		return refuse(http.StatusUnauthorized, model.Unauthenticated, "The header "+explainHeader+" needs a valid token.")
	}
	return nil
}

// explain returns the statements that a request has run. Their plans are asked for
// now, so that they take no time of the request's own statements.
func (h *Handler) explain(ctx context.Context) explanation {
	statements, omitted := stats.Of(ctx).Explanation().Statements()
	out := explanation{make([]explained, len(statements)), omitted}
	for i, s := range statements {
		out.Statements[i] = explained{Field: s.Field, SQL: s.Text, Arguments: s.Arguments, DurationMS: float64(s.Took.Microseconds()) / 1000}
		if s.Plan == nil {
			continue
		}
		plan, err := s.Plan(ctx)
		if err != nil {
			h.Logger.WarnContext(ctx, "no plan of a statement", "error", err, "request_id", telemetry.RequestOf(ctx).ID)
		}
		out.Statements[i].Plan = plan
	}
	return out
}

// fieldOf returns the field of ctx, whichever element of a list it is: response keys
// from the root, separated by dots.
func fieldOf(ctx context.Context) string {
	var names []string
	for _, element := range graphql.GetFieldContext(ctx).Path() {
		if name, ok := element.(ast.PathName); ok {
			names = append(names, string(name))
		}
	}
	return strings.Join(names, ".")
}
