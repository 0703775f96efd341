package rest

import (
	"context"
	"errors"
	"net/http"

	"library-catalogue/edge/httpcond"
	"library-catalogue/graph/model"
)

type list struct {
	// read appends the page's objects to dst and returns the cursor of the next page, nil for none.
	read       func(ctx context.Context, dst []byte) (out []byte, next *string, err error)
	totalCount func(ctx context.Context) (int, error)
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
			checked = page.of(args)
		}
		if _, err := checked.Page(res.typename); err != nil {
			return renameError(err)
		}
	}
	price, long := res.cost(args, page, h.catalogue.Sizes())
	if page != nil {
		return renameError(h.getPage(w, r, res, f, q, page, args, price, wanted))
	}
	if !long {
		err := h.getPage(w, r, res, f, q, &paging{size: maxShortRows, whole: true}, args, price, wanted)
		if !errors.Is(err, errTooLong) {
			return renameError(err)
		}
	}
	return renameError(h.getWhole(w, r, res, f, args, price, !long, wanted))
}

// position returns the newest position that the reads of ctx see, or "" if it is not wanted.
func (h *handler) position(ctx context.Context, wanted bool) (string, error) {
	if !wanted {
		return "", nil
	}
	return h.catalogue.Position(ctx)
}

// setPosition sets Catalogue-Position, unless the position is empty.
func setPosition(w http.ResponseWriter, position string) {
	if position != "" {
		w.Header().Set(httpcond.PositionHeader, position)
	}
}

// objects appends the objects of some rows, separated as in their format.
type objects func(ctx context.Context, dst []byte) ([]byte, error)

func objectsOf[P any](f *format, rows []P, object func(ctx context.Context, dst []byte, row P) ([]byte, error)) objects {
	return func(ctx context.Context, dst []byte) (_ []byte, err error) {
		for i, row := range rows {
			if i > 0 {
				dst = append(dst, f.separator...)
			}
			if dst, err = object(ctx, dst, row); err != nil {
				return dst, err
			}
		}
		return dst, nil
	}
}

// listOf returns the list of a connection. object appends the object of a row.
func listOf[P model.Node](f *format, c *model.Connection[P], object func(ctx context.Context, dst []byte, row P) ([]byte, error), err error) (list, error) {
	if err != nil {
		return list{}, err
	}
	return list{totalCount: c.TotalCount, read: func(ctx context.Context, dst []byte) ([]byte, *string, error) {
		nodes, err := c.Nodes(ctx)
		if err != nil {
			return dst, nil, err
		}
		if dst, err = objectsOf(f, nodes, object)(ctx, dst); err != nil {
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
