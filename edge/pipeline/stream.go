package pipeline

import (
	"context"
	"errors"

	"library-catalogue/edge/admission"
	"library-catalogue/edge/ratelimit"
	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
)

// Stream runs the parts of a stream of events, such as a subscription. One goroutine uses it.
type Stream struct {
	pipeline *Pipeline
	meter    ratelimit.Meter
}

// NewStream returns a Stream for one caller.
func (p *Pipeline) NewStream() *Stream { return &Stream{pipeline: p} }

// Pay charges the caller of ctx. It waits until the caller can pay, or ctx ends.
func (s *Stream) Pay(ctx context.Context, price int64) error { return s.meter.Pay(ctx, price) }

// Admit waits for a permit to read the log of changes, which is medium work. Call release after the read.
func (s *Stream) Admit(ctx context.Context) (release func(), err error) {
	return s.pipeline.Admission.AcquireWhole(ctx, cost.Estimate{})
}

// Read charges the caller, waits for a permit, and calls fn with a context in which all reads are of one revision. fn
// may run twice.
func (s *Stream) Read(ctx context.Context, price cost.Estimate, fn func(context.Context) error) error {
	if err := s.Pay(ctx, price.Total); err != nil {
		return err
	}
	_, err := s.pipeline.Read(ctx, model.NoRevision, price, func(ctx context.Context) (bool, error) {
		return false, fn(ctx)
	})
	return err
}

// Read waits for a permit and calls fn with a context in which all reads are of one revision of the primary. fn may run
// twice. known and revision are as in Catalogue.Read. The error after Pipeline.Timeout is Unavailable.
func (p *Pipeline) Read(
	ctx context.Context, known model.Revision, price cost.Estimate,
	fn func(context.Context) (cacheable bool, err error),
) (revision int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	release, err := p.Admission.Acquire(ctx, price)
	if err != nil {
		return -1, ended(ctx, err)
	}
	defer release()
	ctx, stop := admission.LimitRead(ctx, price)
	defer stop()
	revision, err = p.Catalogue.Read(ctx, known, model.NoReplica, fn)
	if err = ended(ctx, err); errors.Is(err, context.DeadlineExceeded) {
		err = &model.Error{Code: model.Unavailable, Message: "The read took too long. Try again.", Err: err}
	}
	return revision, err
}
