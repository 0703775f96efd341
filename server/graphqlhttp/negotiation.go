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
	// graphQLResponse is the media type of GraphQL over HTTP. With it the status tells of errors (statuses).
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
	var plain, own, stream preference
	for _, p := range httpcond.Preferences(accept) {
		if charset, given := p.Params["charset"]; given && !strings.EqualFold(charset, "utf-8") {
			continue
		}
		plain.add(p, "*/*", "application/*", plainJSON)
		own.add(p, "*/*", "application/*", graphQLResponse)
		stream.add(p, "text/*", eventStream)
	}
	events = stream.Weight > 0
	switch {
	case stream.Weight > max(own.Weight, plain.Weight):
		return eventStream, true
	case own.Weight > plain.Weight, own.Weight == plain.Weight && own.Name == graphQLResponse && own.Weight > 0:
		return graphQLResponse, events
	case plain.Weight > 0:
		return plainJSON, events
	}
	return "", events
}

func varyByAccept(header http.Header) {
	if !slices.Contains(header["Vary"], "Accept") {
		header["Vary"] = append(header["Vary"], "Accept")
	}
}

// preference is the element of the Accept headers for a media type: the most specific one, and the first of these.
type preference struct {
	httpcond.Preference
	exactness int
}

// add takes an element if it names one of ranges, the least exact one first.
func (p *preference) add(element httpcond.Preference, ranges ...string) {
	if exactness := 1 + slices.Index(ranges, element.Name); exactness > p.exactness {
		*p = preference{element, exactness}
	}
}
