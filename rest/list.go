package rest

import (
	"context"
	"errors"
	"net/http"

	"library-catalogue/edge/httpcond"
	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
)

// listRequest is a request for a list.
type listRequest struct {
	*handler
	*resource
	f      *format
	args   model.PageArgs
	price  cost.Estimate
	wanted bool // the response has Catalogue-Position
}

// getList responds with a whole list or a page of it.
func (h *handler) getList(w http.ResponseWriter, r *http.Request, res *resource, _ string) error {
	q := &query{values: parseQuery(r.URL.RawQuery)}
	args, page, f := q.args(res.listing), q.paging(), q.including(q.format(w, r, res.formats))
	if err := q.problems.Err(); err != nil {
		return err
	}
	wanted, err := httpcond.WantsPosition(r.Header)
	if err != nil {
		return err
	}
	if wanted {
		r.Header.Del("If-None-Match") // a 304 has no position
	}
	if r.Header["If-None-Match"] != nil { // an invalid list is an error even if its ETag matches
		checked := args
		if page != nil {
			checked = page.in(args)
		}
		if _, err := checked.Page(res.typename); err != nil {
			return renameError(err)
		}
	}
	if isLive(r) {
		return renameError(h.liveList(w, r, res, q, args, page))
	}
	price, long := res.cost(args, page, h.catalogue.Sizes())
	l := &listRequest{h, res, f, args, price, wanted}
	switch {
	case page != nil:
		err = l.servePage(w, r, q, page)
	case long:
		err = l.serveWhole(w, r, false)
	default:
		err = l.servePage(w, r, q, &paging{size: maxShortRows, whole: true})
		if errors.Is(err, errTooLong) {
			err = l.serveWhole(w, r, true)
		}
	}
	return renameError(err)
}

// position returns the newest position that the reads of ctx see, or "" if it is not wanted.
func (l *listRequest) position(ctx context.Context) (string, error) {
	if !l.wanted {
		return "", nil
	}
	return l.catalogue.Position(ctx)
}

// setHeaders sets the headers of the format, and Catalogue-Position unless it is empty.
func (l *listRequest) setHeaders(w http.ResponseWriter, position string) {
	if position != "" {
		w.Header().Set(httpcond.PositionHeader, position)
	}
	l.f.setHeaders(w, l.name)
}
