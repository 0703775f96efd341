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

	"library-catalogue/edge/envelope"
	"library-catalogue/edge/pipeline"
	"library-catalogue/graph/model"
)

const (
	// defaultPerPage is the default page size.
	defaultPerPage = 20
	// maxPageNumber is far beyond every list; its offset fits a 64-bit integer.
	maxPageNumber = 1_000_000_000
)

// paging is the requested page, by number or by cursor.
type paging struct {
	size  int
	page  int    // from 1; 0: paging by cursor
	after string // cursor; empty: the first page
	whole bool   // the page must be the whole list
}

// paging returns the requested page, nil for a whole list.
func (q *query) paging() *paging {
	if !q.has("per_page") && !q.has("page") && !q.has("after") {
		return nil
	}
	p := &paging{size: defaultPerPage, after: q.one("after")}
	if q.has("per_page") {
		p.size = q.integer("per_page", model.MaxPageSize)
	}
	if q.has("page") {
		p.page = q.integer("page", maxPageNumber)
		if p.after != "" {
			q.refuse("after", "The %s field must not be given together with page.")
		}
	}
	return p
}

// in returns the arguments of a list with the page.
func (p *paging) in(args model.PageArgs) model.PageArgs {
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

// servePage responds with one page and its headers Link (RFC 8288) and X-Total-Count. For a whole list it sets neither,
// and returns errTooLong if the page is not the whole list.
func (l *listRequest) servePage(w http.ResponseWriter, r *http.Request, q *query, p *paging) error {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	var body []byte
	var total int
	var next *string
	var position string
	key := cacheKey(r, l.f.tagSuffix)
	if l.wanted {
		key = nil
	}
	err := l.options.Pipeline.Run(w, r, key, pipeline.Ready(&pipeline.Operation{
		Price: l.price, MayLag: true,
		Tag: l.f.listTag,
		Read: func(ctx context.Context) (cacheable bool, err error) {
			if position, err = l.position(ctx); err != nil {
				return false, err
			}
			body = l.f.appendBegin((*buffer)[:0], l.resource)
			switch body, total, next, err = l.appendPage(ctx, body, l.f, p.in(l.args), !p.whole); {
			case err != nil:
				return false, err
			case p.whole && (next != nil || len(body) > maxShortBytes):
				return false, errTooLong
			}
			body, err = l.f.packed(append(body, l.f.end...))
			return true, err
		},
		Answer: func(w http.ResponseWriter) {
			if !p.whole {
				p.setHeaders(w.Header(), r.URL.EscapedPath(), q.values, total, next)
			}
			l.setHeaders(w, position)
			envelope.WriteBody(w, http.StatusOK, body)
		},
	}))
	if cap(body) > cap(*buffer) && cap(body) <= maxBufferBytes { // do not keep the memory of a huge page
		*buffer = body
	}
	return err
}

// errTooLong means that a whole list is too long for servePage.
var errTooLong = errors.New("the list is too long for a page")

func (p *paging) setHeaders(header http.Header, path string, values url.Values, total int, next *string) {
	header.Set("X-Total-Count", strconv.Itoa(total))
	if links := p.links(path, values, total, next); links != "" {
		header.Set("Link", links)
	}
}

// buffers are reused for the bodies of pages.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBufferBytes is the maximum size of a buffer that is reused.
const maxBufferBytes = 1 << 20

// links returns the Link header. next is the cursor of the next page, or nil. Without a page number the next page is
// linked by cursor, so that concurrent writes do not repeat or skip rows.
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
