package server

import (
	"net/http"

	"github.com/klauspost/compress/gzhttp"

	"library-catalogue/server/httpcond"
)

// codings are the content codings of compressed answers.
var codings = []string{"zstd", "gzip"}

// newCompress returns the stage that compresses answers in the coding of their
// request. Their ETags end with its name.
func newCompress() (middleware, error) {
	wrap, err := gzhttp.NewWrapper(gzhttp.SuffixETag("-gzip"))
	return func(next http.Handler) http.Handler { return wrap(next) }, err
}

// chooseCoding puts the content coding that an answer is to have in place of a
// request's Accept-Encoding, so that all who look at that choose alike. Where that
// is zstd and the client accepts gzip too, gzip follows: some files are there in it
// alone. HEAD is answered uncompressed: nothing is sent that could be compressed.
func chooseCoding(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if accepted := r.Header["Accept-Encoding"]; accepted != nil {
			delete(r.Header, "Accept-Encoding")
			if chosen := chosenCodings(accepted); chosen != "" && r.Method != http.MethodHead {
				r.Header["Accept-Encoding"] = []string{chosen}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// chosenCodings returns what is left of Accept-Encoding headers (RFC 9110, section
// 12.5.3): the coding that the client prefers of ours, which is zstd where it has no
// preference, and "" where it accepts neither.
func chosenCodings(accepted []string) string {
	var zstd, gzip float64 // weights
	for _, p := range httpcond.Preferences(accepted) {
		switch p.Name {
		case "zstd":
			zstd = p.Weight
		case "gzip":
			gzip = p.Weight
		}
	}
	switch {
	case zstd > 0 && zstd >= gzip && gzip > 0:
		return "zstd, gzip"
	case zstd > 0 && zstd >= gzip:
		return "zstd"
	case gzip > 0:
		return "gzip"
	}
	return ""
}
