package source

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/textline"
)

// Format is the format of the records in a text.
type Format struct {
	Name      string   // CSV, JSONLines, JSONArray, or a format of libraries
	Delimiter byte     // CSV only
	Path      []string // keys that lead to the array or the object of records; JSONArray only
	IsKeyed   bool     // the records are the members of an object; JSONArray only
	IsStream  bool     // the records follow each other without an array; JSONArray only
	Before    int      // lines before the header; CSV only
	NoHeader  bool     // the first row is a record; CSV only
	Quote     byte     // around quoted cells; 0 means "; CSV only
	Backslash bool     // a backslash escapes a quote in a quoted cell; CSV only
}

// Values of Format.Name.
const (
	CSV       = "CSV"
	JSONLines = "JSON Lines"
	JSONArray = "JSON"
	ISO2709   = "MARC (ISO 2709)"
	MARCXML   = "MARCXML"
	MARCMaker = "MARCMaker text"
	BibTeX    = "BibTeX"
	RIS       = "RIS"
)

// IsJSON reports whether the records are JSON.
func (f Format) IsJSON() bool { return f.Name == JSONLines || f.Name == JSONArray }

// IsMARC reports whether the records are of MARC, so that they have numbers and no lines.
func (f Format) IsMARC() bool { return f.Name == ISO2709 || f.Name == MARCXML || f.Name == MARCMaker }

// Names of formats in options.
const (
	FormatCSV  = "csv"
	FormatJSON = "json" // JSON Lines, or one JSON array
	FormatXLSX = "xlsx"
)

// delimiters are the detected delimiters, in order of preference.
var delimiters = []byte{',', ';', '\t', '|'}

// searchedRows is the number of rows, from the first, that may be the header.
const searchedRows = 10

// Header finds the header of a table.
type Header struct {
	Encoding string                   // encoding of a text; "" means detect
	Sheet    string                   // name of a sheet; "" means the sheets with the best header
	None     bool                     // there is none: the columns are #1, #2, …
	Row      int                      // line of a text, or row of a sheet; 0 means the best of searchedRows
	Matched  func(names []string) int // returns the number of known column names
}

// minKnown is the minimum number of known names in a row that is the header because of them. A title that begins with
// one, such as "Languages and cultures, a meeting", tells nothing.
const minKnown = 2

// find returns the index of the header: the row with most known column names, at least minKnown, or else the first
// one that is no title, which has few cells.
func (h Header) find(rows [][]string) (index int) {
	most, widest := minKnown-1, 0
	if h.None {
		return 0
	}
	for i, row := range rows {
		if n := h.Matched(row); n > most {
			index, most = i, n
		}
		widest = max(widest, filled(row))
	}
	if most >= minKnown {
		return index
	}
	return slices.IndexFunc(rows, func(row []string) bool { return 2*filled(row) > widest || widest == 0 })
}

// filled returns the number of cells with a text.
func filled(row []string) (n int) {
	for _, cell := range row {
		if strings.TrimSpace(cell) != "" {
			n++
		}
	}
	return n
}

// findFormat detects the format of a text from its beginning.
func findFormat(in io.Reader, name string, delimiter byte, h Header) (Format, error) {
	start, err := bufio.NewReaderSize(in, maxRow).Peek(maxRow)
	if err != nil && !errors.Is(err, io.EOF) {
		return Format{}, err
	}
	content := bytes.TrimLeft(bytes.TrimPrefix(start, []byte(textline.ByteOrderMark)), " \t\r\n")
	for _, l := range libraries {
		if name == "" && l.begins(content) {
			return Format{Name: l.format}, nil
		}
	}
	if name != FormatCSV {
		if f, err := findJSON(content, name == FormatJSON, h); f.Name != "" || err != nil {
			return f, err
		}
	}
	return findCSV(start, delimiter, h)
}

// findJSON detects the form of JSON. Format.Name is "" if the text is none and isJSON is false.
func findJSON(content []byte, isJSON bool, h Header) (Format, error) {
	inner, isArray := bytes.CutPrefix(content, []byte("["))
	switch {
	case bytes.HasPrefix(content, []byte{recordSeparator}):
		return Format{Name: JSONArray, IsStream: true}, nil
	case isArray && bytes.IndexAny(bytes.TrimLeft(inner, " \t\r\n"), "{]") == 0:
		return Format{Name: JSONArray}, nil
	case isJSON, bytes.HasPrefix(content, []byte("{")):
		return findList(content, h)
	case bytes.HasPrefix(content, []byte(dumpStart)):
		return Format{Name: JSONLines}, nil
	}
	return Format{}, nil
}

// findCSV finds the delimiter that yields most known column names, at least minKnown, or else most cells.
func findCSV(start []byte, delimiter byte, h Header) (Format, error) {
	f := Format{Name: CSV, Delimiter: ',', NoHeader: h.None, Backslash: escapesQuotes(start)}
	tried := delimiters
	if delimiter != 0 {
		tried = []byte{delimiter}
	}
	most, widest := -1, 0 // known names and cells of the best header
	for _, delimiter := range tried {
		rows, lines := firstRows(start, Format{Delimiter: delimiter, Backslash: f.Backslash}, h.Row)
		if len(rows) == 0 {
			continue
		}
		i := h.find(rows)
		known, cells := h.Matched(rows[i]), len(rows[i])
		if known < minKnown {
			known = 0
		}
		if known > most || known == most && cells > widest {
			most, widest, f.Delimiter, f.Before = known, cells, delimiter, lines[i]-1
		}
	}
	if quoted := f.withApostrophes(start); quoted.suits(start) &&
		(isQuoted(start, f) || !startsQuoted.Match(start) && !f.suits(start)) {
		f = quoted
	}
	if h.Row > 1 && most < 0 {
		return f, model.Messagef("the file has no line %d for its header", h.Row)
	}
	return f, nil
}

// withApostrophes returns the format with apostrophes around quoted cells.
func (f Format) withApostrophes(start []byte) Format {
	f.Quote, f.Backslash = '\'', bytes.Contains(start, []byte(`\'`))
	return f
}

// suits reports whether the rows of a text, which may be cut, have as many cells as the header in the format, at most.
func (f Format) suits(start []byte) bool {
	r, header, err := newCSVReader(bytes.NewReader(start), f)
	for err == nil {
		var out Record
		if out, err = r.Next(); err == nil && !out.Unended && (out.Problem != "" || len(out.Cells) != len(header)) {
			return false
		}
	}
	return errors.Is(err, io.EOF)
}

// startsQuoted matches a cell in quotes.
var startsQuoted = regexp.MustCompile(`(?m)(?:^|[,;\t|])"`)

// isQuoted reports whether all cells of the header stand between apostrophes.
func isQuoted(start []byte, f Format) bool {
	_, header, err := newCSVReader(bytes.NewReader(start), f)
	return err == nil && len(header) > 1 && !slices.ContainsFunc(header, func(cell string) bool {
		return len(cell) < 2 || cell[0] != '\'' || cell[len(cell)-1] != '\''
	})
}

// escapedQuote matches a quote behind a backslash that cannot end a cell, because a letter or digit follows.
var escapedQuote = regexp.MustCompile(`\\"[\pL\pN]`)

// doubledQuote matches a quote that is doubled in a quoted cell, and no empty cell.
var doubledQuote = regexp.MustCompile(`[^\s,;|"]""|""[\pL\pN]`)

// escapesQuotes reports whether backslashes escape quotes, as in exports of MySQL: if the header is quoted, or no
// quote is doubled.
func escapesQuotes(text []byte) bool {
	isQuoted := bytes.HasPrefix(bytes.TrimPrefix(text, []byte(textline.ByteOrderMark)), []byte(`"`))
	return escapedQuote.Match(text) && (isQuoted || !doubledQuote.Match(bytes.ReplaceAll(text, []byte(`\"`), nil)))
}

// firstRows returns the first rows of CSV with their lines, or only the row of a line.
func firstRows(start []byte, f Format, line int) (rows [][]string, lines []int) {
	r := &csvReader{Reader: textline.NewReader(bytes.NewReader(start)), Format: f}
	for {
		first, err := r.NextFull()
		if err != nil || line == 0 && first.Number > searchedRows || line > 0 && len(rows) > 0 {
			return rows, lines
		}
		if first.Number >= line {
			cells, _, _ := r.record(first)
			if len(cells) > maxColumns {
				cells = nil // no header
			}
			rows, lines = append(rows, cells), append(lines, first.Number)
		}
	}
}

// ParseDelimiter parses the delimiter option. The delimiter is 0, to be detected, for auto and "".
func ParseDelimiter(text string) (delimiter byte, ok bool) {
	switch {
	case text == "", text == "auto":
		return 0, true
	case text == "tab", text == `\t`:
		return '\t', true
	case len(text) == 1 && text[0] < 0x80 && !strings.Contains("\"\r\n", text):
		return text[0], true
	}
	return 0, false
}
