package envelope

import (
	"testing"

	"library-catalogue/graph/model"
)

// TestStatuses demands an HTTP status, and one of an error, for every kind of
// failure there is.
func TestStatuses(t *testing.T) {
	t.Parallel()
	for _, code := range model.Codes {
		if got := status[code]; got < 400 || got > 599 {
			t.Errorf("%s has the status %d", code, got)
		}
	}
	if len(status) != len(model.Codes) {
		t.Errorf("there are %d statuses for %d codes", len(status), len(model.Codes))
	}
}
