package source

import (
	"cmp"
	"encoding/csv"
	"slices"
	"strings"
)

// rowWriter writes the rows of a sheet as CSV, from the header on. It pads rows to the width of the header, and cuts
// wider ones to one extra cell.
type rowWriter struct {
	csv    *csv.Writer
	header Header
	first  [][]string // rows that may be the header
	rows   []int      // their numbers in the sheet
	before int        // rows before the header
	placed rowNumbers // numbers of the written rows
	count  int        // written rows
	names  []string   // the header
	width  int        // 0 until the header is known
}

func newRowWriter(b *workbook) *rowWriter {
	return &rowWriter{csv: csv.NewWriter(b), header: b.header}
}

// set sets the cell of a column, counted from 1, unless it has a value.
func (w *rowWriter) set(cells []string, column int, value string) []string {
	if w.width > 0 {
		column = min(column, w.width+1)
	}
	cells = append(cells, make([]string, max(0, column-len(cells)))...)
	cells[column-1] = cmp.Or(cells[column-1], value)
	return cells
}

// write writes a row unless it is empty, before the header, or repeats it. number is its number in the sheet.
func (w *rowWriter) write(number int, cells []string) error {
	if len(cells) == 0 || number < w.header.Row {
		return nil
	}
	if w.width > 0 {
		if isHeader := len(w.names) > 1 && slices.Equal(cells, w.names); isHeader && w.count > 0 && !w.header.None {
			return nil
		}
		w.placed = w.placed.add(rowNumber{index: w.count, number: number})
		w.count++
		if len(cells) > w.width { // one more cell says that there was a value
			cells[w.width] = strings.Join(cells[w.width:], "")
			cells = cells[:w.width+1]
		}
		return w.csv.Write(append(cells, make([]string, max(0, w.width-len(cells)))...))
	}
	w.rows = append(w.rows, number)
	if w.first = append(w.first, slices.Clone(cells)); w.header.Row > 0 || len(w.first) == searchedRows {
		return w.begin()
	}
	return nil
}

// begin finds the header and writes it with the rows after it.
func (w *rowWriter) begin() error {
	first := w.first
	if w.first = nil; len(first) == 0 {
		return nil
	}
	i := w.header.find(first)
	first, w.before = first[i:], w.rows[i]-1
	w.names = first[0]
	w.width = len(first[0])
	if w.header.None {
		for _, cells := range first {
			w.width = max(w.width, len(cells))
		}
	}
	for k, cells := range first {
		if err := w.write(w.rows[i+k], cells); err != nil {
			return err
		}
	}
	return nil
}

func (w *rowWriter) flush() error {
	err := w.begin()
	w.csv.Flush()
	return cmp.Or(err, w.csv.Error())
}
