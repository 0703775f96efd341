package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"library-catalogue/rest"
)

// openAPI answers the description of /api.
func openAPI() http.HandlerFunc {
	sum := sha256.Sum256(rest.OpenAPI)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/yaml") // RFC 9512
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(rest.OpenAPI))
	}
}
