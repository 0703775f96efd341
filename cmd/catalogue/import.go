package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/cmd/catalogue/progress"
	"library-catalogue/db"
	"library-catalogue/db/schema"
	"library-catalogue/graph/model"
	"library-catalogue/importer"
	"library-catalogue/importer/source"
	"library-catalogue/resolvers"
)

type importCmd struct {
	cli.DatabaseFlags
	cli.OutputFlags

	File       string   `arg:"" help:"File to read: CSV, JSON, a spreadsheet (.xlsx, .ods), MARC (.mrc, .mrk, MARCXML), BibTeX or RIS, also compressed with gzip or zstd; - is standard input."`
	Format     string   `enum:"${formats}" default:"auto" help:"Format of the file: csv, json or jsonl (both read a JSON array and JSON Lines), xlsx, or auto, which looks at the name and the content (default: ${default})."`
	Lookup     bool     `help:"Complete rows that lack a required value by look-ups of their ISBNs. CATALOGUE_LOOKUP has the sources. Ctrl-C ends the look-ups; the rows after it are bad."`
	DryRun     bool     `help:"Show how the file is read and what an import would store, and store nothing."`
	Map        []string `sep:";" placeholder:"FIELD=COLUMN" help:"Read a field from this column; repeat for each such field, or separate several by semicolons. FIELD= imports no column. Fields: ${fields}."`
	Default    []string `sep:";" placeholder:"FIELD=VALUE" help:"Value of a field if its cell is empty or missing; repeat as for --map."`
	Encoding   encoding `enum:"${encodings}" default:"auto" help:"Encoding of the text: one of ${enum}. auto asks if several are possible (default: ${default})."`
	Sheet      string   `placeholder:"NAME" help:"Sheet of a spreadsheet. Default: all sheets with the same columns as the best one."`
	Delimiter  string   `placeholder:"CHARACTER" default:"auto" help:"Delimiter of CSV: one character, tab, or auto, which looks for , ; tab and | (default: ${default})."`
	HeaderRow  string   `placeholder:"N" help:"Line of the text, or row of the spreadsheet, with the column names. Default: the best of the first ten."`
	NoHeader   bool     `help:"The first row is a book. The columns are #1, #2, and so on: --map name=#1."`
	Dates      string   `enum:"${dates}" default:"auto" help:"Order of day and month: iso (2006-09-16), mdy (9/16/2006), dmy (16/9/2006), or auto, which detects it from the column. Every choice also accepts iso (default: ${default})."`
	Decimal    string   `enum:"${decimals}" default:"auto" help:"Meaning of 85.000 in prices: comma (the comma is the decimal separator: 85000), point (85), or auto, which asks if no other price tells (default: ${default})."`
	Duplicates string   `enum:"${duplicates}" default:"ask" help:"Row to import if several are the same book with different values: keep (all, as different books), last, first, reject (none of them), or ask, which refuses the file (default: ${default})."`
	Strict     bool     `xor:"bad rows" help:"Import nothing if one row is bad."`
	Rejects    string   `xor:"bad rows" placeholder:"FILE" help:"CSV file for the bad rows, each with its faults and what would correct them. Without it the first few are printed."`
	Force      bool     `help:"Replace an existing file of --rejects."`
}

// encoding is the name of an encoding, which may be given in any case.
type encoding string

// UnmarshalText implements encoding.TextUnmarshaler.
func (e *encoding) UnmarshalText(text []byte) error {
	names := append([]string{"auto"}, source.Encodings...)
	i := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, string(text)) })
	if i < 0 {
		return fmt.Errorf("it must be one of %s", strings.Join(names, ", "))
	}
	*e = encoding(names[i])
	return nil
}

func (c *importCmd) Run(ctx context.Context, std cli.Stdio, env cli.Getenv, command *kong.Context) error {
	name := importer.Printable(c.File)
	switch {
	case isArchive(c.File):
		return fmt.Errorf("%s is an archive: restore it with catalogue archive restore", name)
	case c.Force && c.Rejects == "":
		return errors.New("--force applies to the file of --rejects only")
	}
	start := time.Now()
	options, err := c.options()
	if err != nil {
		return err
	}
	ctx = importer.AsOperator(ctx)
	in, err := source.Open(ctx, c.File, std.In)
	if err != nil {
		return nothingImported(ctx, err)
	}
	defer in.Close()
	var sources resolvers.Sources
	surveyed := options
	if c.Lookup {
		surveyed = options.ForLookups()
		if sources, err = openSources(env("CATALOGUE_LOOKUP"), env); err != nil {
			return nothingImported(ctx, err)
		}
	}
	file, err := importer.Survey(ctx, in, surveyed) // before anything is written
	if err != nil && ctx.Err() != nil {
		return nothingImported(ctx, err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, c.withAnswers(err, file, command.Args))
	}
	if c.Rejects != "" { // before look-ups, which take long
		if err := checkRejects(in, c.Rejects, c.Force); err != nil {
			return err
		}
	}
	store, closeStore, err := c.open(ctx, std)
	if err != nil {
		return err
	}
	defer closeStore()
	catalogue, list := resolvers.New(store), in
	if catalogue.Sources = sources; c.Lookup {
		if list, err = lookUpRows(ctx, std, catalogue, file); err != nil {
			return nothingImported(ctx, err)
		}
		defer list.Close()
		if ctx.Err() != nil {
			ctx = context.WithoutCancel(ctx)
		}
		if file, err = importer.Survey(ctx, list, options); err != nil {
			return nothingImported(ctx, err)
		}
	}
	if err := c.preview(ctx, std, file); err != nil {
		return err
	}
	rejects, err := newRejects(file, c.Rejects)
	if err != nil {
		return err
	}
	bar := progress.New(std.Err, cli.IsTerminal(std.Err), "import", list.Size(), list.Read)
	var changes []string
	im := &importer.Importer{
		Catalogue: catalogue, Strict: c.Strict, DryRun: c.DryRun, Reject: rejects.add,
		Progress: func(counts importer.Counts) { bar.Step(counts.Rows()) },
		Change: func(row *importer.Row, change model.BookChange) { // in a dry run
			if len(changes) < shownChanges {
				changes = append(changes, describeChange(row, change))
			}
		},
	}
	err = im.Import(ctx, file)
	bar.Done()
	// In these two cases nothing is stored. Import asks for a category once the first batch has needed one.
	if _, ok := errors.AsType[importer.Questions](err); ok {
		rejects.discard()
		return fmt.Errorf("%s: %w", name, c.withAnswers(err, file, command.Args))
	}
	if bad, ok := errors.AsType[*importer.Row](err); ok {
		fmt.Fprintf(std.Err, "%v\nNothing was imported: with --strict every row must be good.\n", bad)
		return cli.ExitCode(1)
	}
	if err = errors.Join(err, rejects.close(std.Err)); err != nil && c.DryRun {
		return nothingImported(ctx, err) // the report would be of a part of the file
	}
	c.printChanges(std, changes, im.Updated)
	c.adviseDefaults(std.Err, file, command.Args)
	printUnreadable(std.Err, file)
	return c.end(ctx, std, store, im, err, start)
}

// lookUpRows returns the rows of a list with the values that look-ups found for them. The end of ctx ends the look-ups.
func lookUpRows(
	ctx context.Context, std cli.Stdio, catalogue *resolvers.Resolver, file *importer.File,
) (*source.Source, error) {
	var out bytes.Buffer
	w, err := importer.NewRejectsWriter(file, &out)
	if err != nil {
		return nil, err
	}
	done := 0
	bar := progress.New(std.Err, cli.IsTerminal(std.Err), "look-ups", int64(file.Rows),
		func() int64 { return int64(done) })
	defer bar.Done()
	find := func(isbn string) ([]*model.FoundBook, string) { return catalogue.FindBooks(ctx, isbn) }
	reading := context.WithoutCancel(ctx)
	if err := file.LookUp(reading, find, func(row *importer.Row) error {
		done++
		bar.Step(done)
		return w.Add(row)
	}); err != nil {
		return nil, err
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	return source.Open(reading, "-", &out)
}

// end prints the counts of an import that returned err, and returns the error of the command.
func (c *importCmd) end(
	ctx context.Context, std cli.Stdio, store *db.Store, im *importer.Importer, err error, start time.Time,
) error {
	if err != nil && ctx.Err() != nil {
		err = errors.New("stopped")
	}
	outcome := im.Outcome(err)
	switch {
	case outcome == importer.Unconfirmed:
		return fmt.Errorf("the connection broke during the commit, so all rows are stored or none; import the file "+
			"again: %w", model.AsError(err).Err)
	case outcome == importer.NothingStored && err != nil:
		return nothingImported(ctx, err)
	case outcome == importer.AllStored:
		analyzeGrown(ctx, std, store, im.Created)
	}
	printed := c.printCounts(std.Out, im.Counts, time.Since(start))
	switch {
	case err != nil: // some rows are stored
		return fmt.Errorf("%w: the rows counted above are stored; import the file again for the rest",
			errors.Join(err, printed))
	case printed == nil && im.Rejected > 0:
		return cli.ExitCode(1)
	}
	return printed
}

// analyzeGrown updates PostgreSQL's statistics after created books were stored, and warns if that fails.
func analyzeGrown(ctx context.Context, std cli.Stdio, store *db.Store, created int) {
	if err := store.AnalyzeGrown(ctx, created); err != nil {
		fmt.Fprintf(std.Err, "Lists may be slow for a minute, because ANALYZE failed: %v\n", err)
	}
}

func (c *importCmd) printCounts(out io.Writer, counts importer.Counts, took time.Duration) error {
	summary := struct {
		DryRun bool `json:"dry_run"`
		Rows   int  `json:"rows"`
		importer.Counts
		Seconds float64 `json:"seconds"`
	}{c.DryRun, counts.Rows(), counts, took.Seconds()}
	return c.Print(out, summary, func(out io.Writer) error {
		if c.DryRun {
			_, err := fmt.Fprintf(out, "Nothing was stored. An import would end with: %v\n", counts)
			return err
		}
		_, err := fmt.Fprintf(out, "%v in %.1f s\n", counts, took.Seconds())
		return err
	})
}

// nothingImported returns the error of an import that stored no row.
func nothingImported(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = errors.New("stopped")
	}
	return fmt.Errorf("%w: nothing was imported", err)
}

const (
	firstRows    = 3
	firstLookups = 20
	shownChanges = 20
)

// printChanges prints the books that a dry run would change.
func (c *importCmd) printChanges(std cli.Stdio, changes []string, all int) {
	if len(changes) == 0 {
		return
	}
	out := c.reportTo(std)
	fmt.Fprintf(out, "Books that would change:\n  %s\n", strings.Join(changes, "\n  "))
	if more := all - len(changes); more > 0 {
		fmt.Fprintf(out, "  and %s more\n", importer.CountRows(more))
	}
}

// reportTo returns the output of a dry run's report before its counts.
func (c *importCmd) reportTo(std cli.Stdio) io.Writer {
	if c.JSON {
		return std.Err
	}
	return std.Out
}

// preview prints how a file is read, with its first rows in a dry run. Without one it prints nothing about a plain
// file.
func (c *importCmd) preview(ctx context.Context, std cli.Stdio, file *importer.File) error {
	if !c.DryRun {
		if !file.IsPlain() {
			fmt.Fprintf(std.Err, "%s: %s", importer.Printable(c.File), describeFile(file))
		}
		return nil
	}
	count := firstRows
	if file.HasLookups() {
		count = firstLookups
	}
	first, err := file.First(ctx, count)
	if err != nil {
		return err
	}
	out := c.reportTo(std)
	fmt.Fprintf(out, "%s: %sThe first rows:\n", importer.Printable(c.File), describeFile(file))
	for _, row := range first {
		fmt.Fprintf(out, "  %s\n", describeRow(row))
	}
	return nil
}

// open opens the database. A dry run does not migrate it, and takes an empty temporary one, which close removes, for
// a missing SQLite database.
func (c *importCmd) open(ctx context.Context, std cli.Stdio) (store *db.Store, close func(), err error) {
	if !c.DryRun {
		store, err = c.DatabaseFlags.Open(ctx, db.Options{Logger: std.Log()})
		return store, func() { _ = store.Close() }, err
	}
	if c.Exists() != nil {
		folder, err := os.MkdirTemp("", "catalogue-preview-")
		if err != nil {
			return nil, nil, err
		}
		empty := cli.DatabaseFlags{DatabaseURL: "sqlite:" + filepath.Join(folder, "empty.db")}
		if store, err = empty.Open(ctx, db.Options{Logger: std.Log()}); err != nil {
			return nil, nil, errors.Join(err, os.RemoveAll(folder))
		}
		return store, func() { _ = errors.Join(store.Close(), os.RemoveAll(folder)) }, nil
	}
	if store, err = db.Open(ctx, c.URL(), db.Options{Logger: std.Log()}); err != nil {
		return nil, nil, err
	}
	steps, err := store.Migrations(ctx)
	if err == nil && slices.ContainsFunc(steps, func(m schema.Migration) bool { return m.Applied.IsZero() }) {
		err = errors.New("the database's schema is not up to date: run catalogue db migrate up first")
	}
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return store, func() { _ = store.Close() }, nil
}

// options parses the flags for reading the file.
func (c *importCmd) options() (importer.Options, error) {
	format := c.Format
	if extension, _ := splitName(c.File); format == "auto" && strings.HasPrefix(formats[extension], "json") {
		format = "json"
	}
	options, invalid := importer.ParseOptions(map[string][]string{
		"format": {format}, "delimiter": {c.Delimiter}, "map": c.Map, "default": c.Default, "dates": {c.Dates},
		"duplicates": {c.Duplicates},
		"encoding":   {string(c.Encoding)}, "decimal": {c.Decimal}, "sheet": {c.Sheet}, "header_row": {c.HeaderRow},
		"no_header": {strconv.FormatBool(c.NoHeader)},
	})
	for _, name := range importer.OptionNames {
		if rule := invalid[name]; rule != "" {
			return options, fmt.Errorf("--%s %s", strings.ReplaceAll(name, "_", "-"), rule)
		}
	}
	return options, nil
}
