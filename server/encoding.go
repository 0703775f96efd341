package server

import (
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/zstd"

	"library-catalogue/edge/eventstream"
	"library-catalogue/edge/httpcond"
)

var encodings = []string{"zstd", "gzip"}

// newCompress returns middleware that compresses responses, but not event streams, because an encoder for each open
// stream would take too much memory. The ETag of a compressed response ends with the encoding.
func newCompress(gzipLevel int, zstdLevel zstd.EncoderLevel) (middleware, error) {
	wrap, err := gzhttp.NewWrapper(gzhttp.CompressionLevel(gzipLevel), gzhttp.ZstdCompressionLevel(int(zstdLevel)),
		gzhttp.SuffixETag("-gzip"), gzhttp.ContentTypeFilter(func(mediaType string) bool {
			return mediaType != eventstream.MediaType && gzhttp.DefaultContentTypeFilter(mediaType)
		}))
	return func(next http.Handler) http.Handler { return wrap(next) }, err
}

// negotiateEncoding reduces Accept-Encoding to the chosen encoding, so that later handlers agree on it. gzip follows
// zstd if the client accepts both, because some responses exist in gzip only. Responses to HEAD are not compressed.
func negotiateEncoding(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if accepted := r.Header["Accept-Encoding"]; accepted != nil {
			delete(r.Header, "Accept-Encoding")
			if chosen := chooseEncodings(accepted); chosen != "" && r.Method != http.MethodHead {
				r.Header["Accept-Encoding"] = []string{chosen}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// chooseEncodings returns the reduced value of Accept-Encoding headers (RFC 9110, section 12.5.3). It returns "" if
// the client accepts neither gzip nor zstd, and prefers zstd at equal weights.
func chooseEncodings(accepted []string) string {
	var zstd, gzip float64 // weights
	for _, p := range httpcond.Preferences(accepted) {
		switch p.Name {
		case "zstd":
			zstd = p.Weight
		case "gzip":
			gzip = p.Weight
		}
	}
	var chosen []string
	if zstd > 0 && zstd >= gzip {
		chosen = append(chosen, "zstd")
	}
	if gzip > 0 {
		chosen = append(chosen, "gzip")
	}
	return strings.Join(chosen, ", ")
}
