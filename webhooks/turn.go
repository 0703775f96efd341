package webhooks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// pageSize is the number of changes that are read at once.
const pageSize = 100

// turn sends changes to a leased endpoint until an attempt fails, the lease is lost, the time of a turn has passed, or
// ctx ends. It then releases the lease. Requests and their results last until life ends.
func (s *Sender) turn(ctx, life context.Context, w *model.Webhook, holder string) {
	id := w.ID
	ctx, cancel := context.WithTimeout(ctx, s.times.turn)
	defer cancel()
	for w != nil && ctx.Err() == nil {
		err := task.Run(ctx, func() error {
			page, err := s.next(ctx, w)
			if err != nil {
				return err
			}
			w, err = s.deliver(ctx, life, w, holder, page)
			return err
		})
		if err != nil {
			if ctx.Err() == nil {
				s.Logger.WarnContext(ctx, "webhook waits for the database", "webhook", id, "error", err)
			}
			if model.IsCode(err, model.Internal) {
				return // the lease expires, which delays the next attempt
			}
			break
		}
	}
	if err := s.Endpoints.Release(life, id, holder); err != nil && life.Err() == nil {
		s.Logger.WarnContext(ctx, "a lease was not released and expires", "webhook", id, "error", err)
	}
}

var errTaken = errors.New("a page was taken")

// next returns the next changes for an endpoint. It waits for them for a limited time.
func (s *Sender) next(ctx context.Context, w *model.Webhook) (*model.ChangePage, error) {
	args := model.ChangeArgs{Types: w.Types, After: &w.Position, First: pageSize}
	page, err := s.Feed.Changes(ctx, args)
	if model.IsCode(err, model.PositionGone) {
		return s.reset(ctx)
	}
	if err != nil || len(page.Nodes) > 0 || page.HasMore {
		return page, err
	}
	args.After = &page.Position
	ctx, cancel := context.WithTimeout(ctx, s.times.idle)
	defer cancel()
	err = s.Feed.Follow(ctx, args, nil, func(_ context.Context, next *model.ChangePage) error {
		if page = next; len(page.Nodes) == 0 {
			return nil
		}
		return errTaken
	})
	if ctx.Err() != nil || errors.Is(err, errTaken) {
		err = nil
	}
	return page, err
}

// reset returns a page with one change that tells an endpoint to read the catalogue again, because some changes are no
// longer kept or their database was restored. It goes on at the newest position.
func (s *Sender) reset(ctx context.Context) (*model.ChangePage, error) {
	position, err := s.Endpoints.Position(ctx)
	if err != nil {
		return nil, err
	}
	change := &model.Change{Position: position, Operation: model.ChangeReset,
		At: model.Timestamp(time.Now().UnixMicro())}
	return &model.ChangePage{Nodes: []*model.Change{change}, Position: position}, nil
}

// deliver sends the changes of a page until an attempt fails or ctx ends. It returns nil if the turn is over.
func (s *Sender) deliver(
	ctx, life context.Context, w *model.Webhook, holder string, page *model.ChangePage,
) (_ *model.Webhook, err error) {
	for _, change := range page.Nodes {
		if ctx.Err() != nil {
			return nil, nil
		}
		var r result
		if err := task.Run(life, func() error {
			r = s.client.send(life, w, messageOf(change))
			return nil
		}); err != nil {
			r = result{err: err}
		}
		if r.err != nil {
			if life.Err() != nil {
				return nil, nil // it was cut
			}
			return nil, s.fail(life, w, holder, change, r)
		}
		s.metrics.deliveries.WithLabelValues(outcomeDelivered).Inc()
		if w, err = s.Endpoints.Delivered(life, w, holder, change.Position, s.times.lease); w == nil || err != nil {
			return nil, err
		}
	}
	return s.Endpoints.Extend(life, w, holder, page.Position, s.times.lease)
}

// fail records a failed attempt.
func (s *Sender) fail(ctx context.Context, w *model.Webhook, holder string, change *model.Change, r result) error {
	delay, disabled := s.retry(w, r)
	outcome := outcomeUnanswered
	if r.status != 0 {
		outcome = outcomeRefused
	}
	s.metrics.deliveries.WithLabelValues(outcome).Inc()
	attrs := []any{"webhook", w.ID, "position", change.Position, "attempt", w.Failures + 1, "error", r.err}
	if disabled != "" {
		s.Logger.ErrorContext(ctx, "webhook disabled", append(attrs, "reason", disabled)...)
	} else {
		s.Logger.WarnContext(ctx, "webhook failed", append(attrs, "retry_in", delay.Round(time.Second).String())...)
	}
	return s.Endpoints.Failed(ctx, w, holder, r.err.Error(), delay, disabled)
}

// retry returns the delay after a failed attempt, or the reason to disable the endpoint. Jitter of up to a tenth keeps
// endpoints apart. Retry-After makes a delay longer, up to the longest.
func (s *Sender) retry(w *model.Webhook, r result) (delay time.Duration, disabled string) {
	switch {
	case r.status == http.StatusGone:
		return 0, "the endpoint responded with 410 Gone"
	case w.Failures >= len(s.times.delays):
		return 0, fmt.Sprintf("%d attempts failed, the last because %v", w.Failures+1, r.err)
	}
	delay = s.times.delays[w.Failures]
	delay += time.Duration(rand.Float64() * float64(delay) / 10)
	return max(delay, min(r.retryAfter, s.times.delays[len(s.times.delays)-1])), ""
}
