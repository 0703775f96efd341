package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"library-catalogue/graph/model"
	"library-catalogue/importer/source"
)

// IsPlain reports whether a file is as an export writes it: nothing had to be found out.
func (f *File) IsPlain() bool {
	for field := range f.columns {
		if f.columnOf(field) != field || len(f.readings[field].forms) > 0 {
			return false
		}
	}
	return f.Sheet == "" && f.Packing == "" && f.IsUTF8() && (f.isJSON() || f.format.Delimiter == ',')
}

// Kind says what the file is: its format, characters and packing.
func (f *File) Kind() string {
	var b strings.Builder
	switch {
	case f.Sheet != "":
		fmt.Fprintf(&b, "a spreadsheet, sheet %s", Printable(f.Sheet))
	case f.format.Name == source.CSV:
		delimiter := map[byte]string{',': "commas", ';': "semicolons", '\t': "tabs", '|': "bars"}[f.format.Delimiter]
		if delimiter == "" {
			delimiter = Printable(string(f.format.Delimiter))
		}
		fmt.Fprintf(&b, "CSV in %s, cells parted by %s", f.Charset, delimiter)
	default:
		fmt.Fprintf(&b, "%s in %s", f.format.Name, f.Charset)
	}
	if f.Packing != "" {
		fmt.Fprintf(&b, ", packed by %s", f.Packing)
	}
	return b.String()
}

// Describe says how the file is read, in lines.
func (f *File) Describe() string {
	var b strings.Builder
	b.WriteString(f.Kind() + "\n")
	for _, c := range f.Columns() {
		fmt.Fprintf(&b, "  %-12s", c.Field)
		if c.Name != "" {
			b.WriteString(" " + Printable(c.Name))
		}
		if c.Default != "" {
			fmt.Fprintf(&b, " (where there is none: %s)", Printable(c.Default))
		}
		for _, form := range c.Forms {
			fmt.Fprintf(&b, "; %s is %s (%s; %d rows)", Printable(form.Text), form.Value, form.Layout, form.Cells)
		}
		b.WriteByte('\n')
	}
	if unused := f.Unused(); len(unused) > 0 {
		fmt.Fprintf(&b, "  %-12s %s\n", "not used:", list(unused))
	}
	return b.String()
}

// Column says how the cells of a field are read.
type Column struct {
	Field   string
	Name    string // of the column; "" where it is in none
	Default string // where the cell is empty or not there
	Forms   []Form // in which cells are written other than the catalogue would
}

// Columns returns how the fields are read that are in the file or have a default.
func (f *File) Columns() (columns []Column) {
	for _, field := range model.ImportFields {
		c := Column{Field: field, Name: f.columnOf(field), Default: f.options.Defaults[field]}
		if c.Name == "" && c.Default == "" {
			continue
		}
		for _, form := range f.readings[field].sortedForms() {
			form.Value, _ = f.readings[field].read(form.Text)
			c.Forms = append(c.Forms, *form)
		}
		columns = append(columns, c)
	}
	return columns
}

// Unused returns the names of the columns that no field is in.
func (f *File) Unused() []string {
	if f.rejects {
		return nil
	}
	return f.columns.unused(f.Header)
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

// Describe says how the row is read, or what is wrong with it, in a line.
func (r *Row) Describe() string {
	if len(r.Problems) > 0 {
		return r.Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "row %d", r.Number)
	for _, field := range model.ImportFields {
		if text := r.Value(field); text != "" {
			fmt.Fprintf(&b, "; %s: %s", field, Printable(text))
		}
	}
	return b.String()
}

// How many characters are shown of a text of a file, and of a message that may have one
// in it.
const (
	maxPrinted = 80
	maxMessage = 400
)

// Printable is a text of a file as it may reach a terminal.
func Printable(text string) string { return escape(text, maxPrinted) }

// escape shows what is not printable as Go writes it: a cell could hold escape
// sequences that clear the screen, or type what nobody typed.
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

// maxListed is how many names are shown of a list.
const maxListed = 20

// list joins names of a file.
func list(names []string) string {
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
