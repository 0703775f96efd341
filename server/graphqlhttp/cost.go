package graphqlhttp

import (
	"context"
	"maps"
	"net/http"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
)

// textUnit is how many bytes of a document that is not known make a unit of a
// caller's rate: to read and validate them takes about as long as a plain query.
const textUnit = 512

// costReport is extensions.cost.
type costReport struct {
	Requested int64 `json:"requested"`
	Limit     int   `json:"limit"`
}

// costExceeded is extensions.cost of the error of an operation over the limit.
type costExceeded struct {
	costReport
	Field     string `json:"field"`
	FieldCost int64  `json:"fieldCost"`
}

// estimate tells what an operation costs, or that this is more than the limit.
func (g *Handler) estimate(operation *graphql.OperationContext, document *document) (cost.Estimate, gqlerror.List) {
	e := g.costs.Estimate(operation, &document.costs)
	if e.Total <= int64(g.limits.Cost) {
		return e, nil
	}
	field := truncate(e.Field)
	err := gqlerror.ErrorPosf(e.Position, "The operation costs %d, and %d is allowed. Most of it, %d, is for %s: ask for smaller pages, or for less of each row.",
		e.Total, g.limits.Cost, e.FieldCost, field)
	err = short(withCode(err, model.CostLimitExceeded))
	err.Extensions["cost"] = costExceeded{costReport{e.Total, g.limits.Cost}, field, e.FieldCost}
	return e, gqlerror.List{err}
}

// reports are what a request asks to be told beside its answer. It is executed in
// any case, and its answer is not kept.
type reports struct{ cost, explain bool }

const (
	costHeader    = "GraphQL-Cost"
	explainHeader = "GraphQL-Explain"
)

var costKey, explainKey = http.CanonicalHeaderKey(costHeader), http.CanonicalHeaderKey(explainHeader)

// readReports reads the headers that ask for reports.
func (g *Handler) readReports(r *http.Request) (asked reports, _ *refusal) {
	var refused *refusal
	if asked.cost, refused = asksFor(r.Header[costKey], costHeader); refused != nil {
		return asked, refused
	}
	if asked.explain, refused = asksFor(r.Header[explainKey], explainHeader); asked.explain {
		refused = g.mayExplain(r.Context())
	}
	return asked, refused
}

// asksFor tells whether the values of a header ask for the report of its name.
func asksFor(values []string, header string) (bool, *refusal) {
	switch {
	case len(values) == 0:
		return false, nil
	case len(values) == 1 && strings.EqualFold(values[0], "report"):
		return true, nil
	}
	return false, bad("The header " + header + " has one value: report.")
}

// report adds to a response what its request asked for.
func (g *Handler) report(ctx context.Context, asked reports, e cost.Estimate, response *graphql.Response) {
	if asked == (reports{}) {
		return
	}
	extensions := maps.Clone(response.Extensions)
	if extensions == nil {
		extensions = map[string]any{}
	}
	if asked.cost {
		extensions["cost"] = costReport{e.Total, g.limits.Cost}
	}
	if asked.explain {
		extensions["explain"] = explain(ctx)
	}
	response.Extensions = extensions
}
