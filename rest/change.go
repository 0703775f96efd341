package rest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"library-catalogue/edge/envelope"
	"library-catalogue/edge/eventstream"
	"library-catalogue/edge/httpcond"
	"library-catalogue/edge/pipeline"
	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
)

const (
	// changeCost is the cost of a change and its row.
	changeCost = 2
	// retryDelay is the time after which a client connects to a broken stream again.
	retryDelay = 2 * time.Second
)

// changeFormats are the formats of changes, the default first.
var changeFormats = []*format{jsonFormat, {name: "event-stream", contentType: eventstream.MediaType}}

// getChanges responds with a page of changes, or with a stream of them.
func (h *handler) getChanges(w http.ResponseWriter, r *http.Request, _ *resource, _ string) error {
	q := &query{values: parseQuery(r.URL.RawQuery)}
	args := q.changes()
	f := q.format(w, r, changeFormats)
	if err := q.problems.Err(); err != nil {
		return err
	}
	if f == jsonFormat || r.Method == http.MethodHead {
		return h.getChangePage(w, r, q, args)
	}
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		args.After = &id
	}
	return h.options.Streams.Serve(w, r, func(ctx context.Context, out *eventstream.Writer) error {
		return h.sendChanges(ctx, out, args)
	})
}

// getChangePage responds with a page of changes. Its header Catalogue-Position is where the next page begins.
func (h *handler) getChangePage(w http.ResponseWriter, r *http.Request, q *query, args model.ChangeArgs) error {
	var page *model.ChangePage
	return h.options.Pipeline.Run(w, r, nil, pipeline.Ready(&pipeline.Operation{
		Price: cost.Estimate{Total: 1 + changeCost*int64(args.First)},
		Read: func(ctx context.Context) (cacheable bool, err error) {
			page, err = h.catalogue.Changes(ctx, args)
			return false, err
		},
		Answer: func(w http.ResponseWriter) {
			data := []byte{'['}
			for i, change := range page.Nodes {
				if i > 0 {
					data = append(data, ',')
				}
				data = appendShown(r.Context(), data, change)
			}
			body := envelope.Success("Changes retrieved successfully", append(data, ']'))
			w.Header().Set(httpcond.PositionHeader, page.Position)
			if page.HasMore {
				q.values.Set("after", page.Position)
				w.Header().Set("Link", fmt.Sprintf(`<%s?%s>; rel="next"`, r.URL.EscapedPath(), q.values.Encode()))
			}
			sum := sha256.Sum256(append(body, page.Position...))
			if httpcond.NotModified(w, r, fmt.Sprintf(`"%x"`, sum[:8])) {
				return
			}
			jsonFormat.setHeaders(w, "")
			envelope.WriteBody(w, http.StatusOK, body)
		},
	}))
}

// sendChanges sends changes as events until ctx ends. The id of an event is its position. An event without data only
// moves the position.
func (h *handler) sendChanges(ctx context.Context, out *eventstream.Writer, args model.ChangeArgs) error {
	stream := h.options.Pipeline.NewStream()
	retry := retryDelay
	return h.catalogue.Follow(ctx, args, stream.Admit, func(ctx context.Context, page *model.ChangePage) error {
		if err := stream.Pay(ctx, changeCost*int64(len(page.Nodes))+page.LookPrice()); err != nil {
			return err
		}
		for _, change := range page.Nodes {
			if err := out.Send(
				eventstream.Event{ID: change.Position, Data: appendShown(ctx, nil, change)}); err != nil {
				return err
			}
		}
		if n := len(page.Nodes); n > 0 && page.Nodes[n-1].Position == page.Position {
			return nil
		}
		event := eventstream.Event{ID: page.Position, Retry: retry}
		retry = 0
		return out.Send(event)
	})
}

// changes returns the parameters of the log.
func (q *query) changes() model.ChangeArgs {
	args := model.ChangeArgs{First: model.DefaultFeedPage}
	var chosen *listing
	for _, name := range q.items("types") {
		i := slices.IndexFunc(listings, func(l *listing) bool { return strings.ToLower(l.typename) == name })
		if i < 0 {
			q.refuse("types", "The %s field must be a comma-separated list of these: book, genre, category.")
			continue
		}
		chosen = listings[i]
		args.Types = append(args.Types, model.CatalogueType(strings.ToUpper(name)))
	}
	if q.has("limit") {
		args.First = q.integer("limit", model.MaxPageSize)
	}
	if after := q.text("after"); after != "" {
		args.After = &after
	}
	if len(args.Types) == 1 {
		args.Filter = q.filter(chosen.conditions)
		delete(args.Filter, "id")
	} else {
		for _, l := range listings {
			for _, c := range l.conditions {
				if q.given(c.parameter) {
					q.refuse(c.parameter, "The %s field needs exactly one type: give types.")
				}
			}
		}
	}
	texts, _ := ids(q, "ids").([]string)
	for _, text := range texts {
		args.IDs = append(args.IDs, model.ParseID(text))
	}
	return args
}

// appendShown appends a change as the caller may see it.
func appendShown(ctx context.Context, dst []byte, c *model.Change) []byte {
	if c.ActorFor(ctx) == nil {
		hidden := *c
		hidden.Actor = ""
		c = &hidden
	}
	return c.AppendJSON(dst)
}
