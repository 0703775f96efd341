package source

import (
	"cmp"
	"encoding/csv"
	"slices"
	"strings"

	"library-catalogue/graph/model"
)

// sheet writes the rows of a sheet as CSV, from the header on. It pads rows to the width of the header, and cuts wider
// ones to one extra cell.
type sheet struct {
	name    string
	book    *workbook
	csv     *csv.Writer
	cells   []string   // cells of the row
	size    int        // bytes of the row
	first   [][]string // rows that may be the header
	numbers []int      // their numbers in the sheet
	header  []string
	width   int // 0 until the header is known
	before  int // rows before the header
	count   int // rows after the header
	placed  rowNumbers

	start, body, end int64 // offsets in the file of the workbook: of the header, the rows and their end
}

func (b *workbook) newSheet(name string) *sheet {
	return &sheet{name: name, book: b, csv: csv.NewWriter(b), start: b.written}
}

// set sets the cells of the columns from column to last, counted from 1, unless they have a value. Values beyond the
// header go to one extra cell.
func (s *sheet) set(column, last int, value string) error {
	for ; column <= last; column++ {
		if s.size += len(value); s.size > maxRow {
			return model.Messagef("row %d of the spreadsheet is longer than 1 MiB", s.book.row)
		}
		if s.width > 0 && column > s.width {
			column, last = s.width+1, 0
		}
		s.cells = append(s.cells, make([]string, max(0, column-len(s.cells)))...)
		s.cells[column-1] = cmp.Or(s.cells[column-1], value)
	}
	return nil
}

// endRows writes the row count times unless it is empty, before the header, or repeats it.
func (s *sheet) endRows(count int) error {
	b := s.book
	first := b.row
	b.row += count - 1
	switch {
	case len(s.cells) == 0:
		return nil
	case count > 1 && b.row > maxSheetRows:
		return model.Messagef("the spreadsheet has more than %d rows: save it as CSV", maxSheetRows)
	}
	for number := max(first, b.header.Row); number <= b.row; number++ {
		if s.width > 0 {
			if err := s.write(number, s.cells); err != nil {
				return err
			}
			continue
		}
		s.first, s.numbers = append(s.first, slices.Clone(s.cells)), append(s.numbers, number)
		if b.header.Row > 0 || len(s.first) == searchedRows {
			if err := s.begin(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *sheet) write(number int, cells []string) error {
	if !s.book.header.None && len(s.header) > 1 && slices.Equal(cells, s.header) {
		return nil
	}
	s.placed = s.placed.add(rowNumber{index: s.count, number: number})
	s.count++
	if len(cells) > s.width { // one more cell says that there was a value
		cells[s.width] = strings.Join(cells[s.width:], "")
		cells = cells[:s.width+1]
	}
	return s.csv.Write(append(cells, make([]string, max(0, s.width-len(cells)))...))
}

// begin finds the header, and writes it with the rows after it.
func (s *sheet) begin() error {
	rows := s.first
	if s.first = nil; len(rows) == 0 {
		return nil
	}
	i := s.book.header.find(rows)
	s.header, s.width, s.before = rows[i], len(rows[i]), s.numbers[i]-1
	if s.book.header.None {
		for _, cells := range rows {
			s.width = max(s.width, len(cells))
		}
	} else {
		_ = s.csv.Write(s.header) // Flush has its error
		i++
	}
	s.csv.Flush()
	s.body = s.book.written
	for ; i < len(rows); i++ {
		if err := s.write(s.numbers[i], rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// close writes the rest, and adds the sheet to the workbook if it has rows.
func (s *sheet) close() error {
	err := s.begin()
	s.csv.Flush()
	if s.end = s.book.written; s.end > s.start {
		s.book.sheets = append(s.book.sheets, s)
	}
	return cmp.Or(err, s.csv.Error())
}
