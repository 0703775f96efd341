package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"library-catalogue/server/httpcond"
)

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
func (h *handler) idempotently(ctx context.Context, r *http.Request, res *resource, body []byte, create func(context.Context) ([]byte, error)) (stored []byte, replayed bool, err error) {
	key, given, err := httpcond.Key(r)
	switch {
	case err != nil:
		return nil, false, err
	case given:
		return h.catalogue.Idempotent(ctx, key, fingerprint(res, body), create)
	}
	stored, err = create(ctx)
	return stored, false, err
}

func writeStored(w http.ResponseWriter, stored []byte) {
	var a storedAnswer
	if err := json.Unmarshal(stored, &a); err != nil {
		panic(err) // it was stored by encode
	}
	w.Header().Set("Location", a.Location)
	w.Header().Set("ETag", a.ETag)
	writeBytes(w, http.StatusCreated, a.Body)
}
