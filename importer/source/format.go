package source

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// Format is the format of the records in a text.
type Format struct {
	Name      string // CSV, JSONLines or JSONArray
	Delimiter byte   // CSV only
	end       byte   // line end: \n, which may follow \r, or \r
}

// Values of Format.Name.
const (
	CSV       = "CSV"
	JSONLines = "JSON Lines"
	JSONArray = "JSON"
)

// Names of formats in options.
const (
	FormatCSV  = "csv"
	FormatJSON = "json" // JSON Lines, or one JSON array
	FormatXLSX = "xlsx"
)

// delimiters are the detected delimiters, in order of preference.
var delimiters = []byte{',', ';', '\t', '|'}

// findFormat detects the format of a text from its beginning. The delimiter of CSV is the one that yields most
// column names known to matched, or else most cells.
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
			continue // any delimiter would fail
		}
		if found := [2]int{matched(header), len(header)}; found[0] > best[0] || found[0] == best[0] && found[1] > best[1] {
			best, f.Delimiter = found, delimiter
		}
	}
	return f, nil
}

// lineEnd returns the end of the first line outside quotes: \r if no \n follows it, as in files of old
// Macintoshes, or else \n.
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
