// Package bookfile encodes books for files, with the fields of model.ImportFields.
package bookfile

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"

	"library-catalogue/graph/model"
)

// Appender appends a book with its genre and category as a record of a file.
type Appender func(dst []byte, b *model.Book, g *model.Genre, c *model.Category) []byte

// fields are the fields of the book. The names of its genre and category follow them, and then the further ones.
var fields, further = fieldsOf(model.InFile), fieldsOf(model.InFile | model.OnInclude)

func fieldsOf(use model.Use) []model.RowField[model.Book] {
	return slices.DeleteFunc(slices.Clone(model.BookFields), func(f model.RowField[model.Book]) bool {
		return f.Use&(model.InFile|model.OnInclude) != use
	})
}

// Header returns the first record of CSV. For a spreadsheet it has the labels of the pages, and begins with a byte
// order mark, by which Excel recognises UTF-8.
func Header(forSpreadsheet bool) string {
	if forSpreadsheet {
		return "\uFEFF" + strings.Join(labels(), ",") + "\n"
	}
	return strings.Join(model.ImportFields, ",") + "\n"
}

// labels returns the names of the fields as the pages have them. Imports know them.
func labels() (labels []string) {
	for _, field := range model.ImportFields {
		labels = append(labels, model.ImportField(field).Label)
	}
	return labels
}

// CSV returns an appender of records of RFC 4180 that end with \n. It keeps line ends in cells. forSpreadsheet
// prefixes formulas with an apostrophe.
func CSV(forSpreadsheet bool) Appender {
	var record bytes.Buffer
	w := csv.NewWriter(&record)
	cells := make([]string, 0, len(model.ImportFields))
	return func(dst []byte, b *model.Book, g *model.Genre, c *model.Category) []byte {
		cells = cells[:0]
		for _, f := range fields {
			cells = append(cells, f.Text(b))
		}
		cells = append(cells, g.Name, c.Name)
		for _, f := range further {
			cells = append(cells, f.Text(b))
		}
		for i, cell := range cells {
			if forSpreadsheet && isFormula(cell) {
				cells[i] = "'" + cell
			}
		}
		record.Reset()
		_ = w.Write(cells) // to memory
		w.Flush()
		return append(dst, record.Bytes()...)
	}
}

// isFormula reports whether a spreadsheet may evaluate a cell: it begins with a sign that OWASP lists under CSV
// injection, and is not a number.
func isFormula(cell string) bool {
	for _, sign := range []string{"=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"} {
		if rest, ok := strings.CutPrefix(cell, sign); ok {
			return sign != "+" && sign != "-" || strings.Trim(rest, "0123456789.,") != ""
		}
	}
	return false
}

// AppendJSON appends a book as a JSON object.
func AppendJSON(dst []byte, b *model.Book, g *model.Genre, c *model.Category) []byte {
	dst = append(appendFields(append(dst, '{'), b, fields), `"genre":`...)
	dst = append(model.AppendString(dst, g.Name), `,"category":`...)
	dst = append(model.AppendString(dst, c.Name), ',')
	dst = appendFields(dst, b, further)
	dst[len(dst)-1] = '}' // replaces the last comma
	return dst
}

// appendFields appends fields, each with a comma.
func appendFields(dst []byte, b *model.Book, fields []model.RowField[model.Book]) []byte {
	for _, f := range fields {
		dst = append(append(append(dst, '"'), f.Key...), `":`...)
		dst = append(f.AppendREST(dst, b), ',')
	}
	return dst
}

// AppendJSONLine appends a book as a line of JSON Lines.
func AppendJSONLine(dst []byte, b *model.Book, g *model.Genre, c *model.Category) []byte {
	return append(AppendJSON(dst, b, g, c), '\n')
}
