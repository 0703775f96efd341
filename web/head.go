package web

import (
	"net/http"
	"net/url"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/citation"
)

// Names returns the names of the authors.
func (b *wholeBook) Names() []citation.Name { return citation.Names(b.Author) }

// SlashedDate returns the day of publication like 1937/09/21.
func (b *wholeBook) SlashedDate() string { return strings.ReplaceAll(b.PublishedAt, "-", "/") }

// Citations returns the formats of citations.
func (b *wholeBook) Citations() []citation.Format { return citation.Formats }

// LinkedData returns the book in the vocabulary of schema.org. Without a public URL it has no address.
func (p *page) LinkedData() map[string]any {
	b := p.Main.(*wholeBook)
	var authors []map[string]string
	for _, name := range b.Names() {
		kind := "Person"
		if name.Institution {
			kind = "Organization"
		}
		authors = append(authors, map[string]string{"@type": kind, "name": name.Text})
	}
	data := map[string]any{
		"@context": "https://schema.org", "@type": "Book", "name": b.Name, "author": authors,
		"datePublished": b.PublishedAt, "numberOfPages": b.Pages, "genre": b.Genre.Name,
	}
	if b.Description != nil {
		data["description"] = *b.Description
	}
	if p.PublicURL != "" {
		data["url"] = p.PublicURL + p.Path
	}
	return data
}

// ContextObject returns the book as COinS, the title of a span that reference managers read (OpenURL, ANSI Z39.88).
func (b *wholeBook) ContextObject() string {
	values := url.Values{
		"ctx_ver": {"Z39.88-2004"}, "rft_val_fmt": {"info:ofi/fmt:kev:mtx:book"}, "rft.genre": {"book"},
		"rft.btitle": {b.Name}, "rft.date": {b.PublishedAt},
	}
	for _, name := range b.Names() {
		values.Add("rft.au", name.Sorted())
	}
	return strings.ReplaceAll(values.Encode(), "+", "%20")
}

// citedOr redirects a request for a citation of a book to /api, by the suffix of its path or by Accept. It calls page for
// others.
func citedOr(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept")
		for _, f := range citation.Formats {
			id, hasSuffix := strings.CutSuffix(r.PathValue("id"), f.Suffix)
			accepted := strings.Contains(r.Header.Get("Accept"), f.MediaType()) && !WantsPage(r)
			if (hasSuffix || accepted) && model.ParseID(id) > 0 {
				http.Redirect(w, r, "/api/books/"+id+f.Suffix, http.StatusSeeOther)
				return
			}
		}
		page.ServeHTTP(w, r)
	})
}

// robots returns the handler of robots.txt (RFC 9309).
func robots(cfg Config) http.HandlerFunc {
	text := "User-agent: *\nDisallow: /api\nDisallow: /graphql\nDisallow: /playground\nDisallow: /login\nDisallow: /books/new\n"
	if cfg.PublicURL != "" && !cfg.Off {
		text += "Sitemap: " + cfg.PublicURL + "/sitemap.xml\n"
	}
	if cfg.NoRobots {
		text = "User-agent: *\nDisallow: /\n"
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte(text))
	}
}
