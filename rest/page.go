package rest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
	"library-catalogue/server/pipeline"
)

const (
	// perPage is the size of a page that a request asks for without one.
	perPage = 20
	// maxPage is the highest page: far past every list, and short of an offset
	// that would not fit a 64-bit integer.
	maxPage = 1_000_000_000
)

// paging is the page that a request asks for: by number, or by what it follows.
type paging struct {
	size  int
	page  int    // from 1; 0 where the request names no page
	after string // a cursor; empty at the beginning
	whole bool   // there must be no other page
}

// paging returns the page that is asked for, nil where it is the whole list.
func (q *query) paging() *paging {
	if !q.has("per_page") && !q.has("page") && !q.has("after") {
		return nil
	}
	p := &paging{size: perPage, after: q.one("after")}
	if q.has("per_page") {
		p.size = q.integer("per_page", model.MaxPageSize)
	}
	if q.has("page") {
		p.page = q.integer("page", maxPage)
		if p.after != "" {
			q.refuse("after", "The %s field must not be given together with page.")
		}
	}
	return p
}

// of adds the page to the arguments of its list.
func (p *paging) of(args model.PageArgs) model.PageArgs {
	args.First = &p.size
	if p.after != "" {
		args.After = &p.after
	}
	if p.page > 0 {
		offset := (p.page - 1) * p.size
		args.Offset = &offset
	}
	return args
}

// getPage answers one page, with where it stands in Link (RFC 8288) and X-Total-Count. It
// returns errLong where that should be a whole list and is not.
func (h *handler) getPage(w http.ResponseWriter, r *http.Request, res *resource, f *format, q *query, p *paging, args model.PageArgs, price cost.Estimate) error {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	var body []byte
	var total int
	var next *string
	err := h.options.Pipeline.Run(w, r, cacheKey(r, f.tag), pipeline.Ready(&pipeline.Operation{
		Price: price,
		Tag:   f.listTag,
		Read: func(ctx context.Context) (cacheable bool, err error) {
			rows, err := res.list(ctx, f, p.of(args))
			if err != nil {
				return false, err
			}
			if !p.whole {
				if total, err = rows.totalCount(ctx); err != nil {
					return false, err
				}
			}
			body = f.appendBegin((*buffer)[:0], res)
			switch body, next, err = rows.read(ctx, body); {
			case err != nil:
				return false, err
			case p.whole && (next != nil || len(body) > maxShortBytes):
				return false, errLong
			}
			body = append(body, f.end...)
			return true, nil
		},
		Answer: func(w http.ResponseWriter) {
			if !p.whole {
				p.setHeaders(w.Header(), r.URL.EscapedPath(), q.values, total, next)
			}
			f.setHeaders(w, res)
			writeBody(w, http.StatusOK, body)
		},
	}))
	if cap(body) > cap(*buffer) && cap(body) <= maxBuffer { // one huge page must not stay in memory
		*buffer = body
	}
	return err
}

// errLong says that a whole list is too long to be answered like a page.
var errLong = errors.New("the list is too long for a page")

// setHeaders says where the page stands.
func (p *paging) setHeaders(header http.Header, path string, values url.Values, total int, next *string) {
	header.Set("X-Total-Count", strconv.Itoa(total))
	if links := p.links(path, values, total, next); links != "" {
		header.Set("Link", links)
	}
}

// buffers are those of pages.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer is how many bytes a buffer may hold to be used again.
const maxBuffer = 1 << 20

// links points at other pages; next is the cursor after which another begins, or
// nil. A request that names no page is shown on by cursor: no row is then returned
// twice or passed over, whatever is written meanwhile.
func (p *paging) links(path string, values url.Values, total int, next *string) string {
	var links []string
	link := func(rel, parameter, value string) {
		query := maps.Clone(values)
		query.Set(parameter, value)
		links = append(links, fmt.Sprintf(`<%s?%s>; rel="%s"`, path, query.Encode(), rel))
	}
	last := max(1, (total+p.size-1)/p.size)
	switch {
	case p.page > 0:
		link("first", "page", "1")
		if p.page > 1 {
			link("prev", "page", strconv.Itoa(min(p.page-1, last)))
		}
		if p.page < last {
			link("next", "page", strconv.Itoa(p.page+1))
		}
		link("last", "page", strconv.Itoa(last))
	case p.after == "":
		link("first", "page", "1")
		if next != nil {
			link("next", "after", *next)
		}
		link("last", "page", strconv.Itoa(last))
	case next != nil:
		link("next", "after", *next)
	}
	return strings.Join(links, ", ")
}
