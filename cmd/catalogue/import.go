package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
)

// formatFlags say how a file of books is written.
type formatFlags struct {
	Format string `env:"CATALOGUE_FORMAT" enum:"auto,csv,jsonl" default:"auto" help:"csv, jsonl (JSON Lines) or auto: jsonl where the file's name ends in .jsonl or .ndjson, else csv (default: ${default})."`
}

func (f formatFlags) jsonLines(path string) bool {
	extension := strings.ToLower(filepath.Ext(path))
	return f.Format == "jsonl" || f.Format == "auto" && (extension == ".jsonl" || extension == ".ndjson")
}

type importCmd struct {
	databaseFlags
	formatFlags

	File    string            `arg:"" help:"File to read; - is standard input."`
	Map     map[string]string `env:"CATALOGUE_IMPORT_MAP" placeholder:"FIELD=COLUMN" help:"Read a field from a column of another name; again for each such field, or several with semicolons between. Fields: name, description, pages, published_at, author, price, genre, category."`
	Default map[string]string `env:"CATALOGUE_IMPORT_DEFAULT" placeholder:"FIELD=VALUE" help:"Value of a field whose cell is empty or not there; again for each such field, as with --map."`
	Dates   string            `env:"CATALOGUE_IMPORT_DATES" enum:"iso,mdy,dmy" default:"iso" help:"How days are written: iso (2006-09-16), mdy (9/16/2006) or dmy (16/9/2006). iso is always understood (default: ${default})."`
	Strict  bool              `env:"CATALOGUE_IMPORT_STRICT" xor:"bad rows" help:"Import nothing at all where one row is bad."`
	Rejects string            `env:"CATALOGUE_IMPORT_REJECTS" xor:"bad rows" placeholder:"FILE" help:"CSV file for the bad rows, with their numbers and what is wrong. Without it the first few are shown."`
}

// Run implements the command.
func (c *importCmd) Run(ctx context.Context, io stdio) error {
	start := time.Now()
	layout, err := c.layout()
	if err != nil {
		return err
	}
	src, err := newSource(c.File, io.in)
	if err != nil {
		return err
	}
	defer src.close()
	progress := newProgress(io.err, src.size)
	open := func() (*rowReader, error) {
		in, err := src.open()
		if err != nil {
			return nil, err
		}
		return newRowReader(progress.count(in), c.jsonLines(c.File), layout)
	}
	rows, err := open() // the header is checked before anything is written
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	store, err := c.databaseFlags.open(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	rejects := &rejects{}
	if c.Rejects != "" {
		if err := rejects.create(c.Rejects, c.File, rows.header); err != nil {
			return err
		}
	}
	im := &importer{catalogue: resolvers.New(store), progress: progress, reject: rejects.add}
	if c.Strict {
		err = im.runStrict(ctx, rows, open)
	} else {
		err = im.run(ctx, rows)
	}
	progress.done()
	if bad, ok := errors.AsType[*row](err); ok {
		fmt.Fprintf(io.err, "%v\nNothing was imported: with --strict every row must be good.\n", bad)
		return exitCode(1)
	}
	err = errors.Join(err, rejects.close(io.err))
	if err != nil && ctx.Err() != nil {
		err = errors.New("stopped")
	}
	if err != nil && c.Strict {
		return fmt.Errorf("%w: nothing was imported", err)
	}
	if err == nil {
		if slow := store.AnalyzeGrown(ctx, im.created); slow != nil {
			fmt.Fprintf(io.err, "Lists may be slow for a minute, since PostgreSQL did not look at the new rows: %v\n", slow)
		}
	}
	fmt.Fprintf(io.out, "%v in %.1f s\n", im.counts, time.Since(start).Seconds())
	if err != nil {
		return fmt.Errorf("%w: what is counted above is kept; import the file again for the rest", err)
	}
	if im.rejected > 0 {
		return exitCode(1)
	}
	return nil
}

// dateLayouts are the values of --dates as time.Parse knows them.
var dateLayouts = map[string]string{"mdy": "1/2/2006", "dmy": "2/1/2006"}

func (c *importCmd) layout() (model.ImportLayout, error) {
	for _, flag := range []struct {
		name   string
		values map[string]string
	}{{"--map", c.Map}, {"--default", c.Default}} {
		for field := range flag.values {
			if !slices.Contains(model.ImportFields, field) {
				return model.ImportLayout{}, fmt.Errorf("%s: there is no field %s: the fields are %s", flag.name, field, strings.Join(model.ImportFields, ", "))
			}
		}
	}
	return model.ImportLayout{Columns: c.Map, Defaults: c.Default, Dates: dateLayouts[c.Dates]}, nil
}

// source is the file to import, or a pipe.
type source struct {
	path  string
	stdin io.Reader // for "-"
	size  int64     // in bytes; -1 of a pipe
	files []*os.File
	read  bool
}

func newSource(path string, stdin io.Reader) (*source, error) {
	s := &source{path: path, stdin: stdin, size: -1}
	if path != "-" {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() {
			s.size = info.Size()
		}
	}
	return s, nil
}

// open begins to read from the start, which a pipe can do once.
func (s *source) open() (io.Reader, error) {
	if s.read && s.size < 0 {
		return nil, errors.New("the database gave the import up, and a pipe cannot be read again")
	}
	s.read = true
	if s.path == "-" {
		return s.stdin, nil
	}
	file, err := os.Open(s.path)
	s.files = append(s.files, file)
	return file, err
}

func (s *source) close() {
	for _, file := range s.files {
		file.Close()
	}
}
