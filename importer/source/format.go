package source

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// Format is how records stand in a text.
type Format struct {
	Name      string // CSV, JSONLines or JSONArray
	Delimiter byte   // of the cells of CSV
	end       byte   // of a line: \n, which may follow an \r, or \r
}

// Values of Format.Name.
const (
	CSV       = "CSV"
	JSONLines = "JSON Lines"
	JSONArray = "JSON"
)

// What a person may know of a format, by name.
const (
	FormatCSV  = "csv"
	FormatJSON = "json" // JSON Lines, or one JSON array
	FormatXLSX = "xlsx"
)

// delimiters are looked for in this order.
var delimiters = []byte{',', ';', '\t', '|'}

// findFormat finds the format of a text by its beginning. In CSV the delimiter is the
// one that parts most names of columns that matched knows; else the one that parts most
// cells.
func findFormat(in io.Reader, name string, delimiter byte, matched func(header []string) int) (Format, error) {
	start, err := bufio.NewReaderSize(in, maxRow).Peek(maxRow)
	if err != nil && !errors.Is(err, io.EOF) {
		return Format{}, err
	}
	f := Format{Name: CSV, end: lineEnd(start), Delimiter: ','}
	content := bytes.TrimLeft(bytes.TrimPrefix(start, []byte(byteOrderMark)), " \t\r\n")
	inner, array := bytes.CutPrefix(content, []byte("["))
	inner = bytes.TrimLeft(inner, " \t\r\n")
	switch {
	case name != FormatCSV && array && bytes.IndexAny(inner, "{]") == 0:
		f.Name = JSONArray
		return f, nil
	case name == FormatJSON, name == "" && bytes.HasPrefix(content, []byte("{")):
		f.Name = JSONLines
		return f, nil
	case delimiter != 0:
		f.Delimiter = delimiter
		return f, nil
	}
	best := [2]int{-1, 0}
	for _, delimiter := range delimiters {
		_, header, err := newCSVReader(bytes.NewReader(start), Format{Delimiter: delimiter, end: f.end})
		if err != nil {
			continue // which delimiter it is changes nothing
		}
		if found := [2]int{matched(header), len(header)}; found[0] > best[0] || found[0] == best[0] && found[1] > best[1] {
			best, f.Delimiter = found, delimiter
		}
	}
	return f, nil
}

// lineEnd finds what ends the first line: an \r where no \n follows, as in files of
// old Macintoshes, or else \n. Line ends between quotes do not count.
func lineEnd(start []byte) byte {
	quoted := false
	for i, b := range start {
		switch {
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '\n':
			return '\n'
		case b == '\r' && i+1 < len(start) && start[i+1] != '\n' && start[i+1] != '\r':
			return '\r'
		}
	}
	return '\n'
}

// ParseDelimiter reads the delimiter option. The delimiter is 0 where the file shows it: for auto and "".
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
