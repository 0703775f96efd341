package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/importer"
)

// describeFile describes how a file is read, in lines.
func describeFile(f *importer.File) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", f.Kind())
	for _, c := range f.Columns() {
		fmt.Fprintf(&b, "  %-12s", c.Field)
		if c.Name != "" {
			b.WriteString(" " + importer.Printable(c.Name))
		}
		for _, name := range c.Others {
			b.WriteString(", else " + importer.Printable(name))
		}
		if c.Default != "" {
			fmt.Fprintf(&b, " (default: %s)", importer.Printable(c.Default))
		}
		for _, form := range c.Forms {
			if form.Value == "" {
				fmt.Fprintf(&b, "; %s is not readable (%s; %s)", importer.Printable(form.Text), form.Layout,
					form.Where())
				continue
			}
			fmt.Fprintf(&b, "; %s is %s (%s; %s)", importer.Printable(form.Text), importer.Printable(form.Value),
				form.Layout, importer.CountRows(form.Cells))
		}
		b.WriteByte('\n')
	}
	if unused := f.Unused(); len(unused) > 0 {
		fmt.Fprintf(&b, "  %-12s %s\n", "not used:", importer.List(unused))
	}
	return b.String()
}

// printUnreadable prints the values that an import could not read.
func printUnreadable(out io.Writer, f *importer.File) {
	for _, c := range f.Columns() {
		for _, form := range c.Forms {
			if form.Value == "" {
				fmt.Fprintf(out, "%s not readable in %s (%s, such as %s): stored books keep theirs\n", c.Field,
					form.Where(), form.Layout, importer.Printable(form.Text))
			}
		}
	}
}

// describeChange describes a stored book that a row would change, in a line.
func describeChange(row *importer.Row, change model.BookChange) string {
	var fields []string
	for _, f := range change.Fields {
		fields = append(fields,
			f.Field+" "+cmp.Or(importer.Printable(f.Old), "(none)")+" → "+cmp.Or(importer.Printable(f.New), "(none)"))
	}
	return fmt.Sprintf("%s, book %d %s: %s", row.Place(), change.ID, importer.Printable(change.Name),
		strings.Join(fields, "; "))
}

// describeRow describes how a row is read, or its faults, in a line.
func describeRow(r *importer.Row) string {
	if len(r.Problems) > 0 {
		return r.Error()
	}
	var b strings.Builder
	b.WriteString(r.Name())
	for _, field := range model.ImportFields {
		if text := r.Value(field); text != "" {
			fmt.Fprintf(&b, "; %s: %s", field, importer.Printable(text))
			if source := r.Sources[field]; source != "" {
				fmt.Fprintf(&b, " (%s)", importer.Printable(source))
			}
		}
	}
	return b.String()
}
