package serve

import (
	"context"
	"log/slog"

	"library-catalogue/db"
	"library-catalogue/edge/telemetry"
	"library-catalogue/task"
	"library-catalogue/webhooks"
)

// sendWebhooks sends webhooks until ctx ends. It closes sent after the last request.
func (c *Command) sendWebhooks(ctx context.Context, store *db.Store, observer *telemetry.Observer, log *slog.Logger) (sent <-chan error, err error) {
	sender := webhooks.New(webhooks.Config{
		Endpoints: store.Webhooks, Feed: store, Background: store.Background, Private: c.WebhookPrivate, Logger: log,
	})
	if err := observer.Register(sender); err != nil {
		return nil, err
	}
	return task.Go(ctx, func() error { sender.Run(ctx); return nil }), nil
}
