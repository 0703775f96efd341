package importer

import (
	"errors"

	"library-catalogue/graph/model"
)

// readJSON reads a line of a JSON Lines file into row.
func (r *Reader) readJSON(first line, row *Row) {
	row.Cells = []string{string(first.content())}
	if first.tooLong {
		row.Problem = sentence(errTooLong)
		return
	}
	values, err := model.ParseForm(first.content())
	if errors.Is(err, model.ErrNotObject) {
		row.Problem = "The line is not a JSON object."
	} else if err != nil {
		row.Problem = "The line is not valid JSON: " + err.Error() + "."
	}
	row.form = r.layout.Form(values)
}
