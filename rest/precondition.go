package rest

import (
	"net/http"
	"strings"

	"library-catalogue/graph/model"
)

// NotModified puts the ETag into the answer, and answers 304 where the client
// has what the tag stands for (RFC 9110 section 13.1.2). The 304 names the tag
// that the client's answer had, compressed or not (section 15.4.5).
func NotModified(w http.ResponseWriter, r *http.Request, tag string) bool {
	known, ok := named(r.Header.Values("If-None-Match"), tag, weakly)
	if !ok {
		w.Header().Set("ETag", tag)
		return false
	}
	w.Header().Set("ETag", known)
	w.WriteHeader(http.StatusNotModified)
	return true
}

// never is a version that no row has.
const never int64 = -1

// expected gives the version that the row must still have when it is written,
// or nil where the request sets no condition (RFC 9110 sections 13.1.1 and
// 13.1.2). Tags also speak of what is nested in the object, so they are compared
// here. With an error the version is never.
func (h *handler) expected(r *http.Request, of *resource, id string) (*int64, error) {
	match, noneMatch := r.Header.Values("If-Match"), r.Header.Values("If-None-Match")
	if len(match) == 0 && len(noneMatch) == 0 {
		return nil, nil
	}
	refused := never
	found, err := h.find(r.Context(), of, id)
	if err != nil {
		return &refused, err
	}
	if _, ok := named(match, found.tag, strongly); !ok && len(match) > 0 {
		return &refused, model.Errorf(model.Stale, "%s was changed by someone else. Read it again.", of.noun)
	}
	if _, ok := named(noneMatch, found.tag, weakly); ok {
		return &refused, model.Errorf(model.Stale, "%s is one that the If-None-Match header excludes.", of.noun)
	}
	return &found.version, nil
}

// comparison is one of the two ways to compare tags (RFC 9110 section 8.8.3.2).
type comparison bool

const (
	strongly comparison = false // weak tags are like no other
	weakly   comparison = true
)

// named looks for tag in the lines of an If-Match or If-None-Match header, and
// gives it as an answer carried it. The tag of a compressed answer stands for the
// same object. "*" names every tag.
func named(lines []string, tag string, how comparison) (string, bool) {
	list := strings.Join(lines, ",")
	if strings.TrimSpace(list) == "*" {
		return tag, true
	}
	for given := range strings.SplitSeq(list, ",") {
		given = strings.TrimSpace(given)
		if how == weakly {
			given = strings.TrimPrefix(given, "W/")
		}
		opaque := given
		for _, coding := range []string{`-gzip"`, `-zstd"`} {
			if bare, ok := strings.CutSuffix(opaque, coding); ok {
				opaque = bare + `"`
			}
		}
		if opaque == tag {
			return given, true
		}
	}
	return "", false
}
