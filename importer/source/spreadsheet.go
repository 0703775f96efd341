package source

import (
	"archive/zip"
	"bufio"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	maxSheet      = 2 << 30   // bytes decompressed or written; a million books take 600 MB
	maxSheetTexts = 2_000_000 // shared texts, of 8 bytes of memory each
	maxDirectory  = 4 << 20   // bytes in memory: of the list of parts, and of all parts except texts and rows
	maxSheetDepth = 64        // of nested XML elements; a sheet has 10
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
	sheets  []sheetText

	// State of scan.
	name string // the part
	row  int    // number of the row or the shared text
	text []byte // the cell or the shared text
}

// convertSpreadsheet replaces the bytes of a spreadsheet by CSV of its first visible sheet with rows, and returns
// the sheet's name. For other sources it returns "".
//
// The sheets whose header has most known names count: all with the same header as the first of them.
func (s *Source) convertSpreadsheet(ctx context.Context, h Header) (sheets Sheets, err error) {
	magic := make([]byte, 4)
	if _, err := s.bytes.ReadAt(magic, 0); err != nil {
		return Sheets{}, nil // too short to be one
	}
	switch {
	case string(magic) == string(oleMagic):
		return Sheets{}, errors.New("the file is an old Excel file (.xls): save it as .xlsx or CSV")
	case string(magic) != string(zipMagic):
		return Sheets{}, nil
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
		return Sheets{}, fmt.Errorf("the file is neither a spreadsheet (.xlsx, .ods) nor text: %w", err)
	}
	b := &workbook{ctx: ctx, packed: s.size, parts: map[string]*zip.File{}, maxRead: maxDirectory, from: ExcelDay0, header: h}
	for _, part := range archive.File {
		b.parts[strings.ToLower(strings.ReplaceAll(part.Name, `\`, "/"))] = part
	}
	isODS := b.parts[odsContent] != nil
	if b.parts["_rels/.rels"] == nil && !isODS {
		return Sheets{}, errors.New("the file is neither a spreadsheet (.xlsx, .ods) nor text")
	}
	if b.file, err = s.tempFile(); err != nil {
		return Sheets{}, err
	}
	convert := b.writeXLSX
	if isODS {
		convert = b.writeODS
	}
	if err := convert(); err != nil {
		return Sheets{}, err
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
		if err != nil {
			break
		}
		err = b.writeSheet(sheet)
	}
	return err
}

// sheet is a visible sheet.
type sheet struct{ name, part string }

// open reads all parts except the sheets.
func (b *workbook) open() (sheets []sheet, err error) {
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
			sheets = append(sheets, sheet{attr(start, "name"), parts[attr(start, "id")]})
		}
		return nil
	})
	if part := parts["/styles"]; err == nil && b.parts[strings.ToLower(part)] != nil {
		err = b.readStyles(part)
	}
	b.maxRead = maxSheet
	if part := parts["/sharedStrings"]; err == nil && b.parts[strings.ToLower(part)] != nil {
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
			return fmt.Errorf("the spreadsheet has more than %d different texts: save it as CSV", maxSheetTexts)
		}
		n, err := out.WriteString(unescape(b.text))
		size += int64(n)
		return err
	})
	b.texts = append(b.texts, size)
	return cmp.Or(err, out.Flush())
}

// writeSheet writes the rows of a sheet as CSV. It writes stored numbers unchanged, and dates as YYYY-MM-DD.
func (b *workbook) writeSheet(sheet sheet) error {
	w, begin := newRowWriter(b), b.written
	var cells []string
	var cell xml.StartElement
	column, size := 0, 0
	err := b.scan(sheet.part, func(start xml.StartElement, end string) error {
		switch start.Name.Local {
		case "row":
			cells, column, size = cells[:0], 0, 0
		case "c":
			cell = start
			if column++; attr(cell, "r") != "" {
				column = columnNumber(attr(cell, "r"))
			}
		}
		switch {
		case end == "c":
			value, err := b.value(cell)
			if err != nil || value == "" {
				return err
			}
			if column < 1 || column > maxColumns {
				return b.broken(errors.New("a cell has no column"))
			}
			if size += len(value); size > maxRow {
				return b.errLongRow()
			}
			cells = w.set(cells, column, value)
		case end == "row":
			return w.write(b.row, cells)
		}
		return nil
	})
	err = cmp.Or(err, w.flush())
	b.endSheet(sheet.name, begin, w)
	return err
}

func (b *workbook) errLongRow() error {
	return fmt.Errorf("row %d of the spreadsheet is longer than 1 MiB", b.row)
}

// scan reads a part to its end. It calls fn for the start of each element, and with the name at the end.
func (b *workbook) scan(name string, fn func(start xml.StartElement, end string) error) error {
	b.name, b.row = name, 0
	part := b.parts[strings.ToLower(name)]
	if part == nil {
		return b.broken(errors.New("it is missing"))
	}
	in, err := part.Open()
	if err != nil {
		return b.broken(err)
	}
	defer in.Close()
	var stop error
	since, depth := 0, 0 // bytes since the last token
	decoder := xml.NewDecoder(readerFunc(func(p []byte) (int, error) {
		n, err := in.Read(p)
		b.read += int64(n)
		switch since += n; {
		case b.ctx.Err() != nil:
			stop = b.ctx.Err()
		case b.read > b.maxRead && b.maxRead < maxSheet:
			stop = errors.New("the spreadsheet has too many styles or sheets: save it as CSV")
		case b.read > b.maxRead || isBomb(b.read, b.packed):
			stop = errBomb
		case since > maxRow:
			stop = errLongCell
		default:
			return n, err
		}
		return 0, stop
	}))
	inText, spoken, empty := false, false, true
	for {
		token, err := decoder.Token()
		switch {
		case stop != nil:
			return stop
		case errors.Is(err, io.EOF) && !empty:
			return nil
		case err != nil:
			return b.broken(err)
		}
		since = 0
		var start xml.StartElement
		var end xml.EndElement
		switch e := token.(type) {
		case xml.StartElement:
			empty = false
			if depth++; depth > maxSheetDepth {
				return b.broken(errors.New("its elements are nested too deeply"))
			}
			switch start = e; e.Name.Local {
			case "row", "si", odsRow:
				b.row++
				if number, err := strconv.Atoi(attr(e, "r")); err == nil {
					b.row = number
				}
				b.text = b.text[:0]
			case "c", odsCell, odsCovered:
				b.text = b.text[:0]
			case "rPh", odsNote: // phonetic reading
				spoken = true
			case "t", "v":
				inText = !spoken
			case odsParagraph:
				if inText = !spoken; inText && len(b.text) > 0 {
					b.text = append(b.text, '\n')
				}
			}
			if inText {
				b.text = append(b.text, odsSpace(e)...)
			}
		case xml.EndElement:
			depth--
			end = e
			switch e.Name.Local {
			case "t", "v", odsParagraph:
				inText = false
			case "rPh", odsNote:
				spoken = false
			}
		case xml.CharData:
			if inText {
				b.text = append(b.text, e...)
			}
		}
		if len(b.text) > maxRow {
			return errLongCell
		}
		if err := fn(start, end.Name.Local); err != nil {
			return err
		}
	}
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
