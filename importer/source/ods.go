package source

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// Names in .ods: the part of all sheets, and its elements.
const (
	odsContent   = "content.xml"
	odsTable     = "table"
	odsRow       = "table-row"
	odsCell      = "table-cell"
	odsCovered   = "covered-table-cell"
	odsParagraph = "p"
	odsNote      = "annotation"
)

const (
	maxSheetRows = 1 << 20 // in Excel and LibreOffice
	maxSpaces    = 1000    // that one element stands for
)

// repeated returns how often a cell or row counts.
func repeated(e xml.StartElement, name string, most int) int {
	n, err := strconv.Atoi(attr(e, name))
	if err != nil {
		return 1
	}
	return min(max(n, 1), most)
}

func odsValue(cell xml.StartElement, text string) string {
	switch attr(cell, "value-type") {
	case "date":
		day, _, _ := strings.Cut(attr(cell, "date-value"), "T")
		return day
	case "float", "currency":
		return attr(cell, "value")
	}
	return text
}

// odsSpace returns the white space of an element inside a paragraph.
func odsSpace(e xml.StartElement) string {
	switch e.Name.Local {
	case "s":
		return strings.Repeat(" ", repeated(e, "c", maxSpaces))
	case "tab":
		return "\t"
	case "line-break":
		return "\n"
	}
	return ""
}
