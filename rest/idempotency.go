package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"library-catalogue/graph/model"
)

// maxKey is how many characters an Idempotency-Key may have.
const maxKey = 255

// The headers of a request that may be sent again, and of an answer that was
// returned before.
const (
	KeyHeader      = "Idempotency-Key"
	ReplayedHeader = "Idempotency-Replayed"
)

// IdempotencyKey returns the key of a request that has such headers.
func IdempotencyKey(keys []string) (string, error) {
	if len(keys) == 1 && len(keys[0]) > 0 && len(keys[0]) <= maxKey &&
		strings.IndexFunc(keys[0], func(r rune) bool { return r < ' ' || r > '~' }) < 0 {
		return keys[0], nil
	}
	return "", model.Errorf(model.BadUserInput, "The Idempotency-Key header must be one key of 1 to 255 printable ASCII characters.")
}

// fingerprint stands for what a POST asks for: the same request again has the
// same.
func fingerprint(res *resource, body []byte) string {
	h := sha256.New()
	h.Write([]byte("POST /api/" + res.name + "\n"))
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// storedAnswer is the answer of a POST as it is stored under an Idempotency-Key.
type storedAnswer struct {
	Location string
	ETag     string
	Body     json.RawMessage
}

// idempotently runs create, or returns what it returned for the same request
// under the same Idempotency-Key before.
func (h *handler) idempotently(r *http.Request, res *resource, body []byte, create func(context.Context) ([]byte, error)) (stored []byte, replayed bool, err error) {
	keys := r.Header.Values(KeyHeader)
	if len(keys) == 0 {
		stored, err = create(r.Context())
		return stored, false, err
	}
	key, err := IdempotencyKey(keys)
	if err != nil {
		return nil, false, err
	}
	return h.catalogue.Idempotent(r.Context(), key, fingerprint(res, body), create)
}

func writeStored(w http.ResponseWriter, stored []byte) error {
	var a storedAnswer
	if err := json.Unmarshal(stored, &a); err != nil {
		return err
	}
	w.Header().Set("Location", a.Location)
	w.Header().Set("ETag", a.ETag)
	writeBytes(w, http.StatusCreated, a.Body)
	return nil
}
