package importer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// format is how records stand in a text.
type format struct {
	name      string // CSV, JSON Lines or JSON
	delimiter byte   // of the cells of CSV
	end       byte   // of a line: \n, which may follow an \r, or \r
}

// Values of Options.Format.
const (
	FormatCSV  = "csv"
	FormatJSON = "json" // JSON Lines, or one JSON array
)

const (
	formatCSV   = "CSV"
	formatLines = "JSON Lines"
	formatArray = "JSON"
)

// delimiters are looked for in this order.
var delimiters = []byte{',', ';', '\t', '|'}

// findFormat finds the format of a text by its beginning. In CSV the delimiter is the
// one that parts most names of columns that matched knows; else the one that parts most
// cells.
func findFormat(in io.Reader, o Options, matched func(header []string) int) (format, error) {
	start, err := bufio.NewReaderSize(in, maxRow).Peek(maxRow)
	if err != nil && !errors.Is(err, io.EOF) {
		return format{}, err
	}
	f := format{name: formatCSV, end: lineEnd(start), delimiter: ','}
	content := bytes.TrimLeft(bytes.TrimPrefix(start, []byte(byteOrderMark)), " \t\r\n")
	inner, array := bytes.CutPrefix(content, []byte("["))
	inner = bytes.TrimLeft(inner, " \t\r\n")
	switch {
	case o.Format != FormatCSV && array && bytes.IndexAny(inner, "{]") == 0:
		f.name = formatArray
		return f, nil
	case o.Format == FormatJSON, o.Format == "" && bytes.HasPrefix(content, []byte("{")):
		f.name = formatLines
		return f, nil
	case o.Delimiter != 0:
		f.delimiter = o.Delimiter
		return f, nil
	}
	best := [2]int{-1, 0}
	for _, delimiter := range delimiters {
		_, header, err := newCSVReader(bytes.NewReader(start), format{delimiter: delimiter, end: f.end})
		if err != nil {
			continue // which delimiter it is changes nothing
		}
		if found := [2]int{matched(header), len(header)}; found[0] > best[0] || found[0] == best[0] && found[1] > best[1] {
			best, f.delimiter = found, delimiter
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

// ParseDelimiter reads a delimiter as a person gives it; 0 is to be found.
func ParseDelimiter(text string) (byte, error) {
	switch {
	case text == "auto":
		return 0, nil
	case text == "tab" || text == `\t`:
		return '\t', nil
	case len(text) == 1 && text[0] != '"' && text[0] != '\n' && text[0] != '\r' && text[0] < 0x80:
		return text[0], nil
	}
	return 0, fmt.Errorf("the delimiter %q is not one: give a single sign like ; or tab", text)
}
