package source

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

var errQuotes = errors.New("the quotes are unbalanced: a quoted cell ends with a quote, and a quote inside is doubled")

// csvReader reads the records of a CSV file (RFC 4180) with any delimiter. Unlike encoding/csv it keeps line
// ends inside cells, accepts quotes inside unquoted cells, and loses one line, not the rest of the file, to an
// unclosed quote.
type csvReader struct {
	*lineReader
	delimiter byte
	quote     byte // around quoted cells; 0 means "
	backslash bool // escapes a quote in a quoted cell
	columns   int
	endsInCR  bool     // lines end with a lone CR, as that of the header
	first     *Record  // of a file without a header, until Next returns it
	header    []string // of a file with one

	// The last malformed record of several lines. It makes reading linear: a later record that is in a quoted cell at the
	// end of one of these lines would go on and fail in the same way.
	malformedUntil int // number of its last line
	malformedErr   error
}

// newCSVReader returns a reader behind the header, and the names of the columns.
func newCSVReader(in io.Reader, f Format) (r *csvReader, header []string, err error) {
	r = &csvReader{lineReader: newLineReader(in), delimiter: f.Delimiter, quote: f.Quote, backslash: f.Backslash}
	first, err := r.nextFull()
	for err == nil && first.number <= f.Before {
		first, err = r.nextFull()
	}
	if errors.Is(err, io.EOF) {
		return nil, nil, errors.New("the file is empty: it needs a header with the names of the columns")
	}
	if err != nil {
		return nil, nil, err
	}
	if header, _, err = r.record(first); err != nil {
		return nil, nil, fmt.Errorf("the header: %w", err)
	}
	if len(header) > maxColumns {
		return nil, nil, fmt.Errorf("line %d has more than %d columns: set the header row option if it is no header, or the delimiter option", first.number, maxColumns)
	}
	r.columns, r.endsInCR = len(header), first.endsInCR()
	if f.NoHeader {
		r.first = &Record{Line: first.number, Cells: header, Size: len(first.text)}
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
	first, err := r.nextFull()
	if err != nil {
		return Record{}, err
	}
	first = r.joined(first)
	out := Record{Line: first.number}
	out.Cells, out.Size, err = r.record(first)
	if errors.Is(err, errQuotes) {
		if cells, ok := r.plain(first); ok {
			out.Cells, err = cells, nil
		}
	}
	out.Unended = r.unended && len(r.putBack) == 0
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
		out.Mend = fmt.Sprintf("Quote cells that contain %q.", string(r.delimiter))
	}
	return out, nil
}

// maxJoined is the maximum number of lines that joined adds to a line.
const maxJoined = 4

// joined adds the next lines to a line that ends with a lone CR, if the CR is a part of a cell: if only together they
// have the right number of cells.
func (r *csvReader) joined(first line) line {
	isRow := func(l line) bool {
		alone := &csvReader{lineReader: &lineReader{in: bufio.NewReaderSize(strings.NewReader(""), 16)}, delimiter: r.delimiter, quote: r.quote, backslash: r.backslash}
		cells, _, err := alone.record(l)
		return err == nil && len(cells) == r.columns
	}
	all, added := first, []line(nil)
	for all.endsInCR() && !r.endsInCR && len(added) < maxJoined {
		next, err := r.lineReader.next()
		if err != nil {
			break
		}
		added = append(added, next)
		all.text = slices.Concat(all.text, next.text)
		if len(next.content()) == 0 || len(all.text) > maxRow || isRow(first) && isRow(next) {
			break
		}
		if isRow(all) {
			return all
		}
	}
	r.unread(added)
	return first
}

// plain splits a line in which quotes are ordinary characters, as in "A" is for Apple. ok requires the right
// number of cells and an even number of quotes in each.
func (r *csvReader) plain(l line) (cells []string, ok bool) {
	cells = strings.Split(string(l.content()), string(r.delimiter))
	odd := func(cell string) bool { return strings.Count(cell, string(r.quoteSign()))%2 != 0 }
	return cells, len(cells) == r.columns && !slices.ContainsFunc(cells, odd)
}

// record returns the cells and the size in bytes of the record that begins with first. After a malformed record
// it puts back all lines but the first, and they are read as records.
func (r *csvReader) record(first line) (cells []string, size int, err error) {
	quote := r.quoteSign()
	rest := first.text
	size = len(rest)
	number := first.number // of the line of rest
	var more []line        // after first
	malformed := func(err error) ([]string, int, error) {
		if number > r.malformedUntil {
			r.malformedUntil, r.malformedErr = number, err
		}
		r.unread(more)
		return []string{string(first.content())}, len(first.text), err
	}
	if first.tooLong {
		return malformed(errTooLong)
	}
	for {
		if !bytes.HasPrefix(rest, []byte{quote}) {
			cell, after, found := bytes.Cut(rest, []byte{r.delimiter})
			if !found {
				return append(cells, string(line{text: rest}.content())), size, nil
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
				next, err := r.lineReader.next()
				if errors.Is(err, io.EOF) {
					number = math.MaxInt
					return malformed(errQuotes)
				}
				if err != nil {
					return nil, 0, err
				}
				more = append(more, next)
				rest, number = next.text, next.number
				if size += len(rest); size > maxRow || next.tooLong {
					return malformed(errTooLong)
				}
				continue
			}
			rest = after
			if r.backslash && endsInBackslash(cell) {
				cell[len(cell)-1] = quote
				continue
			}
			if !bytes.HasPrefix(rest, []byte{quote}) {
				break
			}
			cell, rest = append(cell, quote), rest[1:]
		}
		cells = append(cells, string(cell))
		if len(line{text: rest}.content()) == 0 {
			return cells, size, nil
		}
		if rest[0] != r.delimiter {
			return malformed(errQuotes)
		}
		rest = rest[1:]
	}
}

// quoteSign returns the sign around quoted cells.
func (r *csvReader) quoteSign() byte { return cmp.Or(r.quote, '"') }

// endsInBackslash reports whether a cell ends in a backslash that no other escapes.
func endsInBackslash(cell []byte) bool {
	return (len(cell)-len(bytes.TrimRight(cell, `\`)))%2 == 1
}

// sentence returns an error's text as a sentence.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
