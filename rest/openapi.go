package rest

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"time"
)

// OpenAPI describes everything under /api (OpenAPI Specification 3.0.3), as YAML.
//
//go:embed openapi.yaml
var OpenAPI []byte

// ServeOpenAPI answers with OpenAPI.
func ServeOpenAPI(w http.ResponseWriter, r *http.Request) {
	sum := sha256.Sum256(OpenAPI)
	w.Header().Set("Content-Type", "application/yaml") // RFC 9512
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(OpenAPI))
}
