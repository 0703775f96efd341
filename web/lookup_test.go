package web_test

import (
	"net/http"
	"strings"
	"testing"

	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

// TestISBNFirst puts the ISBN first in the form of a new book alone. Without sources it says how an operator adds them.
func TestISBNFirst(t *testing.T) {
	c := servertest.Shelved(t)
	const off = "the operator sets <code>CATALOGUE_LOOKUP=dnb,openlibrary</code>"
	for _, tt := range []struct {
		lookup               bool
		target               string
		isFirst, isOn, isOff bool
	}{
		{false, "/books/new", true, false, true},
		{true, "/books/new", true, true, false},
		{true, "/books/new?isbn=9783161484100", true, true, false},
		{false, "/books/1/edit", false, false, false},
		{true, "/books/1/edit", false, false, false},
	} {
		c.Reconfigure(t, server.Config{Lookup: tt.lookup})
		page := c.Do(http.MethodGet, tt.target, "", "Accept: text/html").Body.String()
		isbn, name := strings.Index(page, `id="isbn"`), strings.Index(page, `id="name"`)
		if (isbn < name) != tt.isFirst || strings.Count(page, `id="isbn"`) != 1 || strings.Count(page, `<p class="hint met" role="status"></p>`) != 1 ||
			strings.Contains(page, " data-lookup>") != tt.isOn || strings.Contains(page, off) != tt.isOff {
			t.Errorf("%s with look-ups %t: %s", tt.target, tt.lookup, page)
		}
		if first := page[isbn : strings.Index(page[isbn:], ">")+isbn]; strings.Contains(first, "autofocus") != (tt.target == "/books/new") {
			t.Errorf("%s: %s", tt.target, first)
		}
	}
}
