package rest

import (
	"fmt"
	"net/http"
	"strings"

	"library-catalogue/graph/model"
)

// RevisionTag is the ETag of every list, whole or in part, at a revision.
func RevisionTag(revision int64) string { return fmt.Sprintf(`"r%d"`, revision) }

// suffixTag adds to the end of a tag.
func suffixTag(tag, suffix string) string { return strings.TrimSuffix(tag, `"`) + suffix + `"` }

// NotModified puts the ETag into the answer, and answers 304 where the client
// has what the tag stands for (RFC 9110 section 13.1.2). The 304 names the tag
// that the client's answer had, compressed or not (section 15.4.5).
func NotModified(w http.ResponseWriter, r *http.Request, tag string) bool {
	known, ok := knownTag(r, tag)
	if !ok {
		w.Header().Set("ETag", tag)
		return false
	}
	w.Header().Set("ETag", known)
	w.WriteHeader(http.StatusNotModified)
	return true
}

// knownTag returns the tag of If-None-Match that matches tag.
func knownTag(r *http.Request, tag string) (known string, ok bool) {
	return findTag(r.Header.Values("If-None-Match"), tag, weakly)
}

// noVersion is a version that no row has.
const noVersion int64 = -1

// expectedVersion returns the version that the row must still have when it is written,
// or nil where the request sets no condition (RFC 9110 sections 13.1.1 and
// 13.1.2). Tags also speak of what is nested in the object, so they are compared
// here. With an error the version is noVersion.
func (h *handler) expectedVersion(r *http.Request, res *resource, id string) (*int64, error) {
	match, noneMatch := r.Header.Values("If-Match"), r.Header.Values("If-None-Match")
	if len(match) == 0 && len(noneMatch) == 0 {
		return nil, nil
	}
	refused := noVersion
	found, err := h.find(r.Context(), res, id)
	if err != nil {
		return &refused, err
	}
	if _, ok := findTag(match, found.tag, strongly); !ok && len(match) > 0 {
		return &refused, model.Errorf(model.Stale, "%s was changed by someone else. Read it again.", res.noun)
	}
	if _, ok := findTag(noneMatch, found.tag, weakly); ok {
		return &refused, model.Errorf(model.Stale, "%s is one that the If-None-Match header excludes.", res.noun)
	}
	return &found.version, nil
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
