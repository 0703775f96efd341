package source

import (
	"encoding/xml"
	"errors"
	"io"
	"strconv"
)

// scan reads a part to its end. It calls fn for the start of each element, and with the name at the end.
func (b *workbook) scan(name string, fn func(start xml.StartElement, end string) error) error {
	b.name, b.row, b.inText, b.inNote = name, 0, false, false
	part := b.part(name)
	if part == nil {
		return b.broken(errors.New("it is missing"))
	}
	in, err := part.Open()
	if err != nil {
		return b.broken(err)
	}
	defer in.Close()
	bounded := &boundedReader{book: b, in: in}
	decoder := xml.NewDecoder(bounded)
	for depth, isEmpty := 0, true; ; {
		token, err := decoder.Token()
		switch {
		case bounded.err != nil:
			return bounded.err
		case errors.Is(err, io.EOF) && !isEmpty:
			return nil
		case err != nil:
			return b.broken(err)
		}
		bounded.since = 0
		var start xml.StartElement
		var end string
		switch e := token.(type) {
		case xml.StartElement:
			start, isEmpty = e, false
			if depth++; depth > maxSheetDepth {
				return b.broken(errors.New("its elements are nested too deeply"))
			}
			b.begin(e)
		case xml.EndElement:
			end = e.Name.Local
			depth--
			switch elements[end] {
			case textElement:
				b.inText = false
			case noteElement:
				b.inNote = false
			}
		case xml.CharData:
			if b.inText {
				b.text = append(b.text, e...)
			}
		}
		if len(b.text) > maxRow {
			return errLongCell
		}
		if err := fn(start, end); err != nil {
			return err
		}
	}
}

// Kinds of elements.
const (
	_ = iota
	tableElement
	rowElement
	cellElement
	textElement
	noteElement
)

// elements are the elements of both formats that scan knows.
var elements = map[string]int{
	odsTable: tableElement,
	"row":    rowElement, "si": rowElement, odsRow: rowElement,
	"c": cellElement, odsCell: cellElement, odsCovered: cellElement,
	"t": textElement, "v": textElement, odsParagraph: textElement,
	"rPh": noteElement, odsNote: noteElement,
}

// begin begins an element.
func (b *workbook) begin(e xml.StartElement) {
	switch elements[e.Name.Local] {
	case rowElement:
		b.row++
		if number, err := strconv.Atoi(attr(e, "r")); err == nil {
			b.row = number
		}
		b.text = b.text[:0]
	case cellElement:
		b.text = b.text[:0]
	case noteElement:
		b.inNote = true
	case textElement:
		if b.inText = !b.inNote; b.inText && e.Name.Local == odsParagraph && len(b.text) > 0 {
			b.text = append(b.text, '\n')
		}
	}
	if b.inText {
		b.text = append(b.text, odsSpace(e)...)
	}
}

// boundedReader reads a part. It fails at the bounds of a workbook and of a token, and when the context ends.
type boundedReader struct {
	book  *workbook
	in    io.Reader
	since int // bytes since the last token
	err   error
}

// Read implements io.Reader.
func (r *boundedReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	b := r.book
	b.read += int64(n)
	switch r.since += n; {
	case b.ctx.Err() != nil:
		r.err = b.ctx.Err()
	case b.read > b.maxRead && b.maxRead < maxSheet:
		r.err = errors.New("the spreadsheet has too many styles or sheets: save it as CSV")
	case b.read > b.maxRead || isBomb(b.read, b.packed):
		r.err = errBomb
	case r.since > maxRow:
		r.err = errLongCell
	default:
		return n, err
	}
	return 0, r.err
}
