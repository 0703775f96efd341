package bookfile

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"library-catalogue/graph/model"
)

// workbook returns a workbook of books.
func workbook(t *testing.T, books ...*model.Book) *excelize.File {
	t.Helper()
	var file bytes.Buffer
	w, err := NewXLSX(&file)
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(SheetBegin())
	for _, b := range books {
		text = AppendSheetRow(text, b, &model.Genre{Name: "Genre & <co>"}, &model.Category{Name: "Category"})
	}
	if _, err := w.Write(append(text, SheetEnd...)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	read, err := excelize.OpenReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { read.Close() })
	return read
}

// TestXLSX reads what a spreadsheet program shows, and the types of the cells.
func TestXLSX(t *testing.T) {
	t.Parallel()
	book := &model.Book{
		Name: `=HYPERLINK("http://x")`, Author: " a\tb ", Pages: 7, Price: 199900, PublishedAt: model.Date{Year: 1937, Month: 9, Day: 21},
		Description: new("one\n\ntwo\r\n_x0041_ \x02 _x"), ISBN: new("9780261102217"), ShelfMark: new("0012"),
	}
	old := &model.Book{Name: "1984", Author: "-", PublishedAt: model.Date{Year: 1605, Month: 1, Day: 16}}
	first := &model.Book{Name: "x", Author: "y", PublishedAt: model.Date{Year: 1900, Month: 3, Day: 1}}
	last := &model.Book{Name: "x", Author: "y", PublishedAt: model.Date{Year: 9999, Month: 12, Day: 31}}
	file := workbook(t, book, old, first, last)
	for place, want := range map[[2]string]string{
		{"name", "2"}: `=HYPERLINK("http://x")`, {"author", "2"}: " a\tb ", {"pages", "2"}: "7", {"price", "2"}: "1999.00", {"published_at", "2"}: "1937-09-21",
		{"description", "2"}: "one\n\ntwo\r\n_x0041_ \x02 _x", {"isbn", "2"}: "9780261102217", {"shelf_mark", "2"}: "0012", {"genre", "2"}: "Genre & <co>", {"category", "2"}: "Category",
		{"publisher", "2"}: "", {"name", "3"}: "1984", {"published_at", "3"}: "1605-01-16", {"published_at", "4"}: "1900-03-01", {"pages", "4"}: "0", {"name", "1"}: "Name", {"published_at", "1"}: "Published", {"shelf_mark", "1"}: "Shelf mark", {"published_at", "5"}: "9999-12-31",
	} {
		at := cellOf(t, place[0], place[1])
		got, err := file.GetCellValue("Books", at)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s of row %s: %v (-want +got):\n%s", place[0], place[1], err, diff)
		}
		formula, err := file.GetCellFormula("Books", at)
		if err != nil || formula != "" {
			t.Errorf("%s of row %s has the formula %q: %v", place[0], place[1], formula, err)
		}
	}
	for name, want := range map[string]excelize.CellType{
		"isbn": excelize.CellTypeInlineString, "shelf_mark": excelize.CellTypeInlineString, "name": excelize.CellTypeInlineString,
		"pages": excelize.CellTypeUnset, "price": excelize.CellTypeUnset, "published_at": excelize.CellTypeUnset, // of numbers
	} {
		if got, err := file.GetCellType("Books", cellOf(t, name, "2")); err != nil || got != want {
			t.Errorf("the cell of %s has type %d, want %d: %v", name, got, want, err)
		}
	}
	if raw, err := file.GetCellValue("Books", cellOf(t, "published_at", "4"), excelize.Options{RawCellValue: true}); err != nil || raw != "61" {
		t.Errorf("1 March 1900 is day %s: %v", raw, err)
	}
}

// cellOf returns the address of a field in a row.
func cellOf(t *testing.T, field, row string) string {
	t.Helper()
	for i, name := range model.ImportFields {
		if name == field {
			column, err := excelize.ColumnNumberToName(i + 1)
			if err != nil {
				t.Fatal(err)
			}
			return column + row
		}
	}
	t.Fatalf("there is no field %s", field)
	return ""
}

// TestXLSXRows refuses more rows than spreadsheet programs read.
func TestXLSXRows(t *testing.T) {
	t.Parallel()
	w, err := NewXLSX(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	rows := []byte(strings.Repeat("<row></row>", maxSheetRows/16))
	for range 16 {
		if _, err := w.Write(rows); err != nil {
			t.Fatal(err)
		}
	}
	_, err = w.Write([]byte("<row></row>"))
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != model.BadUserInput || !strings.Contains(e.Message, "1048575 books") {
		t.Errorf("one row more ends with %v", err)
	}
}
