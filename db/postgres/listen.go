package postgres

import (
	"context"
	"time"

	"github.com/lib/pq"

	"library-catalogue/task"
)

// Listen calls fn for each NOTIFY on a channel until ctx ends, on its own connection, which it opens
// again if it breaks. Behind a pooler it returns at once, because another client gets the session.
func (c *Connector) Listen(ctx context.Context, channel string, fn func()) {
	if c.Pooled {
		return
	}
	listener := pq.NewListener(c.url, time.Second, time.Minute, nil)
	stop := task.OnDone(ctx, func() { _ = listener.Close() })
	defer func() {
		if stop() {
			_ = listener.Close()
		}
	}()
	if listener.Listen(channel) != nil { // it waits for the connection
		return
	}
	for {
		select {
		case <-listener.Notify:
			fn()
		case <-ctx.Done():
			return
		}
	}
}
