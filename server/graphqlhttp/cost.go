package graphqlhttp

import (
	"context"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/edge/ratelimit"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
)

// chargeText charges the caller once for a document that is not cached.
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

type costReport struct {
	Requested int64 `json:"requested"`
	Limit     int   `json:"limit"`
}

// costExceeded is extensions.cost of the error for an operation over the limit.
type costExceeded struct {
	costReport
	Field     string `json:"field"`
	FieldCost int64  `json:"fieldCost"`
}

// price estimates the price of an operation and refuses it above the limit.
func (h *Handler) price(o *operation) *refusal {
	o.estimate = o.cost.Estimate(o.Variables, h.Catalogue.Sizes())
	e := o.estimate
	if e.Total <= int64(h.limits.Cost) {
		return nil
	}
	field, advice := telemetry.Truncate(e.Field), "Request smaller pages or fewer fields"
	if e.Looked > e.Total/2 {
		advice = "Use fewer conditions, or one on id, genreId, name or author that matches few rows"
	}
	err := gqlerror.ErrorPosf(e.Position,
		"The operation costs %d; the limit is %d. The field with the highest cost, %d, is %s. %s.",
		e.Total, h.limits.Cost, e.FieldCost, field, advice)
	err.Message = telemetry.Truncate(err.Message)
	withCode(err, model.CostLimitExceeded).Extensions["cost"] = costExceeded{h.costReport(o), field, e.FieldCost}
	return invalid(err)
}

func (h *Handler) costReport(o *operation) costReport {
	return costReport{o.estimate.Total, h.limits.Cost}
}
