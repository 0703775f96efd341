package server

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzhttp"
)

// codings are the content codings of compressed answers, the best first.
var codings = []string{"zstd", "gzip"}

// newCompress returns the stage that compresses answers in the coding of their
// request. Their ETags end with its name.
func newCompress() (middleware, error) {
	wrap, err := gzhttp.NewWrapper(gzhttp.SuffixETag("-gzip"))
	return func(next http.Handler) http.Handler { return wrap(next) }, err
}

// chooseCoding puts the content coding that an answer is to have in place of a
// request's Accept-Encoding, so that all who look at that choose alike. HEAD is
// answered uncompressed: nothing is sent that could be compressed.
func chooseCoding(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if accepted := r.Header["Accept-Encoding"]; accepted != nil {
			delete(r.Header, "Accept-Encoding")
			if coding := preferredCoding(accepted); coding != "" && r.Method != http.MethodHead {
				r.Header["Accept-Encoding"] = []string{coding}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// preferredCoding returns which of the codings a client prefers, "" where it accepts
// none (RFC 9110, section 12.5.3).
func preferredCoding(accepted []string) (preferred string) {
	best := 0.0
	for element := range strings.SplitSeq(strings.Join(accepted, ","), ",") {
		name, parameter, weighted := strings.Cut(element, ";")
		i := slices.Index(codings, strings.ToLower(strings.TrimSpace(name)))
		if i < 0 {
			continue
		}
		weight := 1.0
		if weighted {
			_, value, _ := strings.Cut(parameter, "=")
			weight, _ = strconv.ParseFloat(strings.TrimSpace(value), 64) // 0 for what is no number
		}
		if weight > best || weight == best && weight > 0 && codings[i] == codings[0] {
			preferred, best = codings[i], weight
		}
	}
	return preferred
}
