// Package httpcond reads the headers of a request on which its answer depends: entity tags
// (RFC 9110, section 13), Idempotency-Key (draft-ietf-httpapi-idempotency-key-header) and
// Accept with its like (RFC 9110, section 12.5).
package httpcond

import (
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
)

// RevisionTag is the ETag of every list, whole or in part, at a revision.
func RevisionTag(revision int64) string { return fmt.Sprintf(`"r%d"`, revision) }

// SuffixTag adds to the end of a tag.
func SuffixTag(tag, suffix string) string { return strings.TrimSuffix(tag, `"`) + suffix + `"` }

// NotModified puts the ETag into the answer, and answers 304 where the client
// has what the tag stands for (RFC 9110 section 13.1.2). The 304 names the tag
// that the client's answer had, compressed or not (section 15.4.5).
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

// IfMatchAllows reports whether the request's If-Match, if it has one, has the tag.
func IfMatchAllows(r *http.Request, tag string) bool {
	lines := r.Header.Values("If-Match")
	_, ok := findTag(lines, tag, strongly)
	return ok || len(lines) == 0
}

// comparison is one of the two ways to compare tags (RFC 9110 section 8.8.3.2).
type comparison bool

const (
	strongly comparison = false // weak tags are like no other
	weakly   comparison = true
)

// findTag looks for tag in the lines of an If-Match or If-None-Match header, and
// returns it as an answer carried it. The tag of a compressed answer stands for the
// same object. "*" names every tag.
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
		for _, coding := range []string{`-gzip"`, `-zstd"`} {
			if bare, ok := strings.CutSuffix(opaque, coding); ok {
				opaque = bare + `"`
			}
		}
		if opaque == tag {
			return candidate, true
		}
	}
	return "", false
}

// maxKey is how many characters an Idempotency-Key may have.
const maxKey = 255

// ReplayedHeader is the header of an answer that was returned before.
const ReplayedHeader = "Idempotency-Replayed"

// Key returns the Idempotency-Key of a request, and whether it has one.
func Key(r *http.Request) (key string, given bool, err error) {
	keys := r.Header.Values("Idempotency-Key")
	if len(keys) == 0 {
		return "", false, nil
	}
	if len(keys) == 1 && len(keys[0]) > 0 && len(keys[0]) <= maxKey &&
		strings.IndexFunc(keys[0], func(r rune) bool { return r < ' ' || r > '~' }) < 0 {
		return keys[0], true, nil
	}
	return "", true, model.Errorf(model.BadUserInput, "The Idempotency-Key header must be one key of 1 to 255 printable ASCII characters.")
}

// Preference is what an element of an Accept header says.
type Preference struct {
	Name   string // in lower case
	Params map[string]string
	Weight float64 // from 0, which is not acceptable, to 1
}

// Preferences returns the elements of the lines of an Accept header, or one like it (RFC
// 9110, section 12.4.2). Those that are not well formed are left out.
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
