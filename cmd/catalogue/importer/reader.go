package importer

import (
	"fmt"
	"io"
	"strings"

	"library-catalogue/graph/model"
)

// Row is a book in a file, or what is in its place.
type Row struct {
	Number  int      // from 1, the header not counted
	Line    int      // of the file, where it begins
	Cells   []string // as they were
	Problem string   // what is wrong with it, if anything
	form    model.Form
	size    int // in bytes
}

// Error makes a bad row an error.
func (r *Row) Error() string { return fmt.Sprintf("row %d (line %d): %s", r.Number, r.Line, r.Problem) }

// Reader reads the rows of a CSV or JSON Lines file in bounded memory.
type Reader struct {
	Header []string // the columns; of JSON Lines one, the whole line
	lines  *lineReader
	layout model.ImportLayout
	cells  map[string]int // of CSV: the index of the cell of each column in use
	number int
}

// NewReader begins to read a JSON Lines file, or a CSV file, whose header must
// have the columns that layout asks for.
func NewReader(in io.Reader, jsonLines bool, layout model.ImportLayout) (*Reader, error) {
	r := &Reader{lines: newLineReader(in), layout: layout, Header: []string{"json"}}
	if jsonLines {
		return r, nil
	}
	return r, r.readHeader()
}

// Next returns the next row, or io.EOF. A row that cannot be read has a Problem.
func (r *Reader) Next() (*Row, error) {
	first, err := r.lines.next()
	for err == nil && len(first.content()) == 0 {
		first, err = r.lines.next()
	}
	if err != nil {
		return nil, err
	}
	r.number++
	row := &Row{Number: r.number, Line: first.number, size: len(first.text)}
	if r.cells == nil {
		r.readJSON(first, row)
		return row, nil
	}
	return row, r.readCSV(first, row)
}

// sentence makes an error's text a sentence.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
