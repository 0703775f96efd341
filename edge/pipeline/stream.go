package pipeline

import (
	"context"

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
	ctx, cancel := context.WithTimeout(ctx, s.pipeline.Timeout)
	defer cancel()
	release, err := s.pipeline.Admission.Acquire(ctx, price)
	if err != nil {
		return ended(ctx, err)
	}
	defer release()
	_, err = s.pipeline.Catalogue.Read(ctx, model.NoRevision, model.NoReplica, func(ctx context.Context) (bool, error) {
		return false, fn(ctx)
	})
	return ended(ctx, err)
}
