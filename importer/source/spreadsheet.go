package source

import (
	"archive/zip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"
)

const (
	// sheetMemory is how long a part of a spreadsheet may be, in bytes, to be unpacked
	// into memory; a longer one goes into a temporary file.
	sheetMemory = 1 << 20

	// maxSheet is how long all parts may be, unpacked: a million books take 600 MB.
	maxSheet = 2 << 30

	// maxSheetTexts is how many different texts a spreadsheet may have: for each some
	// bytes are kept in memory.
	maxSheetTexts = 2_000_000
)

// convertSpreadsheet makes the source of a spreadsheet (.xlsx) one of CSV, of its first
// sheet with rows that is not hidden, and returns the sheet's name. Of any other source it returns "".
func (s *Source) convertSpreadsheet(ctx context.Context) (sheet string, err error) {
	magic := make([]byte, 4)
	if _, err := s.bytes.ReadAt(magic, 0); err != nil {
		return "", nil // too short to be one
	}
	switch {
	case string(magic) == string(oleMagic):
		return "", errors.New("the file is an old Excel file (.xls): save it as .xlsx or CSV")
	case string(magic) != string(zipMagic):
		return "", nil
	}
	packed := s.bytes
	if err := checkParts(ctx, packed, s.size); err != nil {
		return "", err
	}
	book, err := excelize.OpenReader(io.NewSectionReader(packed, 0, s.size), excelize.Options{UnzipSizeLimit: maxSheet, UnzipXMLSizeLimit: sheetMemory})
	if err != nil {
		return "", fmt.Errorf("the spreadsheet cannot be read: %w", err)
	}
	defer book.Close()
	sheets := slices.DeleteFunc(book.GetSheetList(), func(name string) bool {
		visible, err := book.GetSheetVisible(name)
		return err != nil || !visible
	})
	err = s.spool(func(out io.Writer) error {
		for _, sheet = range sheets {
			if rows, err := writeSheet(ctx, book, sheet, out); rows > 0 || err != nil {
				return err
			}
		}
		return errors.New("the spreadsheet has no sheet with rows that can be seen")
	})
	return sheet, err
}

// checkParts refuses a spreadsheet that would take much memory or disk.
func checkParts(ctx context.Context, packed io.ReaderAt, size int64) error {
	archive, err := zip.NewReader(packed, size)
	if err != nil {
		return fmt.Errorf("the file is neither a spreadsheet (.xlsx) nor a text: %w", err)
	}
	length := uint64(0)
	for _, part := range archive.File {
		length += part.UncompressedSize64
	}
	if length > maxSheet || length > freeText && length > maxRatio*uint64(size) {
		return errBomb
	}
	for _, part := range archive.File {
		if !strings.HasSuffix(part.Name, ".xml") {
			continue
		}
		in, err := part.Open()
		if err != nil {
			return err
		}
		err = checkPart(withContext(ctx, in), part.Name)
		if err = errors.Join(err, in.Close()); err != nil {
			return err
		}
	}
	return nil
}

// checkPart looks for texts that are too long, and for too many of them.
func checkPart(in io.Reader, name string) error {
	shared := strings.HasSuffix(name, "sharedStrings.xml")
	buffer := make([]byte, 64<<10)
	run, elements := 0, 0
	for {
		n, err := in.Read(buffer)
		for _, b := range buffer[:n] {
			if run++; b == '<' {
				run = 0
				elements++
			}
			if run > maxRow {
				return errors.New("a cell of the spreadsheet is longer than 1 MiB")
			}
		}
		if shared && elements > 6*maxSheetTexts { // <si><t>…</t></si>, and as much again for rich texts
			return fmt.Errorf("the spreadsheet has more than %d different texts: save it as CSV", maxSheetTexts)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the spreadsheet cannot be unpacked: %w", err)
		}
	}
}

// writeSheet writes the rows of a sheet as CSV. Numbers are written as they are stored,
// without their format, and days as YYYY-MM-DD.
func writeSheet(ctx context.Context, book *excelize.File, sheet string, out io.Writer) (count int, err error) {
	properties, err := book.GetWorkbookProps()
	if err != nil {
		return count, err
	}
	from1904 := properties.Date1904 != nil && *properties.Date1904
	// A cell has its stored value in one of these, and what a person sees in the other.
	stored, err := book.Rows(sheet)
	if err != nil {
		return count, err
	}
	defer stored.Close()
	shown, err := book.Rows(sheet)
	if err != nil {
		return count, err
	}
	defer shown.Close()
	w := csv.NewWriter(out)
	width := 0
	for stored.Next() && shown.Next() {
		if err := ctx.Err(); err != nil {
			return count, err
		}
		cells, err := stored.Columns(excelize.Options{RawCellValue: true})
		if err != nil {
			return count, err
		}
		formatted, err := shown.Columns()
		if err != nil {
			return count, err
		}
		for i := range cells {
			if i < len(formatted) {
				cells[i] = storedCell(cells[i], formatted[i], from1904)
			}
		}
		if len(cells) == 0 {
			continue
		}
		if count++; count == 1 {
			width = len(cells) // of the header
		}
		if len(cells) > width {
			cells = cells[:width+1] // too many, however many
		}
		for len(cells) < width {
			cells = append(cells, "")
		}
		if err := w.Write(cells); err != nil {
			return count, err
		}
	}
	w.Flush()
	return count, errors.Join(stored.Error(), shown.Error(), w.Error())
}

// storedCell returns the value of a cell that is stored and shown in these ways. A
// number that is shown with the digits of its day's year, and not with its own, is a day.
func storedCell(stored, shown string, from1904 bool) string {
	number, err := strconv.ParseFloat(stored, 64)
	if err != nil || stored == shown || number < 1 {
		return stored
	}
	day, err := excelize.ExcelDateToTime(number, from1904)
	if err != nil || !strings.Contains(shown, day.Format("06")) || strings.Contains(digits(shown), digits(strconv.Itoa(int(number)))) {
		return stored
	}
	return day.Format(time.DateOnly)
}

// digits are the digits of a text.
func digits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}
