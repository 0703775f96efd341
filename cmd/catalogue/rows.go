package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"library-catalogue/graph/model"
)

// row is one book of a file, or what stands in its place.
type row struct {
	number  int // from 1, the header not counted
	line    int // of the file, where it begins
	form    model.Form
	cells   []string // as they were
	size    int      // in bytes
	problem string   // what is wrong with it, if anything
}

// Error makes a bad row an error.
func (r *row) Error() string { return fmt.Sprintf("row %d (line %d): %s", r.number, r.line, r.problem) }

// rowReader reads the rows of a file in bounded memory.
type rowReader struct {
	lines  *lines
	layout model.ImportLayout
	header []string       // the columns; of JSON Lines one, the whole line
	cells  map[string]int // which cell of a CSV row a column is, for those in use
	number int
}

// newRowReader begins to read a JSON Lines file, or a CSV file, whose header
// must have the columns that layout wants.
func newRowReader(in io.Reader, jsonLines bool, layout model.ImportLayout) (*rowReader, error) {
	r := &rowReader{lines: newLines(in), layout: layout, header: []string{"json"}}
	if jsonLines {
		return r, nil
	}
	first, err := r.lines.next()
	if err == io.EOF {
		return nil, errors.New("the file is empty: it needs a line with the names of its columns")
	}
	if err != nil {
		return nil, err
	}
	if r.header, _, err = r.lines.record(first); err != nil {
		return nil, fmt.Errorf("the line with the names of the columns: %w", err)
	}
	for i, column := range r.header {
		r.header[i] = strings.TrimSpace(column)
	}
	return r, r.findCells()
}

// findCells finds the cell of each field.
func (r *rowReader) findCells() error {
	r.cells = map[string]int{}
	var missing []string
	for _, field := range model.ImportFields {
		column := r.layout.Column(field)
		i := slices.Index(r.header, column)
		if i >= 0 {
			if slices.Contains(r.header[i+1:], column) {
				return fmt.Errorf("there are two columns %q", column)
			}
			r.cells[column] = i
			continue
		}
		_, mapped := r.layout.Columns[field]
		_, given := r.layout.Defaults[field]
		if mapped || !given && field != "description" && field != "category" {
			missing = append(missing, column)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the header has no column %s. It has: %s. Use --map FIELD=COLUMN for a column of another name (--map name=title), --default FIELD=VALUE where there is none",
			strings.Join(missing, ", "), strings.Join(r.header, ", "))
	}
	return nil
}

// next reads a row; io.EOF is the end. A row that cannot be read has a problem.
func (r *rowReader) next() (*row, error) {
	first, err := r.lines.next()
	for err == nil && len(first.content()) == 0 {
		first, err = r.lines.next()
	}
	if err != nil {
		return nil, err
	}
	r.number++
	out := &row{number: r.number, line: first.number, size: len(first.text)}
	if r.cells == nil {
		r.readJSON(first, out)
		return out, nil
	}
	return out, r.readCSV(first, out)
}

func (r *rowReader) readCSV(first line, out *row) (err error) {
	out.cells, out.size, err = r.lines.record(first)
	switch {
	case err == errLong, err == errQuotes:
		out.problem = sentence(err)
		return nil
	case err != nil:
		return err
	case len(out.cells) != len(r.header):
		out.problem = fmt.Sprintf("The row has %d cells, the header has %d.", len(out.cells), len(r.header))
		return nil
	}
	values := make(model.Form, len(r.cells))
	for column, i := range r.cells {
		values[column] = model.Text(out.cells[i])
	}
	out.form = r.layout.Form(values)
	return nil
}

func (r *rowReader) readJSON(first line, out *row) {
	out.cells = []string{string(first.content())}
	if first.long {
		out.problem = sentence(errLong)
		return
	}
	values, err := model.ParseForm(first.content())
	if errors.Is(err, model.ErrNotObject) {
		out.problem = "The line is not a JSON object."
	} else if err != nil {
		out.problem = "The line is not valid JSON: " + err.Error() + "."
	}
	out.form = r.layout.Form(values)
}

// sentence makes an error's text a sentence.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
