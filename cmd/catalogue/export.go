package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/bookfile"
	"library-catalogue/importer"
	"library-catalogue/resolvers"
)

type exportCmd struct {
	cli.DatabaseFlags
	formatFlags

	File        string `arg:"" optional:"" default:"-" help:"File to write; - is standard output (default: ${default})."`
	Force       bool   `help:"Replace the file where it is there already."`
	Spreadsheet bool   `help:"Write CSV for a spreadsheet: with the mark by which Excel knows UTF-8, and an apostrophe before what it would take for a formula, which an import takes for a part of the text."`
}

// Run implements the command.
func (c *exportCmd) Run(ctx context.Context, std cli.Stdio) error {
	if strings.HasSuffix(c.File, archiveExtension) {
		return fmt.Errorf("%s is the name of an archive: write it with catalogue archive create", importer.Printable(c.File))
	}
	jsonLines := c.jsonLines(c.File)
	if c.Spreadsheet && jsonLines {
		return errors.New("--spreadsheet is for CSV: leave it out for JSON Lines")
	}
	if err := c.Exists(); err != nil {
		return err
	}
	store, err := c.Open(ctx, db.Options{Logger: std.Log()})
	if err != nil {
		return err
	}
	defer store.Close()
	return writeOutput(std, c.File, c.Force, func(out *bufio.Writer) error {
		appendBook := bookfile.JSON()
		if !jsonLines {
			_, _ = out.WriteString(bookfile.Header(c.Spreadsheet)) // Flush returns an error
			appendBook = bookfile.CSV(c.Spreadsheet)
		}
		return exportBooks(ctx, resolvers.New(store), out, appendBook)
	})
}

// writeOutput writes to the file at path, or to standard output for "-".
func writeOutput(std cli.Stdio, path string, force bool, write func(*bufio.Writer) error) error {
	buffered := func(out io.Writer) error {
		buffer := bufio.NewWriterSize(out, 64<<10)
		return errors.Join(write(buffer), buffer.Flush())
	}
	if path == "-" {
		return buffered(std.Out)
	}
	return writeFile(path, force, buffered)
}

// writeFile writes a file beside path and then gives it that name, so that after a
// failure there is what was there before. It replaces a file only with force; pipes and
// devices are written to as they are.
func writeFile(path string, force bool, write func(io.Writer) error) error {
	refuse := func() error {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !force {
			return fmt.Errorf("%s is there already: give another name, or --force to replace it", path)
		}
		return nil
	}
	if err := refuse(); err != nil {
		return err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	part, mode := path+".part-"+rand.Text(), fs.FileMode(0o666)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode()
	}
	if !mode.IsRegular() { // a pipe or a device, which cannot be replaced
		part = path
	}
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE, mode.Perm())
	if err != nil {
		return err
	}
	if part == path {
		return errors.Join(write(file), file.Close())
	}
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = refuse() // another program may have made it meanwhile
	}
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}

// exportPart is how many books are read at a time.
const exportPart = 500

// exportBooks writes all books in order of id, as they are at one moment.
func exportBooks(ctx context.Context, catalogue *resolvers.Resolver, out io.Writer, appendBook bookfile.Appender) error {
	var record []byte
	write := func(ctx context.Context, books []*model.Book) error {
		for _, book := range books {
			genre, err := catalogue.Book().Genre(ctx, book)
			if err != nil {
				return err
			}
			category, err := catalogue.Genre().Category(ctx, genre)
			if err != nil {
				return err
			}
			record = appendBook(record[:0], book, genre, category)
			if _, err := out.Write(record); err != nil {
				return err
			}
		}
		return nil
	}
	return catalogue.ReadTransaction(ctx, func(ctx context.Context, _ int64) error {
		return catalogue.StreamBooks(ctx, model.PageArgs{}, exportPart, write)
	})
}
