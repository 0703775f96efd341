package source

import (
	"archive/zip"
	"bufio"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"library-catalogue/graph/model"
)

const (
	maxSheet      = 2 << 30   // bytes decompressed or written; a million books take 600 MB
	maxSheetTexts = 2_000_000 // shared texts, of 8 bytes of memory each
	maxDirectory  = 4 << 20   // bytes in memory: of the list of parts, and of all parts except texts and rows
	maxSheetDepth = 64        // nested XML elements; a sheet has 10
)

var (
	errLongCell = errors.New("a cell of the spreadsheet is longer than 1 MiB")
	// ExcelDay0 is day 0 of dates in spreadsheets, so that days from 1 March 1900 are right.
	ExcelDay0  = time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	day0In1904 = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC) // day 0 of the 1904 date system
)

// workbook is a spreadsheet: a ZIP archive of XML parts, .xlsx (ECMA-376, part 1, section 18) or .ods (OASIS
// OpenDocument 1.3, part 3, section 9). It streams each part to its end in bounded memory, and so detects broken
// ones.
type workbook struct {
	ctx     context.Context
	packed  int64                // size of the archive
	parts   map[string]*zip.File // by name in lower case
	read    int64                // bytes decompressed
	maxRead int64
	file    *os.File  // temporary: the shared texts, then the CSV
	written int64     // bytes in file
	texts   []int64   // offset of each shared text, then of their end
	isDay   []bool    // by style: numbers are dates
	from    time.Time // day 0
	header  Header
	sheets  []*sheet // with rows

	// State of scan.
	name   string // the part
	row    int    // number of the row or the shared text
	text   []byte // the cell or the shared text
	inText bool
	inNote bool // a phonetic reading or a comment, which is no text of the cell
}

// convertSpreadsheet replaces the bytes of a spreadsheet by CSV of its first visible sheet with rows, and returns
// the sheet's name. For other sources it returns "".
//
// It takes the sheet whose header has most known names, and the sheets after it with the same header.
func (s *Source) convertSpreadsheet(ctx context.Context, h Header) (sheets Sheets, err error) {
	switch magic, err := s.magic(); {
	case magic == oleMagic:
		return sheets, model.Messagef("the file is an old Excel file (.xls): save it as .xlsx or CSV")
	case magic != zipMagic:
		return sheets, err
	}
	var archive *zip.Reader
	directory := maxDirectory
	archive, err = zip.NewReader(readerAtFunc(func(p []byte, at int64) (int, error) {
		if directory -= len(p); directory < 0 && archive == nil {
			return 0, errors.New("it has too many parts")
		}
		return s.bytes.ReadAt(p, at)
	}), s.size)
	if err != nil {
		return sheets, fmt.Errorf("the file is neither a spreadsheet (.xlsx, .ods) nor text: %w", err)
	}
	b := &workbook{ctx: ctx, packed: s.size, parts: map[string]*zip.File{}, maxRead: maxDirectory, from: ExcelDay0,
		header: h}
	for _, part := range archive.File {
		b.parts[strings.ToLower(strings.ReplaceAll(part.Name, `\`, "/"))] = part
	}
	isODS := b.parts[odsContent] != nil
	if b.parts["_rels/.rels"] == nil && !isODS {
		return sheets, model.Messagef("the file is neither a spreadsheet (.xlsx, .ods) nor text")
	}
	if b.file, err = s.tempFile(); err != nil {
		return sheets, err
	}
	convert := b.writeXLSX
	if isODS {
		convert = b.writeODS
	}
	if err = convert(); err != nil {
		return sheets, err
	}
	sheets, text, err := b.chooseSheets()
	if text != nil {
		s.bytes, s.size = text, text.Size()
	}
	return sheets, err
}

// writeXLSX writes the visible sheets as CSV.
func (b *workbook) writeXLSX() error {
	sheets, err := b.open()
	for _, sheet := range sheets {
		if err == nil {
			err = b.writeRows(sheet.name, sheet.part)
		}
	}
	return err
}

// writeODS writes the sheets, which are all in one part, as CSV.
func (b *workbook) writeODS() error {
	b.maxRead = maxSheet
	return b.writeRows("", odsContent)
}

func (b *workbook) part(name string) *zip.File { return b.parts[strings.ToLower(name)] }

// sheetPart is the part of a visible sheet.
type sheetPart struct{ name, part string }

// open reads all parts except the sheets.
func (b *workbook) open() (sheets []sheetPart, err error) {
	root, err := b.relations("")
	if err != nil {
		return nil, err
	}
	parts, err := b.relations(root["/officeDocument"])
	if err != nil {
		return nil, err
	}
	err = b.scan(root["/officeDocument"], func(start xml.StartElement, _ string) error {
		state := attr(start, "state")
		switch from1904, _ := strconv.ParseBool(attr(start, "date1904")); {
		case from1904:
			b.from = day0In1904
		case start.Name.Local == "sheet" && (state == "" || state == "visible"):
			sheets = append(sheets, sheetPart{attr(start, "name"), parts[attr(start, "id")]})
		}
		return nil
	})
	if part := parts["/styles"]; err == nil && b.part(part) != nil {
		err = b.readStyles(part)
	}
	b.maxRead = maxSheet
	if part := parts["/sharedStrings"]; err == nil && b.part(part) != nil {
		err = b.readTexts(part)
	}
	return sheets, err
}

// relations returns the parts that a part refers to, by id and by "/" with the last word of the type.
func (b *workbook) relations(of string) (map[string]string, error) {
	folder, file := path.Split(of)
	parts := map[string]string{}
	return parts, b.scan(folder+"_rels/"+file+".rels", func(start xml.StartElement, _ string) error {
		if start.Name.Local == "Relationship" {
			target := attr(start, "Target")
			if !path.IsAbs(target) {
				target = path.Join("/", folder, target)
			}
			parts[attr(start, "Id")], parts["/"+path.Base(attr(start, "Type"))] = target[1:], target[1:]
		}
		return nil
	})
}

// dayFormats are the built-in formats with a year (ECMA-376, part 1, section 18.8.30).
var dayFormats = strings.Fields("14 15 17 22 27 28 29 30 31 36 50 51 52 53 54 57 58")

// formatLiterals matches the parts of a format that are not placeholders.
var formatLiterals = regexp.MustCompile(`"[^"]*"|\\.|[_*].|\[[^]]*]`)

// readStyles finds the styles that show a number as a date with a year.
func (b *workbook) readStyles(part string) error {
	days := map[string]bool{}
	for _, id := range dayFormats {
		days[id] = true
	}
	ofCells := false
	return b.scan(part, func(start xml.StartElement, _ string) error {
		switch name := start.Name.Local; {
		case name == "numFmt":
			format := formatLiterals.ReplaceAllString(attr(start, "formatCode"), "")
			days[attr(start, "numFmtId")] = strings.ContainsAny(format, "yY")
		case name == "cellXfs" || name == "cellStyleXfs":
			ofCells = name == "cellXfs"
		case name == "xf" && ofCells:
			b.isDay = append(b.isDay, days[attr(start, "numFmtId")])
		}
		return nil
	})
}

// readTexts copies shared texts to the temporary file.
func (b *workbook) readTexts(part string) error {
	out := bufio.NewWriter(b)
	size := int64(0)
	err := b.scan(part, func(_ xml.StartElement, end string) error {
		if end != "si" {
			return nil
		}
		if b.texts = append(b.texts, size); len(b.texts) > maxSheetTexts {
			return model.Messagef("the spreadsheet has more than %d different texts: save it as CSV", maxSheetTexts)
		}
		n, err := out.WriteString(unescape(b.text))
		size += int64(n)
		return err
	})
	b.texts = append(b.texts, size)
	return cmp.Or(err, out.Flush())
}

// writeRows writes the rows of a part as CSV. They belong to the sheet name, or to the table around them. It writes
// stored numbers unchanged, and dates as YYYY-MM-DD.
func (b *workbook) writeRows(name, part string) error {
	out := b.newSheet(name)
	var row, cell xml.StartElement
	column := 0 // last one of the cell before
	err := b.scan(part, func(start xml.StartElement, end string) error {
		switch elements[start.Name.Local] {
		case tableElement:
			err := out.close()
			out, b.row = b.newSheet(attr(start, "name")), 0
			return err
		case rowElement:
			row, column = start, 0
			out.cells, out.size = out.cells[:0], 0
		case cellElement:
			cell = start
		}
		switch elements[end] {
		case cellElement:
			first := column + 1
			if at := attr(cell, "r"); at != "" {
				first = columnNumber(at)
			}
			column = first + repeated(cell, "number-columns-repeated", maxColumns) - 1
			value, err := b.value(cell)
			switch {
			case err != nil, value == "":
				return err
			case first < 1, first > maxColumns:
				return b.broken(errors.New("a cell has no column"))
			}
			return out.set(first, min(column, maxColumns), value)
		case rowElement:
			return out.endRows(repeated(row, "number-rows-repeated", maxSheetRows))
		}
		return nil
	})
	return cmp.Or(err, out.close())
}

// broken returns the error of an unreadable part.
func (b *workbook) broken(err error) error {
	where := b.name
	if b.row > 0 {
		where += fmt.Sprintf(", row %d", b.row)
	}
	return fmt.Errorf("the spreadsheet is broken (%s: %w): "+
		"open it in a spreadsheet program and save it again, as .xlsx or CSV", where, err)
}

func (b *workbook) Write(p []byte) (int, error) {
	if b.written += int64(len(p)); b.written > maxSheet || isBomb(b.written, b.packed) {
		return 0, errBomb
	}
	return b.file.Write(p)
}
