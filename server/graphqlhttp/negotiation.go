package graphqlhttp

import (
	"net/http"
	"slices"
	"strings"

	"library-catalogue/server/httpcond"
)

const (
	plainJSON = "application/json"
	// graphQLResponse is the media type of GraphQL over HTTP. With it an invalid document or variable
	// has status 400; with plainJSON it has 200.
	graphQLResponse = "application/graphql-response+json"
)

// contentTypes are the Content-Type headers of the media types.
var contentTypes = map[string][]string{
	plainJSON:       {plainJSON + "; charset=utf-8"},
	graphQLResponse: {graphQLResponse + "; charset=utf-8"},
}

// negotiate returns the media type that the Accept headers prefer (RFC 9110, section 12.5.1). The
// default is application/json. ok is false if the headers accept neither.
func negotiate(accept []string) (mediaType string, ok bool) {
	if len(accept) == 0 {
		return plainJSON, true
	}
	if len(accept) == 1 { // common headers need no parsing
		switch accept[0] {
		case "", "*/*", plainJSON:
			return plainJSON, true
		case graphQLResponse:
			return graphQLResponse, true
		}
	}
	plain, own := preference{}, preference{}
	for _, p := range httpcond.Preferences(accept) {
		if charset, given := p.Params["charset"]; given && !strings.EqualFold(charset, "utf-8") {
			continue
		}
		switch p.Name {
		case plainJSON:
			plain.add(3, p.Weight)
		case graphQLResponse:
			own.add(3, p.Weight)
		case "application/*":
			plain.add(2, p.Weight)
			own.add(2, p.Weight)
		case "*/*":
			plain.add(1, p.Weight)
			own.add(1, p.Weight)
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

// varyByAccept adds Accept to the Vary header.
func varyByAccept(header http.Header) {
	if !slices.Contains(header["Vary"], "Accept") {
		header["Vary"] = append(header["Vary"], "Accept")
	}
}

// preference is the weight of a media type in the most specific matching range.
type preference struct {
	exactness int
	quality   float64
}

func (p *preference) add(exactness int, quality float64) {
	if exactness > p.exactness {
		*p = preference{exactness, quality}
	}
}
