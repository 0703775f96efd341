package source

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// Names in .ods: the part of all sheets, and its elements.
const (
	odsContent   = "content.xml"
	odsTable     = "table"
	odsRow       = "table-row"
	odsCell      = "table-cell"
	odsCovered   = "covered-table-cell"
	odsParagraph = "p"
	odsNote      = "annotation"
)

const (
	maxSheetRows = 1 << 20 // in Excel and LibreOffice
	maxSpaces    = 1000    // that one element stands for
)

// writeODS writes the sheets as CSV.
func (b *workbook) writeODS() error {
	b.maxRead = maxSheet
	w, begin, name := newRowWriter(b), b.written, ""
	var cells []string
	var row, cell xml.StartElement
	number, column, size := 0, 0, 0
	err := b.scan(odsContent, func(start xml.StartElement, end string) error {
		switch local := start.Name.Local; {
		case local == odsTable:
			w, begin, name, number = newRowWriter(b), b.written, attr(start, "name"), 0
		case local == odsRow:
			row, cells, column, size = start, cells[:0], 0, 0
		case local == odsCell, local == odsCovered:
			cell = start
		}
		switch end {
		case odsCell, odsCovered:
			value, from := odsValue(cell, string(b.text)), column
			column = min(column+repeated(cell, "number-columns-repeated", maxColumns), maxColumns)
			for value != "" && from < column && (w.width == 0 || from <= w.width) {
				if size += len(value); size > maxRow {
					return b.errLongRow()
				}
				from++
				cells = w.set(cells, from, value)
			}
		case odsRow:
			count := repeated(row, "number-rows-repeated", maxSheetRows)
			if len(cells) > 0 && number+count > maxSheetRows {
				return fmt.Errorf("the spreadsheet has more than %d rows: save it as CSV", maxSheetRows)
			}
			for i := 0; i < count && len(cells) > 0; i++ {
				if err := w.write(number+i+1, cells); err != nil {
					return err
				}
			}
			number += count
		case odsTable:
			if err := w.flush(); err != nil {
				return err
			}
			b.endSheet(name, begin, w)
		}
		return nil
	})
	return err
}

// repeated returns how often a cell or row counts.
func repeated(e xml.StartElement, name string, most int) int {
	n, err := strconv.Atoi(attr(e, name))
	if err != nil {
		return 1
	}
	return min(max(n, 1), most)
}

func odsValue(cell xml.StartElement, text string) string {
	switch attr(cell, "value-type") {
	case "date":
		day, _, _ := strings.Cut(attr(cell, "date-value"), "T")
		return day
	case "float", "currency":
		return attr(cell, "value")
	}
	return text
}

// odsSpace returns the white space of an element inside a paragraph.
func odsSpace(e xml.StartElement) string {
	switch e.Name.Local {
	case "s":
		return strings.Repeat(" ", repeated(e, "c", maxSpaces))
	case "tab":
		return "\t"
	case "line-break":
		return "\n"
	}
	return ""
}
