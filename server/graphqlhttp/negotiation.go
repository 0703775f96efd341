package graphqlhttp

import (
	"net/http"
	"slices"
	"strings"

	"library-catalogue/edge/eventstream"
	"library-catalogue/edge/httpcond"
)

const (
	plainJSON = "application/json"
	// graphQLResponse is the media type of GraphQL over HTTP. With it an invalid document or variable
	// has status 400; with plainJSON it has 200.
	graphQLResponse = "application/graphql-response+json"
)

// eventStream is the media type of GraphQL over server-sent events, in distinct connections mode
// (github.com/enisdenjo/graphql-sse, PROTOCOL.md).
const eventStream = eventstream.MediaType

// contentTypes are the Content-Type headers of the media types.
var contentTypes = map[string][]string{
	plainJSON:       {plainJSON + "; charset=utf-8"},
	graphQLResponse: {graphQLResponse + "; charset=utf-8"},
	eventStream:     {eventStream},
}

// negotiate returns the media type that the Accept headers prefer (RFC 9110, section 12.5.1), and
// whether they name an event stream, which */* does not: a client that cannot read one would wait for
// ever. The default is application/json. Only a higher weight selects an event stream for other
// operations than subscriptions, because some clients accept it in every request. The media type is
// empty if the headers accept none.
func negotiate(accept []string) (mediaType string, events bool) {
	if len(accept) == 0 {
		return plainJSON, false
	}
	if len(accept) == 1 { // common headers need no parsing
		switch accept[0] {
		case "", "*/*":
			return plainJSON, false
		case plainJSON, graphQLResponse:
			return accept[0], false
		}
	}
	plain, own, stream := preference{}, preference{}, preference{}
	for _, p := range httpcond.Preferences(accept) {
		if charset, given := p.Params["charset"]; given && !strings.EqualFold(charset, "utf-8") {
			continue
		}
		switch p.Name {
		case plainJSON:
			plain.add(3, p.Weight)
		case graphQLResponse:
			own.add(3, p.Weight)
		case eventStream:
			stream.add(3, p.Weight)
		case "text/*":
			stream.add(2, p.Weight)
		case "application/*":
			plain.add(2, p.Weight)
			own.add(2, p.Weight)
		case "*/*":
			plain.add(1, p.Weight)
			own.add(1, p.Weight)
		}
	}
	events = stream.quality > 0
	switch {
	case stream.quality > max(own.quality, plain.quality):
		return eventStream, true
	case own.quality > plain.quality, own.quality == plain.quality && own.exactness == 3 && own.quality > 0:
		return graphQLResponse, events
	case plain.quality > 0:
		return plainJSON, events
	}
	return "", events
}

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
