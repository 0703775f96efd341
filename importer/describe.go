package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"library-catalogue/graph/model"
	"library-catalogue/importer/source"
)

// IsPlain reports whether a file has the form of an export, so that nothing had to be detected.
func (f *File) IsPlain() bool {
	for field := range f.columns {
		if f.columnOf(field) != field || len(f.columns[field]) > 1 || len(f.readings[field].forms) > 0 {
			return false
		}
	}
	return !f.IsSpreadsheet() && f.format.Before == 0 && !f.unended && f.Packing == "" && f.IsUTF8() &&
		(f.format.IsJSON() || f.format.Delimiter == ',')
}

// Kind describes the format, encoding and compression of the file.
func (f *File) Kind() string {
	var b strings.Builder
	switch {
	case f.IsSpreadsheet():
		noun := "sheet"
		if len(f.Names) > 1 {
			noun = "sheets"
		}
		fmt.Fprintf(&b, "a spreadsheet, %s %s", noun, List(f.Names))
		if f.LeftOut != nil {
			fmt.Fprintf(&b, "; not read: %s", List(f.LeftOut))
		}
		if f.Before > 0 {
			fmt.Fprintf(&b, ", header in row %d (%s skipped)", f.Before+1, CountRows(f.Before))
		}
	case f.format.Name == source.CSV:
		delimiter := map[byte]string{',': "commas", ';': "semicolons", '\t': "tabs", '|': "bars"}[f.format.Delimiter]
		if delimiter == "" {
			delimiter = Printable(string(f.format.Delimiter))
		}
		fmt.Fprintf(&b, "CSV in %s, delimited by %s", f.Charset, delimiter)
		if f.format.Quote != 0 {
			b.WriteString(", quoted by apostrophes")
		}
		if n := f.format.Before; n > 0 {
			lines := map[bool]string{true: "1 line", false: fmt.Sprintf("%d lines", n)}[n == 1]
			fmt.Fprintf(&b, ", header in line %d (%s skipped)", n+1, lines)
		}
	default:
		fmt.Fprintf(&b, "%s in %s", f.format.Name, f.Charset)
		if f.format.Path != nil {
			fmt.Fprintf(&b, ", list %s", Printable(strings.Join(f.format.Path, ".")))
		}
	}
	if f.Packing != "" {
		fmt.Fprintf(&b, ", compressed with %s", f.Packing)
	}
	if f.unended {
		b.WriteString("; the last row has no line end: check that the file is whole")
	}
	return b.String()
}

// Column describes how the cells of a field are read.
type Column struct {
	Field   string
	Name    string   // column name; "" without one
	Others  []string // other columns, for rows with empty cells in the columns before
	Default string   // value of an empty or missing cell
	Empty   int      // rows with a name and no value, if a default can fill it
	Forms   []Form   // cells that are not in the catalogue's notation
}

// Columns describes the fields that have a column or a default.
func (f *File) Columns() (columns []Column) {
	for _, field := range model.ImportFields {
		c := Column{Field: field, Name: f.columnOf(field), Default: f.options.Defaults[field], Empty: f.holes[field]}
		if c.Name == "" && c.Default == "" {
			continue
		}
		if of := f.columns[field]; len(of) > 1 {
			for _, o := range of[1:] {
				c.Others = append(c.Others, f.columnName(o))
			}
		}
		for _, form := range f.readings[field].sortedForms() {
			form.Places = []model.Message{}
			if form.Value, _ = f.readings[field].read(form.Text); form.Value == "" {
				for _, row := range form.rows {
					form.Places = append(form.Places, f.place(row))
				}
			}
			c.Forms = append(c.Forms, *form)
		}
		columns = append(columns, c)
	}
	return columns
}

// Where returns the number of cells, and the places of the first, of a form that is not readable: "3 rows: line 2, line
// 5 and 1 more".
func (form *Form) Where() string {
	text := CountRows(form.Cells).String()
	for i, place := range form.Places {
		text += map[bool]string{true: ": ", false: ", "}[i == 0] + place.String()
	}
	if more := form.Cells - len(form.Places); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Unused returns the names of the columns without a field.
func (f *File) Unused() []string {
	if f.rejects {
		return nil
	}
	used := (&chooser{header: f.Header, found: f.columns}).usedColumns()
	var names []string
	for i, name := range f.Header {
		if !used[i] {
			names = append(names, name)
		}
	}
	return names
}

// Gaps returns the number of rejected rows that only lack values, and the fields that need a default for them. Their
// genres may be new, so that a category without a column is one of the fields.
func (f *File) Gaps() (rows int, fields []string) {
	return f.unfilled, slices.DeleteFunc(slices.Clone(fillable), func(field string) bool {
		return !f.gaps[field] && (field != category || !f.lacksCategory())
	})
}

// First returns the first rows.
func (f *File) First(ctx context.Context, count int) (first []*Row, err error) {
	rows, err := f.Open(ctx)
	for err == nil && len(first) < count {
		var row *Row
		if row, err = rows.Next(); err == nil {
			first = append(first, row)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return first, err
}

// Maximum characters of a printed text from a file, and of a message that contains one.
const (
	maxPrinted = 80
	maxMessage = 400
)

// Printable returns a text from a file in a form that is safe for a terminal.
func Printable(text string) string { return escape(text, maxPrinted) }

// escape replaces characters that are not printable by Go escapes, because a terminal may execute escape
// sequences.
func escape(text string, most int) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n++; n > most {
			b.WriteString("…")
			break
		}
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

const maxListed = 20

// List joins names from a file, in a form that is safe for a terminal.
func List(names []string) string {
	var b strings.Builder
	for i, name := range names {
		if i == maxListed {
			b.WriteString(" and " + strconv.Itoa(len(names)-i) + " more")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(cmp.Or(Printable(name), "(no name)"))
	}
	return b.String()
}
