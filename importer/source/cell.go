package source

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// value returns the value of a cell that was just read.
func (b *workbook) value(cell xml.StartElement) (string, error) {
	text := string(b.text)
	switch kind := attr(cell, "t"); {
	case cell.Name.Local != "c":
		return odsValue(cell, text), nil
	case kind == "s" && text != "":
		i, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || i < 0 || i+1 >= len(b.texts) {
			return "", b.broken(fmt.Errorf("a cell refers to shared text %.20q, which is missing", text))
		}
		shared := make([]byte, b.texts[i+1]-b.texts[i])
		b.read += int64(len(shared)) // even if the row has no column for it
		_, err = b.file.ReadAt(shared, b.texts[i])
		return string(shared), err
	case kind == "e": // #REF!
		return "", nil
	case kind != "" && kind != "n":
		return unescape(b.text), nil
	}
	style, _ := strconv.Atoi(attr(cell, "s"))
	day, err := strconv.ParseFloat(text, 64)
	if err != nil || style < 0 || style >= len(b.isDay) || !b.isDay[style] || !(day >= 1 && day < 2_958_466) {
		return text, nil
	}
	if day < 60 && b.from == ExcelDay0 {
		day++
	}
	return b.from.AddDate(0, 0, int(day)).Format(time.DateOnly), nil
}

// escaped matches escapes of UTF-16 units that XML cannot contain.
var escaped = regexp.MustCompile(`(?:_x[0-9A-Fa-f]{4}_)+`)

func unescape(text []byte) string {
	return escaped.ReplaceAllStringFunc(string(text), func(hex string) string {
		units := make([]uint16, len(hex)/len("_xD83D_"))
		for i := range units {
			unit, _ := strconv.ParseUint(hex[7*i+2:7*i+6], 16, 16)
			units[i] = uint16(unit)
		}
		return string(utf16.Decode(units))
	})
}

// columnNumber returns the number of a cell's column from 1, like 28 for AB7.
func columnNumber(cell string) (number int) {
	for _, letter := range strings.TrimRight(cell, "0123456789") {
		if letter < 'A' || letter > 'Z' || number > maxColumns {
			return 0
		}
		number = 26*number + int(letter-'A') + 1
	}
	return number
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
