package rest

import (
	"context"
	"net/http"
	"time"

	"library-catalogue/graph/model"
)

const (
	// chunk is how many objects of a whole list are read and sent at a time.
	chunk = 500
	// chunkTimeout is how long a client may take to accept a chunk.
	chunkTimeout = 30 * time.Second
	// maxStreams is how many whole lists are sent at once. Each holds a database
	// connection for as long as its client reads, and SQLite's pool may have no
	// more than four: one at least stays for everybody else.
	maxStreams = 3
)

// getAll answers a whole list, when one of maxStreams is free.
func (h *handler) getAll(w http.ResponseWriter, r *http.Request, res *resource, args model.PageArgs) error {
	ctx := r.Context()
	if _, err := res.list(ctx, args); err != nil { // it reads nothing yet
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, h.options.Timeout)
	defer cancel()
	if len(r.Header.Values("If-None-Match")) > 0 {
		// Who has the list already hears so without waiting.
		known := false
		err := h.catalogue.InSnapshot(waiting, func(_ context.Context, revision int64) error {
			known = NotModified(w, r, RevisionTag(revision))
			return nil
		})
		if known || err != nil {
			return err
		}
	}
	if r.Method == http.MethodGet {
		select {
		case h.streams <- struct{}{}:
			defer func() { <-h.streams }()
		case <-waiting.Done():
			return model.Errorf(model.Unavailable, "Too many whole lists are being read. Try again in a moment.")
		}
	}
	return h.catalogue.InSnapshot(ctx, func(ctx context.Context, revision int64) error {
		if NotModified(w, r, RevisionTag(revision)) {
			return nil
		}
		return h.sendAll(ctx, w, r, res, args)
	})
}

// sendAll streams the whole list in bounded memory. Where it fails after the
// first byte, it aborts the connection, so that no client takes a part for the
// whole.
func (h *handler) sendAll(ctx context.Context, w http.ResponseWriter, r *http.Request, res *resource, args model.PageArgs) error {
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		return nil
	}
	control := http.NewResponseController(w)
	sent := false
	text := append(appendSuccess(nil, res.plural+" retrieved successfully"), '[')
	send := func() {
		_ = control.SetWriteDeadline(time.Now().Add(chunkTimeout)) // not every writer has one
		if !sent {
			w.Header().Set("Content-Type", "application/json")
		}
		if _, err := w.Write(text); err != nil || control.Flush() != nil {
			panic(http.ErrAbortHandler) // the client has gone
		}
		sent, text = true, text[:0]
	}
	err := res.stream(ctx, args, func(ctx context.Context, part objects) (err error) {
		if sent {
			text = append(text, ',')
		}
		if text, err = part(ctx, text); err == nil {
			send()
		}
		return err
	})
	switch {
	case err != nil && !sent:
		return err
	case err != nil:
		h.logFailure(w, r, err)
		panic(http.ErrAbortHandler)
	}
	text = append(text, `]}`...)
	send()
	return nil
}

// streamOf makes what sends a whole list in chunks.
func streamOf[P any](read func(context.Context, model.PageArgs, int, func(context.Context, []P) error) error,
	object func(ctx context.Context, dst []byte, row P) ([]byte, error),
) func(context.Context, model.PageArgs, func(context.Context, objects) error) error {
	return func(ctx context.Context, args model.PageArgs, send func(context.Context, objects) error) error {
		return read(ctx, args, chunk, func(ctx context.Context, rows []P) error { return send(ctx, objectsOf(rows, object)) })
	}
}
