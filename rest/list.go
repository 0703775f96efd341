package rest

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"library-catalogue/graph/model"
)

const (
	// chunk is how many objects of a whole list are read and sent at a time.
	chunk = 500
	// chunkTimeout is how long a client may take to accept a chunk.
	chunkTimeout = 30 * time.Second
	// perPage is the size of a page that a request asks for without one.
	perPage = 20
)

// getList answers a whole list, or the page of it that the request asks for, on
// one snapshot of the catalogue. Its ETag is the snapshot's revision.
func (h *handler) getList(w http.ResponseWriter, r *http.Request, of *resource, _ string) error {
	page, err := readPaging(r.URL.Query())
	if err != nil {
		return err
	}
	if page == nil && r.Method == http.MethodGet {
		select {
		case h.streams <- struct{}{}:
			defer func() { <-h.streams }()
		case <-r.Context().Done():
			return r.Context().Err()
		}
	}
	return h.catalogue.View(r.Context(), func(ctx context.Context, revision int64) error {
		tag := fmt.Sprintf(`"r%d"`, revision)
		w.Header().Set("ETag", tag)
		if matches(r.Header.Get("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
		if page != nil {
			return sendPage(ctx, w, r, of, page)
		}
		return sendAll(ctx, w, r, of)
	})
}

// sendAll streams the whole list in bounded memory. Where it fails after the
// first byte, it aborts the connection, so that no client takes a part for the
// whole.
func sendAll(ctx context.Context, w http.ResponseWriter, r *http.Request, of *resource) error {
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodHead {
		return nil
	}
	control := http.NewResponseController(w)
	out := bufio.NewWriterSize(w, 64<<10)
	size := chunk
	args := model.PageArgs{First: &size}
	for first := true; ; first = false {
		rows, err := of.list(ctx, args)
		if err != nil {
			return abort(r, first, err)
		}
		shapes, err := rows.shapes(ctx)
		if err != nil {
			return abort(r, first, err)
		}
		if first {
			fmt.Fprintf(out, `{"success":true,"message":"%s retrieved successfully","data":[`, of.plural)
		}
		for i, shape := range shapes {
			if i > 0 || !first {
				out.WriteByte(',')
			}
			out.Write(encode(shape))
		}
		info, err := rows.pageInfo(ctx)
		if err != nil {
			return abort(r, false, err)
		}
		more, err := info.HasNextPage(ctx)
		if err != nil {
			return abort(r, false, err)
		}
		if !more {
			out.WriteString(`]}`)
		}
		_ = control.SetWriteDeadline(time.Now().Add(chunkTimeout)) // not every writer has one
		if out.Flush() != nil || control.Flush() != nil {
			panic(http.ErrAbortHandler) // the client has gone
		}
		if !more {
			return nil
		}
		args.After = info.EndCursor
	}
}

// abort gives err back to be answered as long as nothing was sent.
func abort(r *http.Request, nothingSent bool, err error) error {
	if nothingSent {
		return err
	}
	logFailure(r, model.AsError(err))
	panic(http.ErrAbortHandler)
}

// paging is the page that a request asks for.
type paging struct {
	size  int
	page  int    // from 1, where after is empty
	after string // a cursor
}

// readPaging gives nil where the request asks for no page.
func readPaging(query url.Values) (*paging, error) {
	if query.Get("per_page") == "" && query.Get("page") == "" && query.Get("after") == "" {
		return nil, nil
	}
	var f model.FieldErrors
	p := &paging{size: perPage, page: 1, after: query.Get("after")}
	if given := query.Get("per_page"); given != "" {
		p.size = bounded(&f, "per_page", given, model.MaxPageSize)
	}
	if given := query.Get("page"); given != "" {
		p.page = bounded(&f, "page", given, 1_000_000_000)
		if p.after != "" {
			f.Add("after", "The %s field must not be given together with page.")
		}
	}
	return p, f.Err()
}

func bounded(f *model.FieldErrors, field, given string, most int) int {
	n, err := strconv.Atoi(given)
	if err != nil || n < 1 || n > most {
		f.Add(field, fmt.Sprintf("The %%s field must be an integer between 1 and %d.", most))
	}
	return n
}

// sendPage answers one page, with where it stands in Link (RFC 8288) and
// X-Total-Count.
func sendPage(ctx context.Context, w http.ResponseWriter, r *http.Request, of *resource, p *paging) error {
	args := model.PageArgs{First: &p.size}
	if p.after != "" {
		args.After = &p.after
	} else {
		offset := (p.page - 1) * p.size
		args.Offset = &offset
	}
	rows, err := of.list(ctx, args)
	if err != nil {
		return err
	}
	total, err := rows.totalCount(ctx)
	if err != nil {
		return err
	}
	shapes, err := rows.shapes(ctx)
	if err != nil {
		return err
	}
	info, err := rows.pageInfo(ctx)
	if err != nil {
		return err
	}
	more, err := info.HasNextPage(ctx)
	if err != nil {
		return err
	}
	w.Header().Set("X-Total-Count", strconv.Itoa(total))
	if links := p.links(r.URL, total, more, info.EndCursor); links != "" {
		w.Header().Set("Link", links)
	}
	write(w, r, http.StatusOK, envelope{Success: true, Message: of.plural + " retrieved successfully", Data: shapes})
	return nil
}

func (p *paging) links(at *url.URL, total int, more bool, end *string) string {
	var links []string
	link := func(rel, parameter, value string) {
		query := at.Query()
		query.Set(parameter, value)
		links = append(links, fmt.Sprintf(`<%s?%s>; rel="%s"`, at.EscapedPath(), query.Encode(), rel))
	}
	if p.after != "" {
		if more {
			link("next", "after", *end)
		}
		return strings.Join(links, ", ")
	}
	last := max(1, (total+p.size-1)/p.size)
	link("first", "page", "1")
	if p.page > 1 {
		link("prev", "page", strconv.Itoa(min(p.page-1, last)))
	}
	if p.page < last {
		link("next", "page", strconv.Itoa(p.page+1))
	}
	link("last", "page", strconv.Itoa(last))
	return strings.Join(links, ", ")
}

// listOf makes a list of a connection whose rows of gives as objects.
func listOf[P model.Node](c *model.Connection[P], of func(context.Context, P) (*object, error), err error) (list, error) {
	if err != nil {
		return list{}, err
	}
	shapes := func(ctx context.Context) ([]any, error) {
		nodes, err := c.Nodes(ctx)
		if err != nil {
			return nil, err
		}
		out := make([]any, len(nodes))
		for i, node := range nodes {
			o, err := of(ctx, node)
			if err != nil {
				return nil, err
			}
			out[i] = o.shape
		}
		return out, nil
	}
	return list{shapes: shapes, pageInfo: c.PageInfo, totalCount: c.TotalCount}, nil
}

// maybe gives the object of a row that may not be there.
func maybe[T any](ctx context.Context, row *T, of func(context.Context, *T) (*object, error), err error) (*object, error) {
	if err != nil || row == nil {
		return nil, err
	}
	return of(ctx, row)
}
