// Package bookfile writes books as they stand in files, with the fields of
// model.ImportFields.
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

// fields are those of the book itself; the names of its genre and category follow.
var fields = slices.DeleteFunc(slices.Clone(model.BookFields), func(f model.RowField[model.Book]) bool { return !f.Is(model.InFile) })

// Header returns the first record of CSV. For a spreadsheet it begins with the byte order
// mark by which Excel knows UTF-8.
func Header(forSpreadsheet bool) string {
	header := strings.Join(model.ImportFields, ",") + "\n"
	if forSpreadsheet {
		return "\uFEFF" + header
	}
	return header
}

// CSV returns an appender of records of RFC 4180 that end with \n. Line ends in a cell
// stay what they are. forSpreadsheet puts an apostrophe before what a spreadsheet would
// calculate.
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

// isFormula reports whether a spreadsheet may calculate a cell, by the signs that OWASP
// names under CSV injection: a cell that begins with one and is no number.
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
	dst = append(dst, '{')
	for _, f := range fields {
		dst = append(append(append(dst, '"'), f.Key...), `":`...)
		dst = append(f.AppendREST(dst, b), ',')
	}
	dst = model.AppendString(append(dst, `"genre":`...), g.Name)
	dst = model.AppendString(append(dst, `,"category":`...), c.Name)
	return append(dst, '}')
}

// AppendJSONLine appends a book as a line of JSON Lines.
func AppendJSONLine(dst []byte, b *model.Book, g *model.Genre, c *model.Category) []byte {
	return append(AppendJSON(dst, b, g, c), '\n')
}
