package web

import (
	"net/http"

	"library-catalogue/graph/model"
)

// importFile returns the import page. Its script uses /api/imports.
func (p *Pages) importFile(*http.Request) (*page, error) {
	var fields []*model.FieldInfo
	for _, key := range model.ImportFields {
		fields = append(fields, model.ImportField(key))
	}
	return &page{name: "import.html", Title: "Import a file", Section: "books", Script: "import.js", Main: fields}, nil
}
