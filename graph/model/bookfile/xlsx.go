package bookfile

import (
	"archive/zip"
	"bytes"
	"embed"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"library-catalogue/graph/model"
)

// A workbook of Office Open XML (ECMA-376) with one sheet. Numbers and dates are cells of their type and all other
// cells are texts, so that a program neither rounds an ISBN nor runs a formula.

// XLSXType is the media type of a workbook.
const XLSXType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

// SheetEnd is the end of the text that NewXLSX takes.
const SheetEnd = `</sheetData></worksheet>`

// SheetBegin returns the beginning of the text that NewXLSX takes, with the row of labels, which does not scroll.
func SheetBegin() string {
	row := []byte(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews>` +
		`<sheetView workbookViewId="0">` +
		`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView>` +
		`</sheetViews><sheetData><row>`)
	for _, label := range labels() {
		row = appendTextCell(row, label)
	}
	return string(row) + rowEnd
}

const rowEnd = `</row>`

// Styles of cells, as in the part styles.xml.
const (
	dateStyle  = "1"
	priceStyle = "2"
)

// AppendSheetRow appends a book as a row of a sheet.
func AppendSheetRow(dst []byte, b *model.Book, g *model.Genre, c *model.Category) []byte {
	dst = append(dst, `<row>`...)
	for _, f := range fields {
		dst = appendCell(dst, f.Kind, f.Text(b))
	}
	dst = appendTextCell(appendTextCell(dst, g.Name), c.Name)
	for _, f := range further {
		dst = appendCell(dst, f.Kind, f.Text(b))
	}
	return append(dst, rowEnd...)
}

func appendCell(dst []byte, kind model.Kind, text string) []byte {
	number, style := text, "0"
	switch kind {
	case model.KindInt:
	case model.KindCents:
		style = priceStyle
	case model.KindDate:
		number, style = serial(text), dateStyle
	default:
		number = ""
	}
	if number == "" {
		return appendTextCell(dst, text)
	}
	return append(dst, `<c s="`+style+`"><v>`+number+`</v></c>`...)
}

// serial returns the number of a date: days since the end of 1899. It returns "" before March 1900, where programs
// differ, because some count a 29 February 1900.
func serial(date string) string {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil || day.Before(time.Date(1900, 3, 1, 0, 0, 0, 0, time.UTC)) {
		return ""
	}
	const epoch = 25_569 // the number of 1970-01-01
	return strconv.FormatInt(epoch+day.Unix()/(24*60*60), 10)
}

func appendTextCell(dst []byte, text string) []byte {
	if text == "" {
		return append(dst, `<c/>`...)
	}
	dst = append(dst, `<c t="inlineStr"><is><t xml:space="preserve">`...)
	for i, r := range text {
		switch {
		case r == '&':
			dst = append(dst, "&amp;"...)
		case r == '<':
			dst = append(dst, "&lt;"...)
		case r == '>':
			dst = append(dst, "&gt;"...)
		case r < ' ' && r != '\n' && r != '\t', r == 0xFFFE, r == 0xFFFF, // not in XML
			r == '_' && len(text) > i+6 && text[i+1] == 'x' && text[i+6] == '_': // would be read as one of these
			dst = fmt.Appendf(dst, "_x%04X_", r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, `</t></is></c>`...)
}

// parts are the other files of a workbook.
//
//go:embed all:workbook
var parts embed.FS

// maxSheetRows is the maximum number of rows that spreadsheet programs read.
const maxSheetRows = 1 << 20

// xlsx packs the text of a sheet as a workbook.
type xlsx struct {
	zip   *zip.Writer
	sheet io.Writer
	rows  int
}

// NewXLSX returns a writer of a workbook. It takes the text of the sheet: SheetBegin, rows of AppendSheetRow, and
// SheetEnd. Each Write has whole rows. Close ends the workbook, and leaves dst open.
func NewXLSX(dst io.Writer) (io.WriteCloser, error) {
	x := &xlsx{zip: zip.NewWriter(dst)}
	for _, name := range []string{"[Content_Types].xml", "_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels",
		"xl/styles.xml"} {
		text, err := parts.ReadFile("workbook/" + name)
		var w io.Writer
		if err == nil {
			w, err = x.zip.Create(name)
		}
		if err == nil {
			_, err = w.Write(text)
		}
		if err != nil {
			return nil, err
		}
	}
	var err error
	x.sheet, err = x.zip.Create("xl/worksheets/sheet1.xml")
	return x, err
}

// Write implements io.Writer. The error is BadUserInput for more rows than spreadsheet programs read.
func (x *xlsx) Write(p []byte) (int, error) {
	if x.rows += bytes.Count(p, []byte(rowEnd)); x.rows > maxSheetRows {
		return 0, model.Errorf(model.BadUserInput, "An .xlsx file has at most %s books. Filter the list, or take CSV.",
			strconv.Itoa(maxSheetRows-1))
	}
	return x.sheet.Write(p)
}

// Close implements io.Closer.
func (x *xlsx) Close() error { return x.zip.Close() }
