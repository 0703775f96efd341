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

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db"
	"library-catalogue/db/archive"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/bookfile"
	"library-catalogue/resolvers"
)

type exportCmd struct {
	cli.DatabaseFlags
	formatFlags

	File        string `arg:"" optional:"" default:"-" help:"File to write; - is standard output (default: ${default})."`
	Force       bool   `env:"CATALOGUE_EXPORT_FORCE" help:"Replace the file where it is there already."`
	Spreadsheet bool   `env:"CATALOGUE_EXPORT_SPREADSHEET" xor:"form" help:"Write CSV for a spreadsheet: with the mark by which Excel knows UTF-8, and an apostrophe before what it would take for a formula, which an import takes for a part of the text."`
	All         bool   `env:"CATALOGUE_EXPORT_ALL" xor:"form" help:"Write the whole catalogue into an archive (.tar.zst), from which import --all restores it: also genres and categories without books, descriptions, ids, versions and times."`
}

// Run implements the command.
func (c *exportCmd) Run(ctx context.Context, std cli.Stdio) error {
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
	export := func(out io.Writer) error {
		buffered := bufio.NewWriterSize(out, 64<<10)
		if c.All {
			_, err := archive.Write(ctx, store, buffered)
			return errors.Join(err, buffered.Flush())
		}
		appendBook := bookfile.JSON()
		if !jsonLines {
			_, _ = buffered.WriteString(bookfile.Header(c.Spreadsheet)) // Flush returns an error
			appendBook = bookfile.CSV(c.Spreadsheet)
		}
		if err := exportBooks(ctx, resolvers.New(store), buffered, appendBook); err != nil {
			return err
		}
		return buffered.Flush()
	}
	if c.File == "-" {
		if c.All && cli.IsTerminal(std.Out) {
			return errors.New("an archive is not for a terminal: give the name of a file, like archive.tar.zst")
		}
		return export(std.Out)
	}
	return writeFile(c.File, c.Force, export)
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
	return catalogue.ReadTransaction(ctx, func(ctx context.Context) error {
		return catalogue.StreamBooks(ctx, model.PageArgs{}, exportPart, write)
	})
}
