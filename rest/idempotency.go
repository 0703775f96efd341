package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"library-catalogue/edge/envelope"
	"library-catalogue/edge/httpcond"
)

// fingerprint returns a hash of a POST request. Equal requests have equal fingerprints.
func fingerprint(res *resource, body []byte) string {
	h := sha256.New()
	h.Write([]byte("POST /api/" + res.name + "\n"))
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// storedResponse is the response of a POST stored under an Idempotency-Key.
type storedResponse struct {
	Location string
	ETag     string
	Body     json.RawMessage
}

// idempotently calls create. If the request has an Idempotency-Key that was used for an equal request, it returns the
// stored result instead, with replayed set.
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
	var response storedResponse
	if err := json.Unmarshal(stored, &response); err != nil {
		panic(err) // encode has written it
	}
	w.Header().Set("Location", response.Location)
	w.Header().Set("ETag", response.ETag)
	envelope.WriteJSON(w, http.StatusCreated, response.Body)
}
