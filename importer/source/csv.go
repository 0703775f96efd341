package source

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/textline"
)

const (
	maxRow     = textline.MaxBytes // bytes of a row
	maxColumns = 16_384            // as in Excel; each one is compared with the names of all fields
)

var errTooLong = errors.New("the row is longer than 1 MiB")

var errQuotes = errors.New("the quotes are unbalanced: a quoted cell ends with a quote, and a quote inside is doubled")

// csvReader reads the records of a CSV file (RFC 4180) with any delimiter. Unlike encoding/csv it keeps line
// ends inside cells, accepts quotes inside unquoted cells, and loses one line, not the rest of the file, to an
// unclosed quote.
type csvReader struct {
	*textline.Reader
	Format
	columns  int
	endsInCR bool     // the line of the header ends with a lone CR
	first    *Record  // row above the others in a file without a header, until Next returns it
	header   []string // cells of the header, if there is one

	// The last malformed record of several lines. It makes reading linear: a later record that is in a quoted cell at
	// the end of one of these lines would go on and fail in the same way.
	malformedUntil int // number of its last line
	malformedErr   error
}

// newCSVReader returns a reader behind the header, and the names of the columns.
func newCSVReader(in io.Reader, f Format) (r *csvReader, header []string, err error) {
	r = &csvReader{Reader: textline.NewReader(in), Format: f}
	first, err := r.NextFull()
	for err == nil && first.Number <= f.Before {
		first, err = r.NextFull()
	}
	if errors.Is(err, io.EOF) {
		return nil, nil, model.Messagef("the file is empty: it needs a header with the names of the columns")
	}
	if err != nil {
		return nil, nil, err
	}
	if header, _, err = r.record(first); err != nil {
		return nil, nil, fmt.Errorf("the header: %w", err)
	}
	if len(header) > maxColumns {
		return nil, nil, model.Messagef("line %d has more than %d columns: set the header row option if it is no header, "+
			"or the delimiter option", first.Number, maxColumns)
	}
	r.columns, r.endsInCR = len(header), first.EndsInCR()
	if f.NoHeader {
		r.first = &Record{Line: first.Number, Cells: header, Size: len(first.Text)}
		header = make([]string, r.columns)
		for i := range header {
			header[i] = "#" + strconv.Itoa(i+1)
		}
		return r, header, nil
	}
	r.header = slices.Clone(header)
	for i, column := range header {
		header[i] = strings.TrimSpace(column)
	}
	return r, header, nil
}

// Next implements RecordReader. It skips empty lines, and those that repeat the header.
func (r *csvReader) Next() (out Record, err error) {
	if first := r.first; first != nil {
		r.first = nil
		return *first, nil
	}
	for {
		out, err = r.nextRecord()
		if err != nil || r.columns == 1 || out.Problem != "" || !slices.Equal(out.Cells, r.header) {
			return out, err
		}
	}
}

func (r *csvReader) nextRecord() (Record, error) {
	first, err := r.NextFull()
	if err != nil {
		return Record{}, err
	}
	first = r.joined(first)
	out := Record{Line: first.Number}
	out.Cells, out.Size, err = r.record(first)
	if errors.Is(err, errQuotes) {
		if cells, ok := r.plain(first); ok {
			out.Cells, err = cells, nil
		}
	}
	out.Unended = r.IsUnended()
	switch {
	case errors.Is(err, errTooLong):
		out.Problem, out.Mend = sentence(err), mendLength
	case errors.Is(err, errQuotes):
		out.Problem, out.Mend = sentence(err), "Close the quotes, and double quotes inside."
	case err != nil:
		return Record{}, err
	case len(out.Cells) < r.columns: // programs omit empty cells at the end
		out.Cells = append(out.Cells, make([]string, r.columns-len(out.Cells))...)
	case len(out.Cells) > r.columns && strings.Join(out.Cells[r.columns:], "") == "":
		out.Cells = out.Cells[:r.columns]
	case len(out.Cells) > r.columns:
		out.Problem = fmt.Sprintf("The row has %d cells, the header has %d.", len(out.Cells), r.columns)
		out.Mend = fmt.Sprintf("Quote cells that contain %q.", string(r.Delimiter))
	}
	return out, nil
}

// maxJoined is the maximum number of lines that joined adds to a line.
const maxJoined = 4

// joined adds the next lines to a line that ends with a lone CR, if the CR is a part of a cell: if only together they
// have the right number of cells.
func (r *csvReader) joined(first textline.Line) textline.Line {
	isRow := func(l textline.Line) bool {
		alone := &csvReader{Reader: new(textline.Reader), Format: r.Format}
		cells, _, err := alone.record(l)
		return err == nil && len(cells) == r.columns
	}
	all, added := first, []textline.Line(nil)
	for all.EndsInCR() && !r.endsInCR && len(added) < maxJoined {
		next, err := r.Reader.Next()
		if err != nil {
			break
		}
		added = append(added, next)
		all.Text = slices.Concat(all.Text, next.Text)
		if len(next.Content()) == 0 || len(all.Text) > maxRow || isRow(first) && isRow(next) {
			break
		}
		if isRow(all) {
			return all
		}
	}
	r.Unread(added)
	return first
}

// plain splits a line in which quotes are ordinary characters, as in "A" is for Apple. ok requires the right
// number of cells and an even number of quotes in each.
func (r *csvReader) plain(l textline.Line) (cells []string, ok bool) {
	cells = strings.Split(string(l.Content()), string(r.Delimiter))
	odd := func(cell string) bool { return strings.Count(cell, string(r.quoteSign()))%2 != 0 }
	return cells, len(cells) == r.columns && !slices.ContainsFunc(cells, odd)
}

// record returns the cells and the size in bytes of the record that begins with first. After a malformed record
// it puts back all lines but the first, and they are read as records.
func (r *csvReader) record(first textline.Line) (cells []string, size int, err error) {
	quote := r.quoteSign()
	rest := first.Text
	size = len(rest)
	number := first.Number   // number of the line of rest
	var more []textline.Line // after first
	malformed := func(err error) ([]string, int, error) {
		if number > r.malformedUntil {
			r.malformedUntil, r.malformedErr = number, err
		}
		r.Unread(more)
		return []string{string(first.Content())}, len(first.Text), err
	}
	if first.TooLong {
		return malformed(errTooLong)
	}
	for {
		if !bytes.HasPrefix(rest, []byte{quote}) {
			cell, after, found := bytes.Cut(rest, []byte{r.Delimiter})
			if !found {
				return append(cells, string(textline.Line{Text: rest}.Content())), size, nil
			}
			cells, rest = append(cells, string(cell)), after
			continue
		}
		rest = rest[1:]
		var cell []byte
		for {
			before, after, found := bytes.Cut(rest, []byte{quote})
			cell = append(cell, before...)
			if !found {
				if number < r.malformedUntil {
					return malformed(r.malformedErr)
				}
				next, err := r.Reader.Next()
				if errors.Is(err, io.EOF) {
					number = math.MaxInt
					return malformed(errQuotes)
				}
				if err != nil {
					return nil, 0, err
				}
				more = append(more, next)
				rest, number = next.Text, next.Number
				if size += len(rest); size > maxRow || next.TooLong {
					return malformed(errTooLong)
				}
				continue
			}
			rest = after
			if r.Backslash && endsInBackslash(cell) {
				cell[len(cell)-1] = quote
				continue
			}
			if !bytes.HasPrefix(rest, []byte{quote}) {
				break
			}
			cell, rest = append(cell, quote), rest[1:]
		}
		cells = append(cells, string(cell))
		if len(textline.Line{Text: rest}.Content()) == 0 {
			return cells, size, nil
		}
		if rest[0] != r.Delimiter {
			return malformed(errQuotes)
		}
		rest = rest[1:]
	}
}

// quoteSign returns the sign around quoted cells.
func (r *csvReader) quoteSign() byte { return cmp.Or(r.Quote, '"') }

// endsInBackslash reports whether a cell ends in a backslash that no other escapes.
func endsInBackslash(cell []byte) bool {
	return (len(cell)-len(bytes.TrimRight(cell, `\`)))%2 == 1
}

// sentence returns an error's text as a sentence.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
