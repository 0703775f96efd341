package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"library-catalogue/graph/model"
)

var errQuotes = errors.New("the quotes are wrong: a cell that begins with one ends with one, and one inside is written twice")

// readHeader reads the first line of a CSV file and finds the cell of each field.
func (r *Reader) readHeader() error {
	first, err := r.lines.next()
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty: it needs a line with the names of its columns")
	}
	if err != nil {
		return err
	}
	if r.Header, _, err = r.lines.record(first); err != nil {
		return fmt.Errorf("the line with the names of the columns: %w", err)
	}
	for i, column := range r.Header {
		r.Header[i] = strings.TrimSpace(column)
	}
	r.cells = map[string]int{}
	var missing []string
	for _, field := range model.ImportFields {
		column := r.layout.Column(field)
		i := slices.Index(r.Header, column)
		if i >= 0 {
			if slices.Contains(r.Header[i+1:], column) {
				return fmt.Errorf("there are two columns %q", column)
			}
			r.cells[column] = i
			continue
		}
		_, mapped := r.layout.Columns[field]
		_, hasDefault := r.layout.Defaults[field]
		if mapped || !hasDefault && !model.MayBeMissing(field) {
			missing = append(missing, column)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the header has no column %s. It has: %s. Use --map FIELD=COLUMN for a column of another name (--map name=title), --default FIELD=VALUE where there is none",
			strings.Join(missing, ", "), strings.Join(r.Header, ", "))
	}
	return nil
}

// readCSV reads the record that begins with first into row.
func (r *Reader) readCSV(first line, row *Row) (err error) {
	row.Cells, row.size, err = r.lines.record(first)
	switch {
	case errors.Is(err, errTooLong), errors.Is(err, errQuotes):
		row.Problem = sentence(err)
		return nil
	case err != nil:
		return err
	case len(row.Cells) != len(r.Header):
		row.Problem = fmt.Sprintf("The row has %d cells, the header has %d.", len(row.Cells), len(r.Header))
		return nil
	}
	values := make(model.Form, len(r.cells))
	for column, i := range r.cells {
		values[column] = model.Text(row.Cells[i])
	}
	row.form = r.layout.Form(values)
	return nil
}

// record reads the cells of the CSV record (RFC 4180) that begins with first,
// and its size in bytes. Unlike encoding/csv it keeps line ends inside a cell as
// they are, and takes a quote in a cell that does not begin with one as text.
//
// Of a malformed record only the first line is lost: the lines after it are put
// back and read as records of their own, so that a quote that nobody closed
// costs no good row.
func (l *lineReader) record(first line) (cells []string, size int, err error) {
	rest := first.text
	size = len(rest)
	var more []line // after the first
	malformed := func(err error) ([]string, int, error) {
		l.putBack = append(more, l.putBack...)
		return []string{string(first.content())}, len(first.text), err
	}
	if first.tooLong {
		return malformed(errTooLong)
	}
	for {
		if !bytes.HasPrefix(rest, []byte{'"'}) {
			cell, after, found := bytes.Cut(rest, []byte{','})
			if !found {
				return append(cells, string(line{text: rest}.content())), size, nil
			}
			cells, rest = append(cells, string(cell)), after
			continue
		}
		rest = rest[1:]
		var cell []byte
		for {
			before, after, found := bytes.Cut(rest, []byte{'"'})
			cell = append(cell, before...)
			if !found {
				next, err := l.next()
				if errors.Is(err, io.EOF) {
					return malformed(errQuotes)
				}
				if err != nil {
					return nil, 0, err
				}
				more = append(more, next)
				rest = next.text
				if size += len(rest); size > maxRow || next.tooLong {
					return malformed(errTooLong)
				}
				continue
			}
			rest = after
			if !bytes.HasPrefix(rest, []byte{'"'}) {
				break
			}
			cell, rest = append(cell, '"'), rest[1:]
		}
		cells = append(cells, string(cell))
		if len(line{text: rest}.content()) == 0 {
			return cells, size, nil
		}
		if rest[0] != ',' {
			return malformed(errQuotes)
		}
		rest = rest[1:]
	}
}
