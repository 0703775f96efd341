package graphqlhttp

import (
	"context"
	"maps"
	"net/http"
	"strings"

	"github.com/99designs/gqlgen/graphql"
)

// reports are what a request asks to be told with its answer. It is executed in
// any case, and its answer is not cached.
type reports struct{ cost, explain bool }

const (
	costHeader    = "GraphQL-Cost"
	explainHeader = "GraphQL-Explain"
)

var costKey, explainKey = http.CanonicalHeaderKey(costHeader), http.CanonicalHeaderKey(explainHeader)

// readReports reads the headers that ask for reports.
func (h *Handler) readReports(r *http.Request) (asked reports, refused *refusal) {
	if asked.cost, refused = asksFor(r.Header[costKey], costHeader); refused != nil {
		return asked, refused
	}
	if asked.explain, refused = asksFor(r.Header[explainKey], explainHeader); asked.explain {
		refused = h.mayExplain(r.Context())
	}
	return asked, refused
}

// asksFor reports whether the values of a header ask for the report of its name.
func asksFor(values []string, header string) (bool, *refusal) {
	switch {
	case len(values) == 0:
		return false, nil
	case len(values) == 1 && strings.EqualFold(values[0], "report"):
		return true, nil
	}
	return false, badRequest("The header " + header + " has one value: report.")
}

// report adds to a response what its request asked for.
func (h *Handler) report(ctx context.Context, asked reports, o *operation, response *graphql.Response) {
	if asked.cost {
		response.Extensions = withExtension(response.Extensions, "cost", h.costReport(o))
	}
	if asked.explain {
		response.Extensions = withExtension(response.Extensions, "explain", h.explain(ctx))
	}
}

// withExtension returns extensions with one more.
func withExtension(extensions map[string]any, name string, value any) map[string]any {
	extensions = maps.Clone(extensions)
	if extensions == nil {
		extensions = map[string]any{}
	}
	extensions[name] = value
	return extensions
}
