package rest

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"library-catalogue/edge/envelope"
	"library-catalogue/edge/pipeline"
	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/bookfile"
)

// maxSitemapAddresses is the maximum number of addresses in a sitemap, and of sitemaps in an index (sitemaps.org).
const maxSitemapAddresses = 50_000

const sitemapNamespace = ` xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n"

// sitemapFormat returns the format of a sitemap of the pages of books.
func sitemapFormat(publicURL string) *format {
	return &format{
		contentType: "application/xml", tagSuffix: "-sitemap", begin: "<urlset" + sitemapNamespace, end: "</urlset>\n",
		appender: func() bookfile.Appender {
			return func(dst []byte, b *model.Book, _ *model.Genre, _ *model.Category) []byte {
				return fmt.Appendf(dst, "<url><loc>%s/books/%s</loc><lastmod>%s</lastmod></url>\n", publicURL, b.ID,
					b.UpdatedAt)
			}
		},
	}
}

// sitemap responds with an index of sitemaps, or with the sitemap that the parameter part chooses. Part n has the
// books with ids above (n - 1) * maxSitemapAddresses and up to n * maxSitemapAddresses, so that new books do not move
// others to another part.
func (h *handler) sitemap(w http.ResponseWriter, r *http.Request, res *resource, _ string) error {
	q := &query{values: parseQuery(r.URL.RawQuery)}
	f := sitemapFormat(h.options.PublicURL)
	if !q.has("part") {
		return h.sitemapIndex(w, r, f)
	}
	part := int64(q.integer("part", math.MaxInt64/maxSitemapAddresses))
	if err := q.problems.Err(); err != nil {
		return err
	}
	bounds := model.Filter{
		"gt":  strconv.FormatInt((part-1)*maxSitemapAddresses, 10),
		"lte": strconv.FormatInt(part*maxSitemapAddresses, 10),
	}
	rows := min(h.catalogue.Sizes().Of(res.typename), maxSitemapAddresses)
	price := cost.Estimate{Total: max(1, rows*res.rowCost/wholeListDivisor)}
	l := &listRequest{handler: h, resource: res, f: f, args: model.PageArgs{Filter: model.Filter{"id": bounds}},
		price: price}
	return l.serveWhole(w, r, false)
}

// sitemapIndex responds with the index of the parts that have books.
func (h *handler) sitemapIndex(w http.ResponseWriter, r *http.Request, f *format) error {
	var body []byte
	price := cost.Estimate{Total: 1 + h.catalogue.Sizes().Of("Book")/maxSitemapAddresses}
	return h.options.Pipeline.Run(w, r, cacheKey(r, f.tagSuffix), pipeline.Ready(&pipeline.Operation{
		Price: price,
		Tag:   f.listTag,
		Read: func(ctx context.Context) (cacheable bool, err error) {
			body = append(body[:0], "<sitemapindex"+sitemapNamespace...)
			last, one := model.ID(0), 1
			for range maxSitemapAddresses {
				after := model.Filter{"id": model.Filter{"gt": last.String()}}
				books, err := h.catalogue.Query().Books(ctx, &one, nil, nil, nil, nil, after, nil, nil)
				if err != nil {
					return false, err
				}
				nodes, err := books.Nodes(ctx)
				if err != nil {
					return false, err
				}
				if len(nodes) == 0 {
					break
				}
				part := (nodes[0].ID-1)/maxSitemapAddresses + 1
				body = fmt.Appendf(body, "<sitemap><loc>%s/sitemap.xml?part=%d</loc></sitemap>\n",
					h.options.PublicURL, part)
				last = part * maxSitemapAddresses
			}
			body = append(body, "</sitemapindex>\n"...)
			return true, nil
		},
		Answer: func(w http.ResponseWriter) {
			f.setHeaders(w, "")
			envelope.WriteBody(w, http.StatusOK, body)
		},
	}))
}
