package graphqlhttp

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const (
	plainJSON = "application/json"
	// graphQLResponse is the media type of GraphQL over HTTP. The status of such
	// an answer speaks of the operation, and not of the transport alone.
	graphQLResponse = "application/graphql-response+json"
)

// contentTypes are the Content-Type headers of the media types.
var contentTypes = map[string][]string{
	plainJSON:       {plainJSON + "; charset=utf-8"},
	graphQLResponse: {graphQLResponse + "; charset=utf-8"},
}

// mediaType gives the media type that a client is answered in: the one that it
// prefers (RFC 9110, section 12.5.1), application/json where it says nothing of
// either. ok is false where it accepts neither.
func mediaType(r *http.Request) (chosen string, ok bool) {
	header := r.Header["Accept"]
	if len(header) == 0 {
		return plainJSON, true
	}
	if len(header) == 1 {
		switch header[0] {
		case "", "*/*", plainJSON:
			return plainJSON, true
		case graphQLResponse:
			return graphQLResponse, true
		}
	}
	plain, own := preference{}, preference{}
	for _, element := range strings.Split(strings.Join(header, ","), ",") {
		name, params, err := mime.ParseMediaType(element)
		if err != nil {
			continue
		}
		quality := 1.0
		if q, given := params["q"]; given {
			if quality, err = strconv.ParseFloat(q, 64); err != nil || !(quality >= 0 && quality <= 1) {
				continue
			}
		}
		if charset, given := params["charset"]; given && !strings.EqualFold(charset, "utf-8") {
			continue
		}
		switch name {
		case plainJSON:
			plain.say(3, quality)
		case graphQLResponse:
			own.say(3, quality)
		case "application/*":
			plain.say(2, quality)
			own.say(2, quality)
		case "*/*":
			plain.say(1, quality)
			own.say(1, quality)
		}
	}
	switch {
	case own.quality > plain.quality, own.quality == plain.quality && own.exactness == 3 && own.quality > 0:
		return graphQLResponse, true
	case plain.quality > 0:
		return plainJSON, true
	}
	return plainJSON, false
}

// varyByAccept says that the media type of an answer follows from Accept.
func varyByAccept(header http.Header) {
	if !slices.Contains(header["Vary"], "Accept") {
		header["Vary"] = append(header["Vary"], "Accept")
	}
}

// preference is what the most exact range of an Accept header that matches a
// media type says of it.
type preference struct {
	exactness int
	quality   float64
}

func (p *preference) say(exactness int, quality float64) {
	if exactness > p.exactness {
		*p = preference{exactness, quality}
	}
}
