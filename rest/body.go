package rest

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"library-catalogue/edge/envelope"
	"library-catalogue/graph/model"
)

// MaxBodyBytes is the maximum size of a request body.
const MaxBodyBytes = 1 << 20

// readForm reads and parses the JSON body of a write.
func readForm(w http.ResponseWriter, r *http.Request) ([]byte, model.Form, error) {
	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset := strings.ToLower(params["charset"])
	if err != nil || mediaType != "application/json" || charset != "" && charset != "utf-8" && charset != "utf8" {
		return nil, nil, envelope.Error(http.StatusUnsupportedMediaType,
			"The request body must be JSON: send it with Content-Type: application/json.")
	}
	if coding := strings.Join(r.Header.Values("Content-Encoding"), ","); coding != "" &&
		!strings.EqualFold(coding, "identity") {
		return nil, nil, envelope.Error(http.StatusUnsupportedMediaType, "The request body must not be compressed.")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBodyBytes))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, nil, model.Errorf(model.TooLarge, "The request body must not be larger than 1 MiB.")
	}
	if e, ok := errors.AsType[*model.Error](err); ok {
		return nil, nil, e
	}
	if err != nil {
		return nil, nil, envelope.Error(http.StatusBadRequest, "The request body could not be read.")
	}
	form, err := model.ParseForm(body)
	switch {
	case errors.Is(err, model.ErrNotObject):
		return nil, nil, envelope.Error(http.StatusBadRequest, "The request body must be a JSON object.")
	case err != nil:
		return nil, nil, envelope.Error(http.StatusBadRequest, "The request body is not valid JSON.")
	}
	return body, form, nil
}
