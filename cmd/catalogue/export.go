package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
)

type exportCmd struct {
	cli.DatabaseFlags
	formatFlags

	File  string `arg:"" optional:"" default:"-" help:"File to write; - is standard output (default: ${default})."`
	Force bool   `env:"CATALOGUE_EXPORT_FORCE" help:"Replace the file where it is there already."`
}

// Run implements the command.
func (c *exportCmd) Run(ctx context.Context, std cli.Stdio) error {
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
		format := csvFormat
		if c.jsonLines(c.File) {
			format = jsonFormat
		}
		if err := exportBooks(ctx, resolvers.New(store), format(buffered)); err != nil {
			return err
		}
		return buffered.Flush()
	}
	if c.File == "-" {
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
func exportBooks(ctx context.Context, catalogue *resolvers.Resolver, write func(*model.Book, *model.Genre, *model.Category) error) error {
	return catalogue.StreamBooks(ctx, model.PageArgs{}, exportPart, func(ctx context.Context, books []*model.Book) error {
		for _, book := range books {
			genre, err := catalogue.Book().Genre(ctx, book)
			if err != nil {
				return err
			}
			category, err := catalogue.Genre().Category(ctx, genre)
			if err != nil {
				return err
			}
			if err := write(book, genre, category); err != nil {
				return err
			}
		}
		return nil
	})
}

// fileFields are the fields of a book in a file; its genre's and its category's name
// follow, as in model.ImportFields.
var fileFields = slices.DeleteFunc(slices.Clone(model.BookFields), func(f model.RowField[model.Book]) bool { return !f.Is(model.InFile) })

// csvFormat writes RFC 4180 with a header. Records end with \n, and line ends in
// a cell stay what they are.
func csvFormat(out *bufio.Writer) func(*model.Book, *model.Genre, *model.Category) error {
	w := csv.NewWriter(out)         // which buffers nothing beyond out
	_ = w.Write(model.ImportFields) // out keeps an error for its Flush
	cells := make([]string, 0, len(model.ImportFields))
	return func(b *model.Book, g *model.Genre, c *model.Category) error {
		cells = cells[:0]
		for _, f := range fileFields {
			cells = append(cells, f.Text(b))
		}
		return w.Write(append(cells, g.Name, c.Name))
	}
}

// jsonFormat writes JSON Lines.
func jsonFormat(out *bufio.Writer) func(*model.Book, *model.Genre, *model.Category) error {
	var line []byte
	return func(b *model.Book, g *model.Genre, c *model.Category) error {
		line = append(line[:0], '{')
		for _, f := range fileFields {
			line = append(append(append(line, '"'), f.Key...), `":`...)
			line = append(f.AppendREST(line, b), ',')
		}
		line = model.AppendString(append(line, `"genre":`...), g.Name)
		line = model.AppendString(append(line, `,"category":`...), c.Name)
		_, err := out.Write(append(line, "}\n"...))
		return err
	}
}
