package source

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
)

// Sheets are the sheets of a spreadsheet.
type Sheets struct {
	Names   []string // sheets that are read
	LeftOut []string // other sheets with rows
	Before  int      // rows of the first sheet before its header
	placed  rowNumbers
}

// rowNumber is the number of a row in its sheet.
type rowNumber struct {
	index  int // rows before it in the CSV, without the header
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

// SheetRow returns the sheet of a row, counted from 1, and its number there.
func (s Sheets) SheetRow(row int) (sheet string, number int) {
	i := sort.Search(len(s.placed), func(i int) bool { return s.placed[i].index >= row }) - 1
	return s.placed[i].sheet, s.placed[i].number + row - 1 - s.placed[i].index
}

// maxCells is the maximum number of cells of a header without known names that count.
const maxCells = 1000

// maxNamed is the maximum number of sheets in an error.
const maxNamed = 20

// chooseSheets returns the text of the sheets to read.
func (b *workbook) chooseSheets() (sheets Sheets, text *io.SectionReader, err error) {
	if len(b.sheets) == 0 {
		return sheets, nil, model.Messagef("the spreadsheet has no visible sheet with rows")
	}
	var best *sheet
	most, given := -1, b.header.Sheet
	for _, s := range b.sheets {
		n := b.header.Matched(s.header) * maxCells
		if n <= maxCells { // no known names: the widest
			n = min(filled(s.header), maxCells)
		}
		if given == "" && n > most || given != "" && s.name == given {
			best, most = s, n
		}
	}
	if best == nil {
		var names []string
		for _, s := range b.sheets[:min(len(b.sheets), maxNamed)] {
			names = append(names, fmt.Sprintf("%.60q", s.name))
		}
		if n := len(b.sheets) - maxNamed; n > 0 {
			names = append(names, strconv.Itoa(n)+" more")
		}
		return sheets, nil,
			fmt.Errorf("the spreadsheet has no sheet %q with rows. It has: %s", given, strings.Join(names, ", "))
	}
	canGoOn := given == "" && !b.header.None && filled(best.header) > 1
	var chosen []*sheet
	for _, s := range b.sheets {
		isMore := canGoOn && chosen != nil && slices.EqualFunc(s.header, best.header, strings.EqualFold)
		if s == best || isMore {
			chosen, sheets.Names = append(chosen, s), append(sheets.Names, s.name)
		} else {
			sheets.LeftOut = append(sheets.LeftOut, s.name)
		}
	}
	sheets.Before, sheets.placed = best.before, best.placed
	if len(chosen) == 1 {
		return sheets, io.NewSectionReader(b.file, best.start, best.end-best.start), nil
	}
	sheets.placed = nil
	start, from, count := b.written, best.start, 0 // the text of all follows the others
	for _, s := range chosen {
		for _, r := range s.placed {
			sheets.placed = sheets.placed.add(rowNumber{count + r.index, r.number, s.name})
		}
		count += s.count
		if s != best {
			from = s.body
		}
		if _, err := io.Copy(b, io.NewSectionReader(b.file, from, s.end-from)); err != nil {
			return sheets, nil, err
		}
	}
	return sheets, io.NewSectionReader(b.file, start, b.written-start), nil
}
