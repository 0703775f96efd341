package httpcond

import (
	"net/http"
	"strings"

	"library-catalogue/graph/model"
)

// PositionHeader is the header of a response with the newest position of the changes that it sees. A request asks for
// it with the value report.
const PositionHeader = "Catalogue-Position"

// WantsTexts reports whether the headers of a request ask for the keys and arguments of messages beside their English.
// The scripts of the pages do.
func WantsTexts(header http.Header) bool { return header.Get("Catalogue-Texts") == "report" }

// WantsPosition reports whether the headers of a request ask for the position. Such a response is not cached, because
// positions move later than the revision.
func WantsPosition(header http.Header) (bool, error) {
	return WantsReport(header[PositionHeader], PositionHeader+" of a request")
}

// WantsReport reports whether a header has the value report. The error is BadUserInput for other values.
func WantsReport(values []string, name string) (bool, error) {
	switch {
	case len(values) == 0:
		return false, nil
	case len(values) == 1 && strings.EqualFold(values[0], "report"):
		return true, nil
	}
	return false, model.Errorf(model.BadUserInput, "The header %s has one value: report.", name)
}
