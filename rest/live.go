package rest

import (
	"context"
	"crypto/sha256"
	"net/http"
	"time"

	"library-catalogue/edge/envelope"
	"library-catalogue/edge/eventstream"
	"library-catalogue/edge/live"
	"library-catalogue/edge/pipeline"
	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
	"library-catalogue/graph/reads"
)

// livePerPage is the default page size of a live list.
const livePerPage = 100

// isLive reports whether a client asks for a stream of the states of a list or an object.
func isLive(r *http.Request) bool {
	return r.Method == http.MethodGet && !r.URL.Query().Has("format") && acceptedFormat(r, changeFormats) != jsonFormat
}

// liveList sends the states of a page of a list. Before the envelope of each state it sends an event page with the
// total and the links.
func (h *handler) liveList(
	w http.ResponseWriter, r *http.Request, res *resource, q *query, args model.PageArgs, page *paging,
) error {
	if page == nil {
		page = &paging{}
	}
	if !q.has("per_page") {
		page.size = livePerPage
	}
	args = page.in(args)
	if _, err := args.Page(res.typename); err != nil {
		return err
	}
	f := q.including(jsonFormat)
	price := func() cost.Estimate {
		estimate, _ := res.cost(args, page, h.catalogue.Sizes())
		return estimate
	}
	var rows reads.Rows
	rows.AddList(res.typename, args)
	res.addParents(&rows)
	return h.serveLive(w, r, rows, price, func(ctx context.Context) ([]eventstream.Event, error) {
		body, total, next, err := res.appendPage(ctx, f.appendBegin(nil, res), f, args, true)
		if err != nil {
			return nil, err
		}
		about := envelope.Encode(struct {
			Total int    `json:"total"`
			Link  string `json:"link"`
		}{total, page.links(r.URL.EscapedPath(), q.values, total, next)})
		return []eventstream.Event{{Name: "page", Data: about}, {Data: append(body, f.end...)}}, nil
	})
}

// liveItem sends the states of an object.
func (h *handler) liveItem(w http.ResponseWriter, r *http.Request, res *resource, id string) error {
	f := (&query{values: parseQuery(r.URL.RawQuery)}).including(jsonFormat)
	price := func() cost.Estimate { return cost.Estimate{Total: res.rowCost} }
	var rows reads.Rows
	rows.AddRow(res.typename, model.ParseID(id))
	res.addParents(&rows)
	return h.serveLive(w, r, rows, price, func(ctx context.Context) ([]eventstream.Event, error) {
		found, err := res.find(ctx, f, id)
		if err != nil {
			return nil, err
		}
		body := envelope.Success(res.typename+" retrieved successfully", found.text)
		return []eventstream.Event{{Data: body}}, nil
	})
}

// addParents adds the rows that are nested in the objects of a list.
func (l *listing) addParents(rows *reads.Rows) {
	if l == bookListing {
		rows.Add(model.TypeGenre, nil)
	}
	if l != categoryListing {
		rows.Add(model.TypeCategory, nil)
	}
}

// serveLive sends a response of /api, and each new one that differs, until the client leaves. read returns the events
// of the response at one revision. An error before the first one is an error response. A later one is sent as an
// envelope, and ends the stream.
func (h *handler) serveLive(
	w http.ResponseWriter, r *http.Request, rows reads.Rows, price func() cost.Estimate,
	read func(context.Context) ([]eventstream.Event, error),
) error {
	run := func(ctx context.Context, known model.Revision) (state live.State, err error) {
		estimate := price()
		var events []eventstream.Event
		state.Revision, err = h.options.Pipeline.Read(ctx, known, estimate, func(ctx context.Context) (bool, error) {
			events, err = read(ctx)
			return true, err
		})
		var text []byte
		for _, event := range events {
			text = event.AppendTo(text)
		}
		state.Response, state.Bytes, state.Price = events, len(text), estimate.Total
		state.Sum = sha256.Sum256(text)
		return state, err
	}
	q := live.Query{
		Key: pipeline.KeyOf("live rest", r.URL.EscapedPath(), r.URL.RawQuery), Reads: rows, Run: run,
	}
	serve := func(w http.ResponseWriter, r *http.Request, _ model.Revision) error {
		return h.options.Streams.Serve(w, r, func(ctx context.Context, out *eventstream.Writer) error {
			listener := h.options.Live.Listen(ctx, q, 0)
			defer listener.Close()
			for begun := false; ; begun = true {
				state, err := listener.Next(ctx)
				if err != nil && begun && ctx.Err() == nil {
					last := eventstream.Event{Data: envelope.Failure(err)}
					if model.IsCode(err, model.Unavailable) {
						last.Retry = time.Duration(model.RetryAfter(err)) * time.Second
					}
					_ = out.Send(last) // the stream ends anyway
				}
				if err != nil {
					return err
				}
				for _, event := range state.Response.([]eventstream.Event) {
					if err := out.Send(event); err != nil {
						return err
					}
				}
			}
		})
	}
	return h.options.Pipeline.Run(w, r, nil, pipeline.Ready(&pipeline.Operation{Price: price(), Serve: serve}))
}
