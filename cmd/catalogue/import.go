package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"library-catalogue/cmd/catalogue/importer"
	"library-catalogue/db"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
)

// formatFlags say how a file of books is written.
type formatFlags struct {
	Format string `env:"CATALOGUE_FORMAT" enum:"auto,csv,jsonl" default:"auto" help:"csv, jsonl (JSON Lines) or auto: jsonl where the file's name ends in .jsonl or .ndjson, else csv (default: ${default})."`
}

// jsonLines reports whether the file at path is one of JSON Lines.
func (f formatFlags) jsonLines(path string) bool {
	extension := strings.ToLower(filepath.Ext(path))
	return f.Format == "jsonl" || f.Format == "auto" && (extension == ".jsonl" || extension == ".ndjson")
}

type importCmd struct {
	databaseFlags
	formatFlags

	File    string            `arg:"" help:"File to read; - is standard input."`
	Map     map[string]string `env:"CATALOGUE_IMPORT_MAP" placeholder:"FIELD=COLUMN" help:"Read a field from a column of another name; again for each such field, or several with semicolons between. Fields: ${fields}."`
	Default map[string]string `env:"CATALOGUE_IMPORT_DEFAULT" placeholder:"FIELD=VALUE" help:"Value of a field whose cell is empty or not there; again for each such field, as with --map."`
	Dates   string            `env:"CATALOGUE_IMPORT_DATES" enum:"iso,mdy,dmy" default:"iso" help:"How days are written: iso (2006-09-16), mdy (9/16/2006) or dmy (16/9/2006). iso is always understood (default: ${default})."`
	Strict  bool              `env:"CATALOGUE_IMPORT_STRICT" xor:"bad rows" help:"Import nothing at all where one row is bad."`
	Rejects string            `env:"CATALOGUE_IMPORT_REJECTS" xor:"bad rows" placeholder:"FILE" help:"CSV file for the bad rows, with their numbers and what is wrong. Without it the first few are shown."`
}

// Run implements the command.
func (c *importCmd) Run(ctx context.Context, std stdio) error {
	start := time.Now()
	layout, err := c.layout()
	if err != nil {
		return err
	}
	src, err := importer.NewSource(c.File, std.in)
	if err != nil {
		return err
	}
	defer src.Close()
	progress := importer.NewProgress(std.err, isTerminal(std.err), src.Size)
	open := func() (*importer.Reader, error) {
		in, err := src.Open()
		if err != nil {
			return nil, err
		}
		return importer.NewReader(progress.Count(in), c.jsonLines(c.File), layout)
	}
	rows, err := open() // the header is checked before anything is written
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	store, err := c.databaseFlags.open(ctx, db.Options{Logger: std.log()})
	if err != nil {
		return err
	}
	defer store.Close()
	rejects := &importer.Rejects{}
	if c.Rejects != "" {
		if err := rejects.Create(c.Rejects, src, rows.Header); err != nil {
			return err
		}
	}
	im := &importer.Importer{Catalogue: resolvers.New(store), Progress: progress, Reject: rejects.Add}
	if c.Strict {
		err = im.ImportStrict(ctx, rows, open)
	} else {
		err = im.Import(ctx, rows)
	}
	progress.Done()
	if bad, ok := errors.AsType[*importer.Row](err); ok {
		fmt.Fprintf(std.err, "%v\nNothing was imported: with --strict every row must be good.\n", bad)
		return exitCode(1)
	}
	err = errors.Join(err, rejects.Close(std.err))
	if err != nil && ctx.Err() != nil {
		err = errors.New("stopped")
	}
	if err != nil && c.Strict {
		return fmt.Errorf("%w: nothing was imported", err)
	}
	if err == nil {
		if slow := store.AnalyzeGrown(ctx, im.Created); slow != nil {
			fmt.Fprintf(std.err, "Lists may be slow for a minute, since PostgreSQL did not look at the new rows: %v\n", slow)
		}
	}
	fmt.Fprintf(std.out, "%v in %.1f s\n", im.Counts, time.Since(start).Seconds())
	if err != nil {
		return fmt.Errorf("%w: what is counted above is kept; import the file again for the rest", err)
	}
	if im.Rejected > 0 {
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
