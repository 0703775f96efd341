package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"library-catalogue/db/dbtest"
)

// importRows is the number of books that are imported into a filled catalogue.
const importRows = 20_000

// Lines of the table that are no requests, and the suffix of those that are sent after a write.
const (
	importLine     = "import, for each row"
	startLine      = "start-up, until ready"
	memoryLine     = "memory after the start"
	usedMemoryLine = "memory after these requests"
	firstSuffix    = ", first after a write"
	cachedLine     = "page 1 again, from the cache"
	sizeLine       = "on disk, for each book"
)

// growth measures catalogues of several sizes.
type growth struct {
	program, folder string
	engines         []string
	sizes           []int
	fillOnly        bool
	least           time.Duration // of the requests of a line
	stops           []func() error
	postgres        func(name string) (url string, err error) // nil until the server runs
}

// runGrowth runs the command growth.
func runGrowth(ctx context.Context, arguments []string) error {
	g := &growth{least: 2 * time.Second}
	flags := flag.NewFlagSet("growth", flag.ExitOnError)
	sizes := flags.String("sizes", "10000,100000", "numbers of books; empty prints what was measured before")
	engines := flags.String("engines", "sqlite,postgres",
		"sqlite, postgres, and pocketbase, which is compared with sqlite")
	flags.StringVar(&g.folder, "folder", "/var/tmp/catalogue-growth",
		"keeps the databases and results; PostgreSQL must reach it")
	flags.BoolVar(&g.fillOnly, "fill", false, "only fill the databases, or continue an interrupted fill")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "Usage: bench growth [flags] PROGRAM\nMeasure catalogues of several sizes.")
		flags.PrintDefaults()
	}
	_ = flags.Parse(arguments)
	if flags.NArg() != 1 {
		flags.Usage()
		os.Exit(2)
	}
	var err, noFolder error
	g.program, err = filepath.Abs(flags.Arg(0))
	g.folder, noFolder = filepath.Abs(g.folder)
	if err := errors.Join(err, noFolder); err != nil {
		return err
	}
	g.engines = strings.Split(*engines, ",")
	for size := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(size)
		if size != "" && (err != nil || n < 1000) {
			return fmt.Errorf("--sizes must be numbers of at least 1000, not %q", size)
		}
		if size != "" {
			g.sizes = append(g.sizes, n)
		}
	}
	return g.run(ctx)
}

// run measures each engine at each size, and prints the table of all results in the folder.
func (g *growth) run(ctx context.Context) (err error) {
	defer func() {
		for _, stop := range g.stops {
			err = errors.Join(err, stop())
		}
	}()
	if err := os.MkdirAll(g.folder, 0o711); err != nil {
		return err
	}
	for _, size := range g.sizes {
		for _, engine := range g.engines {
			fmt.Fprintf(os.Stderr, "%s with %d books\n", engine, size)
			cells, err := g.part(ctx, engine, size)
			if err != nil && (cells == nil || ctx.Err() != nil) {
				return fmt.Errorf("%s with %d books: %w", engine, size, err)
			}
			if g.fillOnly {
				continue
			}
			if err != nil { // a cell says so
				fmt.Fprintln(os.Stderr, err)
			}
			text, err := json.MarshalIndent(cells, "", "\t")
			if err != nil {
				return err
			}
			if err := os.WriteFile(g.file(engine, size)+".json", text, 0o644); err != nil {
				return err
			}
		}
	}
	return g.printTables()
}

func (g *growth) file(engine string, size int) string {
	return filepath.Join(g.folder, fmt.Sprintf("%s-%d", engine, size))
}

// part fills and measures one engine at one size.
func (g *growth) part(ctx context.Context, engine string, size int) (cells map[string]string, err error) {
	if engine == "pocketbase" {
		return g.peerPart(ctx, size)
	}
	c := &catalogue{program: g.program}
	if c.database, err = g.database(engine, size); err != nil {
		return nil, err
	}
	if out, err := c.command(ctx, "db", "migrate", "up").Output(); err != nil {
		return nil, fmt.Errorf("migrate: %w: %s", err, out)
	}
	if engine == "sqlite" {
		err = fillSQLite(ctx, g.file(engine, size)+".db", size)
	} else {
		err = fillPostgres(ctx, c.database, size)
	}
	if err != nil {
		return nil, err
	}
	if c.postgres, err = analyze(ctx, c.database); err != nil {
		return nil, err
	}
	bytes, err := g.perBook(engine, size, func() (int64, error) { return c.bytes(ctx) })
	if err != nil || g.fillOnly {
		return nil, err
	}
	cells, err = c.measure(ctx, size, g.least)
	if cells != nil {
		cells[sizeLine] = bytes
	}
	return cells, err
}

// database returns the URL of the database of an engine and a size. The first one of PostgreSQL starts its server.
func (g *growth) database(engine string, size int) (url string, err error) {
	switch engine {
	case "sqlite":
		return "sqlite:" + g.file(engine, size) + ".db", nil
	case "postgres":
		if g.postgres == nil {
			var stop func() error
			g.postgres, stop, err = dbtest.Keep(filepath.Join(g.folder, "postgres"),
				append(settings, "max_wal_size=1GB")...)
			if err != nil {
				return "", err
			}
			g.stops = append(g.stops, stop)
		}
		return g.postgres(fmt.Sprintf("growth_%d", size))
	}
	return "", fmt.Errorf("--engines must be sqlite, postgres or pocketbase, not %q", engine)
}

// perBook returns the size of a database after its first fill, for each book. Later runs leave free pages.
func (g *growth) perBook(engine string, size int, measure func() (int64, error)) (string, error) {
	file := g.file(engine, size) + ".bytes"
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		var bytes int64
		if bytes, err = measure(); err == nil {
			text = []byte(strconv.FormatInt(bytes, 10))
			err = os.WriteFile(file, text, 0o644)
		}
	}
	if err != nil {
		return "", err
	}
	bytes, err := strconv.ParseFloat(string(text), 64)
	return fmt.Sprintf("%.2f kB", bytes/1000/float64(size)), err
}

// fileBytes returns the size of an SQLite database.
func fileBytes(file string) (bytes int64, err error) {
	for _, name := range []string{file, file + "-wal"} {
		info, err := os.Stat(name)
		if err == nil {
			bytes += info.Size()
		} else if !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	return bytes, nil
}

// printTables prints a table for each engine that has results in the folder, with a column for each size.
func (g *growth) printTables() error {
	names := []string{importLine, sizeLine, startLine, memoryLine, usedMemoryLine}
	for _, l := range catalogueLines(0, "", "") {
		if l.changed {
			names = append(names, l.name+firstSuffix)
		}
		names = append(names, l.name)
	}
	for _, engine := range []struct{ name, title string }{
		{"sqlite", "SQLite"}, {"postgres", "PostgreSQL"}, {"pocketbase", "PocketBase " + peerVersion},
	} {
		files, err := filepath.Glob(filepath.Join(g.folder, engine.name+"-*.json"))
		if err != nil || len(files) == 0 {
			continue
		}
		columns := map[int]map[string]string{}
		for _, file := range files {
			size, err := strconv.Atoi(strings.TrimSuffix(file[strings.LastIndexByte(file, '-')+1:], ".json"))
			if err != nil {
				return err
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			var cells map[string]string
			if err := json.Unmarshal(text, &cells); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			columns[size] = cells
		}
		printTable(engine.title, slices.Concat(names, []string{cachedLine}), columns)
	}
	return nil
}

func printTable(title string, names []string, columns map[int]map[string]string) {
	sizes := slices.Sorted(maps.Keys(columns))
	fmt.Printf("| %s, books |", title)
	for _, size := range sizes {
		fmt.Printf(" %s |", thousands(size))
	}
	fmt.Printf("\n|---|%s\n", strings.Repeat("---:|", len(sizes)))
	for _, name := range names {
		row, known := "| "+name+" |", false
		for _, size := range sizes {
			cell, has := columns[size][name]
			known = known || has
			row += " " + cmp.Or(cell, "–") + " |"
		}
		if known {
			fmt.Println(row)
		}
	}
	fmt.Println()
}

// thousands returns a number like 10,000.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
