package source

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Sheets are the sheets of a spreadsheet.
type Sheets struct {
	Names   []string // of the sheets that are read
	LeftOut []string // of the others with rows
	Before  int      // rows of the first sheet before its header
	placed  rowNumbers
}

// rowNumber is the number of a row in its sheet.
type rowNumber struct {
	index  int // of the row in the CSV, from 0
	number int
	sheet  string // "" if only one is read
}

// rowNumbers are the numbers of rows that do not follow the row before them.
type rowNumbers []rowNumber

func (all rowNumbers) add(r rowNumber) rowNumbers {
	if n := len(all); n > 0 && all[n-1].number-all[n-1].index == r.number-r.index && all[n-1].sheet == r.sheet {
		return all
	}
	return append(all, r)
}

// SheetRow returns the sheet and the number there of a row of the CSV, counted from 0.
func (s Sheets) SheetRow(index int) (sheet string, number int) {
	i := sort.Search(len(s.placed), func(i int) bool { return s.placed[i].index > index }) - 1
	return s.placed[i].sheet, s.placed[i].number + index - s.placed[i].index
}

// sheetText is the CSV of a sheet in the temporary file.
type sheetText struct {
	name       string
	header     []string
	before     int // rows before the header
	start, end int64
	placed     rowNumbers
	count      int // rows
}

// maxCells is the maximum number of cells of a header without known names that count.
const maxCells = 1000

// maxNamed is the maximum number of sheets in an error.
const maxNamed = 20

// endSheet adds the sheet whose CSV has been written since start, if it has rows.
func (b *workbook) endSheet(name string, start int64, w *rowWriter) {
	if b.written > start {
		b.sheets = append(b.sheets, sheetText{name, w.names, w.before, start, b.written, w.placed, w.count})
	}
}

// chooseSheets returns the text of the sheets to read.
func (b *workbook) chooseSheets() (sheets Sheets, text *io.SectionReader, err error) {
	if len(b.sheets) == 0 {
		return sheets, nil, errors.New("the spreadsheet has no visible sheet with rows")
	}
	best, most := -1, -1
	for i, s := range b.sheets {
		n := b.header.Matched(s.header) * maxCells
		if n <= maxCells { // no known names: the widest
			n = min(filled(s.header), maxCells)
		}
		if b.header.Sheet == "" && n > most || b.header.Sheet != "" && s.name == b.header.Sheet {
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
	sheets = Sheets{Names: []string{first.name}, Before: first.before, placed: first.placed}
	for i, s := range b.sheets {
		switch {
		case i == best:
		case i > best && b.header.Sheet == "" && !b.header.None && filled(first.header) > 1 && slices.EqualFunc(s.header, first.header, strings.EqualFold):
			sheets.Names = append(sheets.Names, s.name)
			more = append(more, s)
		default:
			sheets.LeftOut = append(sheets.LeftOut, s.name)
		}
	}
	start, end := first.start, first.end
	if more != nil { // the text of all follows the others
		start, sheets.placed = b.written, nil
		count := 0
		for i, s := range append([]sheetText{first}, more...) {
			in := bufio.NewReader(io.NewSectionReader(b.file, s.start, s.end-s.start))
			header := min(i, 1) // rows left out
			for _, r := range s.placed {
				shift := max(header-r.index, 0) // the header's number gives that of the next row
				sheets.placed = sheets.placed.add(rowNumber{count + r.index + shift - header, r.number + shift, s.name})
			}
			count += s.count - header
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
