package web

import (
	"net/http"

	"library-catalogue/graph/model"
)

// importFile draws the page on which people import a file. What they do there, its
// script asks of /api/imports.
func (p *Pages) importFile(*http.Request) (*page, error) {
	var fields []*model.FieldInfo
	for _, key := range model.ImportFields {
		fields = append(fields, model.ImportField(key))
	}
	return &page{name: "import.html", Title: "Import a file", Section: "books", Main: fields}, nil
}
