package graphqlhttp

import (
	"net/http"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/rest"
)

// noCache lets a cache store an answer that it asks about each time.
var noCache = []string{"no-cache"}

// notModified answers 304 where the client has the answer of an operation that is
// about to be executed: only then is there a condition to look at (RFC 9110,
// section 13.2.1). It is called in any case before setETag.
func (h *Handler) notModified(w http.ResponseWriter, r *http.Request, mediaType string) bool {
	revision, err := h.Catalogue.Revision(r.Context())
	if err != nil {
		return false // the statements find out for themselves what is wrong
	}
	w.Header()["Cache-Control"] = noCache
	if rest.NotModified(w, r, etag(mediaType, revision)) {
		return true
	}
	w.Header().Del("Cache-Control") // until there is an answer that they stand for
	w.Header().Del("ETag")
	return false
}

// setETag gives an answer the ETag of its revision, where that was the same before,
// when notModified read it, and after its statements.
func (h *Handler) setETag(w http.ResponseWriter, r *http.Request, mediaType string) {
	before, err := h.Catalogue.Revision(r.Context())
	if err != nil {
		return
	}
	after, err := h.Catalogue.Revision(h.Catalogue.WithLoaders(r.Context()))
	if err == nil && before == after {
		w.Header().Set("ETag", etag(mediaType, before))
		w.Header()["Cache-Control"] = noCache
	}
}

// etag returns the ETag of every answer at a revision in a media type.
func etag(mediaType string, revision model.Revision) string {
	tag := rest.RevisionTag(revision.Catalogue)
	if mediaType == graphQLResponse {
		return strings.TrimSuffix(tag, `"`) + `-graphql"`
	}
	return tag
}
