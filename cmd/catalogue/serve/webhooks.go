package serve

import (
	"context"
	"log/slog"

	"library-catalogue/db"
	"library-catalogue/server/telemetry"
	"library-catalogue/server/webhooks"
)

// sendWebhooks sends webhooks until ctx ends. It closes sent after the last request.
func (c *Command) sendWebhooks(ctx context.Context, store *db.Store, observer *telemetry.Observer, log *slog.Logger) (sent <-chan struct{}, err error) {
	sender := webhooks.New(webhooks.Config{
		Endpoints: store.Webhooks, Feed: store, Background: store.Background, Private: c.WebhookPrivate, Logger: log,
	})
	if err := observer.Register(sender); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		sender.Run(ctx)
	}()
	return ended, nil
}
