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

// Describe says how the file is read, in lines.
func (f *File) Describe() string {
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
	b.WriteByte('\n')
	for _, field := range model.ImportFields {
		column, fallback := f.columnOf(field), f.options.Defaults[field]
		if column == "" && fallback == "" {
			continue
		}
		fmt.Fprintf(&b, "  %-12s", field)
		if column != "" {
			b.WriteString(" " + Printable(column))
		}
		if fallback != "" {
			fmt.Fprintf(&b, " (where there is none: %s)", Printable(fallback))
		}
		for _, form := range f.readings[field].sortedForms() {
			value, _ := f.readings[field].read(form.Text)
			fmt.Fprintf(&b, "; %s is %s (%s; %d rows)", Printable(form.Text), value, form.Layout, form.Cells)
		}
		b.WriteByte('\n')
	}
	if unused := f.columns.unused(f.Header); len(unused) > 0 && !f.rejects {
		fmt.Fprintf(&b, "  %-12s %s\n", "not used:", list(unused))
	}
	return b.String()
}

// First describes the first rows as they are read, in lines.
func (f *File) First(ctx context.Context, count int) (string, error) {
	rows, err := f.Open(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for range count {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
		if len(row.Problems) > 0 {
			fmt.Fprintf(&b, "  %v\n", row)
			continue
		}
		fmt.Fprintf(&b, "  row %d", row.Number)
		for _, field := range model.ImportFields {
			if text := row.form[field].Written(); text != "" {
				fmt.Fprintf(&b, "; %s: %s", field, Printable(text))
			}
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
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
