package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"

	"library-catalogue/edge/envelope"
	"library-catalogue/edge/httpcond"
)

// storedResponse is the response of a POST stored under an Idempotency-Key.
type storedResponse struct {
	Location string
	ETag     string
	Body     json.RawMessage
}

// idempotently calls create. If the request has an Idempotency-Key that was used for an equal request, it returns the
// stored result instead, with replayed set.
func (h *handler) idempotently(
	ctx context.Context, r *http.Request, res *resource, body []byte, create func(context.Context) ([]byte, error),
) (stored []byte, replayed bool, err error) {
	key, given, err := httpcond.Key(r)
	switch {
	case err != nil:
		return nil, false, err
	case given:
		sum := sha256.Sum256(slices.Concat([]byte("POST /api/"+res.name+"\n"), body))
		return h.catalogue.Idempotent(ctx, key, hex.EncodeToString(sum[:]), create)
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
