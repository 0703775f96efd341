// Package httpcond reads request headers that change the response: conditions (RFC 9110, section 13),
// Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07) and content negotiation (RFC 9110, section 12.5).
package httpcond

import (
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
)

// MethodQuery is a safe method with a body (RFC 10008).
const MethodQuery = "QUERY"

// IsRead reports whether a response to the method may be stored and revalidated.
func IsRead(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == MethodQuery
}

// RevisionTag returns the ETag of all lists and pages at a revision.
func RevisionTag(revision int64) string { return fmt.Sprintf(`"r%d"`, revision) }

// SuffixTag appends suffix to the opaque part of a tag.
func SuffixTag(tag, suffix string) string { return strings.TrimSuffix(tag, `"`) + suffix + `"` }

// NotModified sets the ETag header. If the request's If-None-Match has the tag, it responds with 304 and returns true
// (RFC 9110, section 13.1.2). The ETag of a 304 is the one that the client sent (section 15.4.5).
func NotModified(w http.ResponseWriter, r *http.Request, tag string) bool {
	known, ok := findTag(r.Header.Values("If-None-Match"), tag, weakly)
	if !ok {
		w.Header().Set("ETag", tag)
		return false
	}
	w.Header().Set("ETag", known)
	w.WriteHeader(http.StatusNotModified)
	return true
}

// IfNoneMatchHas reports whether the request's If-None-Match has the tag.
func IfNoneMatchHas(r *http.Request, tag string) bool {
	_, ok := findTag(r.Header.Values("If-None-Match"), tag, weakly)
	return ok
}

// IfMatchAllows reports whether the request has no If-Match or one with the tag.
func IfMatchAllows(r *http.Request, tag string) bool {
	lines := r.Header.Values("If-Match")
	_, ok := findTag(lines, tag, strongly)
	return ok || len(lines) == 0
}

// comparison is a way to compare tags (RFC 9110, section 8.8.3.2).
type comparison bool

const (
	strongly comparison = false // weak tags never match
	weakly   comparison = true
)

// findTag looks for tag in the lines of an If-Match or If-None-Match header and returns the tag that the client sent.
// Tags of compressed responses match too. "*" matches every tag.
func findTag(lines []string, tag string, how comparison) (string, bool) {
	list := strings.Join(lines, ",")
	if strings.TrimSpace(list) == "*" {
		return tag, true
	}
	for candidate := range strings.SplitSeq(list, ",") {
		candidate = strings.TrimSpace(candidate)
		if how == weakly {
			candidate = strings.TrimPrefix(candidate, "W/")
		}
		opaque := candidate
		for _, encoding := range []string{`-gzip"`, `-zstd"`} {
			if bare, ok := strings.CutSuffix(opaque, encoding); ok {
				opaque = bare + `"`
			}
		}
		if opaque == tag {
			return candidate, true
		}
	}
	return "", false
}

// maxKeyChars is the maximum length of an Idempotency-Key.
const maxKeyChars = 255

// ReplayedHeader marks a stored response.
const ReplayedHeader = "Idempotency-Replayed"

// Key returns the Idempotency-Key of a request, and whether it has one.
func Key(r *http.Request) (key string, given bool, err error) {
	keys := r.Header.Values("Idempotency-Key")
	if len(keys) == 0 {
		return "", false, nil
	}
	if len(keys) == 1 && len(keys[0]) > 0 && len(keys[0]) <= maxKeyChars &&
		strings.IndexFunc(keys[0], func(r rune) bool { return r < ' ' || r > '~' }) < 0 {
		return keys[0], true, nil
	}
	return "", true, model.Errorf(model.BadUserInput,
		"The Idempotency-Key header must be one key of 1 to 255 printable ASCII characters.")
}

// Preference is an element of an Accept header.
type Preference struct {
	Name   string // in lower case
	Params map[string]string
	Weight float64 // from 0 (not acceptable) to 1
}

// Preferences parses the lines of an Accept or Accept-Encoding header (RFC 9110, section 12.4.2). Malformed elements
// are ignored.
func Preferences(lines []string) (all []Preference) {
	for element := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		name, params, err := mime.ParseMediaType(element)
		weight := 1.0
		if q, given := params["q"]; given && err == nil {
			weight, err = strconv.ParseFloat(q, 64)
		}
		if err == nil && weight >= 0 && weight <= 1 {
			all = append(all, Preference{name, params, weight})
		}
	}
	return all
}
