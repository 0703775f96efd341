package graphqlhttp

import (
	"context"
	"net/http"
	"strings"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph/model"
	"library-catalogue/server/ratelimit"
	"library-catalogue/server/telemetry"
)

// bytesPerPrice is how many bytes of a document that is not cached cost as much as a row:
// to read and validate 500 takes about as long as a plain query.
const bytesPerPrice = 5

// textPrice returns what it costs to read and validate a document.
func textPrice(text string) int64 { return int64(len(text) / bytesPerPrice) }

// chargeText charges a request once for its document, if that is not cached.
func (h *Handler) chargeText(ctx context.Context, q *request) *refusal {
	if q.charged || h.documents.has(q.query) {
		return nil
	}
	q.charged = true
	if err := ratelimit.Charge(ctx, textPrice(q.query)); err != nil {
		return refuseError(err)
	}
	return nil
}

const costHeader = "GraphQL-Cost"

var costKey = http.CanonicalHeaderKey(costHeader)

// wantsCost reports whether a request's headers ask for the cost of its operation.
func wantsCost(header http.Header) (bool, *refusal) {
	values := header[costKey]
	switch {
	case len(values) == 0:
		return false, nil
	case len(values) == 1 && strings.EqualFold(values[0], "report"):
		return true, nil
	}
	return false, badRequest("The header " + costHeader + " has one value: report.")
}

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

// price estimates what an operation costs, and refuses it where this is more than
// the limit.
func (h *Handler) price(o *operation) *refusal {
	o.estimate = o.cost.Estimate(o.Variables, h.Catalogue.Sizes())
	e := o.estimate
	if e.Total <= int64(h.limits.Cost) {
		return nil
	}
	field, advice := telemetry.Truncate(e.Field), "ask for smaller pages, or for less of each row"
	if e.Looked > e.Total/2 {
		advice = "give fewer conditions, or one by id, genreId, name or author, which leaves less to look at"
	}
	err := gqlerror.ErrorPosf(e.Position, "The operation costs %d, and %d is allowed. Most of it, %d, is for %s: %s.",
		e.Total, h.limits.Cost, e.FieldCost, field, advice)
	err.Message = telemetry.Truncate(err.Message)
	withCode(err, model.CostLimitExceeded).Extensions["cost"] = costExceeded{h.costReport(o), field, e.FieldCost}
	return invalid(err)
}

func (h *Handler) costReport(o *operation) costReport {
	return costReport{o.estimate.Total, h.limits.Cost}
}
