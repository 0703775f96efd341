package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/bookfile"
	"library-catalogue/graph/model/marc"
	"library-catalogue/importer"
	"library-catalogue/resolvers"
)

type exportCmd struct {
	cli.DatabaseFlags

	File        string `arg:"" optional:"" default:"-" help:"File to write: .csv, .xlsx, .json (an array), .jsonl or .marcxml, also compressed as .gz or .zst; - is standard output (default: ${default})."`
	Format      string `enum:"auto,csv,xlsx,json,jsonl,marcxml" default:"auto" help:"Format: csv, xlsx, json, jsonl, marcxml, or auto, which takes it from the extension of the file and writes csv to standard output (default: ${default})."`
	Force       bool   `help:"Replace an existing file."`
	Spreadsheet bool   `help:"Write CSV for a spreadsheet: with a byte order mark, by which Excel recognises UTF-8, and with an apostrophe before each cell that would be a formula. An import reads the apostrophe as text."`
}

func (c *exportCmd) Run(ctx context.Context, std cli.Stdio) error {
	format, compression, err := c.output()
	if err != nil {
		return err
	}
	store, err := c.OpenExisting(ctx, db.Options{Logger: std.Log()})
	if err != nil {
		return err
	}
	defer store.Close()
	books := 0
	err = writeOutput(std, c.File, c.Force, func(buffer *bufio.Writer) error {
		out, err := compress(buffer, compression)
		if err != nil {
			return err
		}
		packed := io.WriteCloser(uncompressed{out})
		if format == "xlsx" {
			packed, err = bookfile.NewXLSX(out)
		}
		if err == nil {
			books, err = exportBooks(ctx, resolvers.New(store), packed, c.layout(format))
		}
		if err != nil {
			return err // without an end that would make the file look complete
		}
		return errors.Join(packed.Close(), out.Close())
	})
	if err == nil && c.File != "-" {
		_, err = fmt.Fprintf(std.Out, "%d books exported\n", books)
	}
	return err
}

func (c *exportCmd) output() (format, compression string, err error) {
	name := importer.Printable(c.File)
	extension, compression := splitName(c.File)
	named := formats[extension]
	given := c.Format
	if given == "auto" {
		given = ""
	}
	switch {
	case isArchive(c.File):
		return "", "", fmt.Errorf("%s is the name of an archive: write it with catalogue archive create", name)
	case named != "" && given != "" && named != given:
		return "", "",
			fmt.Errorf("%s is the name of a %s file, and --format is %s: change one of them", name, named, given)
	case c.File == "-" || c.Spreadsheet:
		named = cmp.Or(named, "csv")
	}
	switch format = cmp.Or(given, named); {
	case format == "":
		err = fmt.Errorf("%s: end the name in .csv, .xlsx, .json, .jsonl or .marcxml, or set --format", name)
	case c.Spreadsheet && format != "csv":
		err = errors.New("--spreadsheet applies to CSV only")
	}
	return format, compression, err
}

// layout is how books stand in a file.
type layout struct {
	begin, separator, end string
	appendBook            bookfile.Appender
}

func (c *exportCmd) layout(format string) layout {
	switch format {
	case "json":
		return layout{"[\n", ",\n", "\n]\n", bookfile.AppendJSON}
	case "xlsx":
		return layout{bookfile.SheetBegin(), "", bookfile.SheetEnd, bookfile.AppendSheetRow}
	case "jsonl":
		return layout{"", "", "", bookfile.AppendJSONLine}
	case "marcxml":
		return layout{marc.CollectionStart, "", marc.CollectionEnd, marc.AppendBook}
	}
	return layout{bookfile.Header(c.Spreadsheet), "", "", bookfile.CSV(c.Spreadsheet)}
}

// exportBatchBooks is the number of books that are read at a time.
const exportBatchBooks = 500

// exportBooks writes all books of one snapshot in order of id, and returns their number.
func exportBooks(ctx context.Context, catalogue *resolvers.Resolver, out io.Writer, l layout) (n int, err error) {
	if _, err := io.WriteString(out, l.begin); err != nil {
		return 0, err
	}
	var record []byte
	write := func(ctx context.Context, books []*model.Book) error {
		n += len(books)
		for _, book := range books {
			genre, err := catalogue.Book().Genre(ctx, book)
			if err != nil {
				return err
			}
			category, err := catalogue.Genre().Category(ctx, genre)
			if err != nil {
				return err
			}
			record = l.appendBook(record, book, genre, category)
			if _, err := out.Write(record); err != nil {
				return err
			}
			record = append(record[:0], l.separator...)
		}
		return nil
	}
	err = catalogue.ReadTransaction(ctx, model.NoReplica, func(ctx context.Context, _ int64) error {
		return catalogue.StreamBooks(ctx, model.PageArgs{}, exportBatchBooks, write)
	})
	if err == nil {
		_, err = io.WriteString(out, l.end)
	}
	return n, err
}
