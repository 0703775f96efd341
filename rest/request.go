package rest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"library-catalogue/graph/model"
)

// MaxBody is how many bytes the body of a request may have.
const MaxBody = 1 << 20

// badBody is a body that cannot be read as a JSON object, with its HTTP status.
type badBody struct {
	status  int
	message string
}

func (b *badBody) Error() string { return b.message }

// readForm reads the body of a request that writes.
func readForm(w http.ResponseWriter, r *http.Request) ([]byte, model.Form, error) {
	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset := strings.ToLower(params["charset"])
	if err != nil || mediaType != "application/json" || charset != "" && charset != "utf-8" && charset != "utf8" {
		return nil, nil, &badBody{http.StatusUnsupportedMediaType, "The request body must be JSON: send it with Content-Type: application/json."}
	}
	if coding := strings.Join(r.Header.Values("Content-Encoding"), ","); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, nil, &badBody{http.StatusUnsupportedMediaType, "The request body must not be compressed."}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, nil, model.Errorf(model.TooLarge, "The request body must not be larger than 1 MiB.")
	}
	if e, ok := errors.AsType[*model.Error](err); ok {
		return nil, nil, e
	}
	if err != nil {
		return nil, nil, &badBody{http.StatusBadRequest, "The request body could not be read."}
	}
	form, err := model.ParseForm(body)
	switch {
	case errors.Is(err, model.ErrNotObject):
		return nil, nil, &badBody{http.StatusBadRequest, "The request body must be a JSON object."}
	case err != nil:
		return nil, nil, &badBody{http.StatusBadRequest, "The request body is not valid JSON."}
	}
	return body, form, nil
}

// maxKey is how many characters an Idempotency-Key may have.
const maxKey = 255

// The headers of a request that may be sent again, and of an answer that was
// given before.
const (
	KeyHeader      = "Idempotency-Key"
	ReplayedHeader = "Idempotency-Replayed"
)

// IdempotencyKey gives the key of a request that has such headers.
func IdempotencyKey(keys []string) (string, error) {
	if len(keys) == 1 && len(keys[0]) > 0 && len(keys[0]) <= maxKey &&
		strings.IndexFunc(keys[0], func(r rune) bool { return r < ' ' || r > '~' }) < 0 {
		return keys[0], nil
	}
	return "", model.Errorf(model.BadUserInput, "The Idempotency-Key header must be one key of 1 to 255 printable ASCII characters.")
}

// fingerprint stands for what a POST asks for: the same request again has the
// same.
func fingerprint(of *resource, body []byte) string {
	h := sha256.New()
	h.Write([]byte("POST /api/" + of.name + "\n"))
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// answer is the answer of a POST as it is kept under an Idempotency-Key.
type answer struct {
	Location string
	ETag     string
	Body     json.RawMessage
}

func (a answer) keep() []byte { return encode(a) }

func writeAnswer(w http.ResponseWriter, kept []byte) error {
	var a answer
	if err := json.Unmarshal(kept, &a); err != nil {
		return err
	}
	w.Header().Set("Location", a.Location)
	w.Header().Set("ETag", a.ETag)
	writeBytes(w, http.StatusCreated, a.Body)
	return nil
}
