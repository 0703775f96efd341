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
func (f *File) Kind() model.Message {
	kind := f.formatKind()
	if f.Packing != "" {
		kind = model.Messagef("%s, compressed with %s", kind, f.Packing)
	}
	if f.unended {
		kind = model.Messagef("%s; the last row has no line end: check that the file is whole", kind)
	}
	return kind
}

// formatKind describes the format and the encoding.
func (f *File) formatKind() model.Message {
	switch {
	case f.IsSpreadsheet():
		return f.sheetKind()
	case f.format.Name == source.CSV:
		return f.tableKind()
	}
	kind := model.Messagef("%[1]s in %[2]s", f.format.Name, f.Charset) // %s in %s is a genre in a category
	if f.format.Path != nil {
		kind = model.Messagef("%s, list %s", kind, Printable(strings.Join(f.format.Path, ".")))
	}
	return kind
}

// sheetKind describes a spreadsheet.
func (f *File) sheetKind() model.Message {
	kind := model.Messagef("a spreadsheet, sheet %s", List(f.Names))
	if len(f.Names) > 1 {
		kind = model.Messagef("a spreadsheet, sheets %s", List(f.Names))
	}
	if f.LeftOut != nil {
		kind = model.Messagef("%s; not read: %s", kind, List(f.LeftOut))
	}
	if f.Before > 0 {
		kind = model.Messagef("%s, header in row %d (%s skipped)", kind, f.Before+1, CountRows(f.Before))
	}
	return kind
}

// delimiterWords are the names of delimiters.
var delimiterWords = map[byte]model.Message{',': model.Messagef("commas"), ';': model.Messagef("semicolons"),
	'\t': model.Messagef("tabs"), '|': model.Messagef("bars")}

// tableKind describes CSV.
func (f *File) tableKind() model.Message {
	delimiter, isNamed := delimiterWords[f.format.Delimiter]
	if !isNamed {
		delimiter.Key = Printable(string(f.format.Delimiter))
	}
	kind := model.Messagef("CSV in %s, delimited by %s", f.Charset, delimiter)
	if f.format.Quote != 0 {
		kind = model.Messagef("%s, quoted by apostrophes", kind)
	}
	switch n := f.format.Before; n {
	case 0:
	case 1:
		kind = model.Messagef("%s, header in line 2 (1 line skipped)", kind)
	default:
		kind = model.Messagef("%s, header in line %d (%d lines skipped)", kind, n+1, n)
	}
	return kind
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
