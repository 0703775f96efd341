package rest

import (
	"context"
	"fmt"
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

// list is one page of a list.
type list struct {
	// read appends the page's objects to dst, with commas between them, and gives
	// the cursor after which the next page begins: nil where there is none.
	read       func(ctx context.Context, dst []byte) (out []byte, next *string, err error)
	totalCount func(ctx context.Context) (int, error)
}

// getList answers the whole of the list that the request asks for, or a page of
// it, on one snapshot of the catalogue.
func (h *handler) getList(w http.ResponseWriter, r *http.Request, of *resource, id string) error {
	q := &query{values: parseQuery(r.URL.RawQuery)}
	args, page := q.args(of), q.paging()
	if err := q.problems.Err(); err != nil {
		return err
	}
	serve := func(h *handler, w http.ResponseWriter, r *http.Request, of *resource, _ string) error {
		return h.getAll(w, r, of, args)
	}
	if page != nil {
		serve = bounded(func(h *handler, w http.ResponseWriter, r *http.Request, of *resource, _ string) error {
			return h.getPage(w, r, of, q, page, args)
		})
	}
	return restated(serve(h, w, r, of, id))
}

func (h *handler) getAll(w http.ResponseWriter, r *http.Request, of *resource, args model.PageArgs) error {
	ctx := r.Context()
	if _, err := of.list(ctx, args); err != nil { // it reads nothing yet
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, h.options.Timeout)
	defer cancel()
	if len(r.Header.Values("If-None-Match")) > 0 {
		// Who has the list already hears so without waiting for a turn.
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
		return h.sendAll(ctx, w, r, of, args)
	})
}

// RevisionTag is the ETag of every list, whole or in part, at a revision.
func RevisionTag(revision int64) string { return fmt.Sprintf(`"r%d"`, revision) }

// sendAll streams the whole list in bounded memory. Where it fails after the
// first byte, it aborts the connection, so that no client takes a part for the
// whole.
func (h *handler) sendAll(ctx context.Context, w http.ResponseWriter, r *http.Request, of *resource, args model.PageArgs) error {
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		return nil
	}
	control := http.NewResponseController(w)
	sent := false
	text := append(appendSuccess(nil, of.plural+" retrieved successfully"), '[')
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
	err := of.each(ctx, args, func(ctx context.Context, part objects) (err error) {
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
		logFailure(w, r, err)
		panic(http.ErrAbortHandler)
	}
	text = append(text, `]}`...)
	send()
	return nil
}

// objects appends rows as objects, with commas between them.
type objects func(ctx context.Context, dst []byte) ([]byte, error)

func objectsOf[P any](rows []P, object func(ctx context.Context, dst []byte, row P) ([]byte, error)) objects {
	return func(ctx context.Context, dst []byte) (_ []byte, err error) {
		for i, row := range rows {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = object(ctx, dst, row); err != nil {
				return dst, err
			}
		}
		return dst, nil
	}
}

// wholeOf makes what sends a whole list in chunks.
func wholeOf[P any](each func(context.Context, model.PageArgs, int, func(context.Context, []P) error) error,
	object func(ctx context.Context, dst []byte, row P) ([]byte, error),
) func(context.Context, model.PageArgs, func(context.Context, objects) error) error {
	return func(ctx context.Context, args model.PageArgs, send func(context.Context, objects) error) error {
		return each(ctx, args, chunk, func(ctx context.Context, rows []P) error { return send(ctx, objectsOf(rows, object)) })
	}
}

// listOf makes a list of a connection, whose rows object appends as objects.
func listOf[P model.Node](c *model.Connection[P], object func(ctx context.Context, dst []byte, row P) ([]byte, error), err error) (list, error) {
	if err != nil {
		return list{}, err
	}
	return list{totalCount: c.TotalCount, read: func(ctx context.Context, dst []byte) ([]byte, *string, error) {
		nodes, err := c.Nodes(ctx)
		if err != nil {
			return dst, nil, err
		}
		if dst, err = objectsOf(nodes, object)(ctx, dst); err != nil {
			return dst, nil, err
		}
		info, err := c.PageInfo(ctx)
		if err != nil {
			return dst, nil, err
		}
		if more, err := info.HasNextPage(ctx); !more {
			return dst, nil, err
		}
		return dst, info.EndCursor, nil
	}}, nil
}
