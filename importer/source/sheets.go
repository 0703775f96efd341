package source

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Sheets are the sheets of a spreadsheet.
type Sheets struct {
	Names   []string // of the sheets that are read
	LeftOut []string // of the others with rows
	Before  int      // rows of the first sheet before its header
}

// sheetText is the CSV of a sheet in the temporary file.
type sheetText struct {
	name       string
	header     []string
	before     int // rows before the header
	start, end int64
}

// maxNamed is the maximum number of sheets in an error.
const maxNamed = 20

// endSheet adds the sheet whose CSV has been written since start, if it has rows.
func (b *workbook) endSheet(name string, start int64, w *rowWriter) {
	if b.written > start {
		b.sheets = append(b.sheets, sheetText{name, w.names, w.before, start, b.written})
	}
}

// chooseSheets returns the text of the sheets to read.
func (b *workbook) chooseSheets() (sheets Sheets, text *io.SectionReader, err error) {
	if len(b.sheets) == 0 {
		return sheets, nil, errors.New("the spreadsheet has no visible sheet with rows")
	}
	best, most := -1, -1
	for i, s := range b.sheets {
		if n := b.header.Matched(s.header); b.header.Sheet == "" && n > most || b.header.Sheet != "" && s.name == b.header.Sheet {
			best, most = i, n
		}
	}
	if best < 0 {
		var names []string
		for _, s := range b.sheets[:min(len(b.sheets), maxNamed)] {
			names = append(names, fmt.Sprintf("%.60q", s.name))
		}
		if n := len(b.sheets) - maxNamed; n > 0 {
			names = append(names, strconv.Itoa(n)+" more")
		}
		return sheets, nil, fmt.Errorf("the spreadsheet has no sheet %q with rows. It has: %s", b.header.Sheet, strings.Join(names, ", "))
	}
	first := b.sheets[best]
	var more []sheetText
	sheets = Sheets{Names: []string{first.name}, Before: first.before}
	for i, s := range b.sheets {
		switch {
		case i == best:
		case i > best && b.header.Sheet == "" && !b.header.None && most > 1 && slices.EqualFunc(s.header, first.header, strings.EqualFold):
			sheets.Names = append(sheets.Names, s.name)
			more = append(more, s)
		default:
			sheets.LeftOut = append(sheets.LeftOut, s.name)
		}
	}
	start, end := first.start, first.end
	if more != nil { // the text of all follows the others
		start = b.written
		for i, s := range append([]sheetText{first}, more...) {
			in := bufio.NewReader(io.NewSectionReader(b.file, s.start, s.end-s.start))
			if i > 0 {
				if err := skipRecord(in); err != nil {
					return sheets, nil, err
				}
			}
			if _, err := io.Copy(b, in); err != nil {
				return sheets, nil, err
			}
		}
		end = b.written
	}
	return sheets, io.NewSectionReader(b.file, start, end-start), nil
}

// skipRecord reads a record of CSV.
func skipRecord(in *bufio.Reader) error {
	for isQuoted := false; ; {
		c, err := in.ReadByte()
		switch {
		case err != nil:
			return err
		case c == '"':
			isQuoted = !isQuoted
		case c == '\n' && !isQuoted:
			return nil
		}
	}
}
