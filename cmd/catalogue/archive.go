package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db"
	"library-catalogue/db/archive"
	"library-catalogue/graph/model"
	"library-catalogue/importer"
)

// archiveCmd holds the commands for a whole catalogue.
type archiveCmd struct {
	Create  archiveCreateCmd  `cmd:"" help:"Write the whole catalogue into an archive: books, genres, categories, ids, versions and times."`
	Restore archiveRestoreCmd `cmd:"" help:"Restore a whole catalogue from an archive into an empty database."`
	Copy    archiveCopyCmd    `cmd:"" help:"Copy the whole catalogue from one database into another, of either engine."`
}

type archiveCreateCmd struct {
	cli.DatabaseFlags

	File  string `arg:"" optional:"" default:"-" help:"File to write, like catalogue.tar.zst; - is standard output (default: ${default})."`
	Force bool   `help:"Replace an existing file."`
}

// Run implements the command.
func (c *archiveCreateCmd) Run(ctx context.Context, std cli.Stdio) error {
	if c.File == "-" && cli.IsTerminal(std.Out) {
		return errors.New("an archive cannot be written to a terminal: name a file, like catalogue.tar.zst")
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
		_, err := archive.Write(ctx, store, out)
		return err
	})
}

type archiveRestoreCmd struct {
	cli.DatabaseFlags
	cli.OutputFlags

	File   string `arg:"" help:"Archive to read; - is standard input."`
	DryRun bool   `help:"Check the archive, and store nothing."`
}

// Run implements the command.
func (c *archiveRestoreCmd) Run(ctx context.Context, std cli.Stdio) error {
	in := std.In
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	name := importer.Printable(c.File)
	if c.DryRun {
		manifest, err := archive.Check(ctx, in)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return c.Print(std.Out, manifest, func(out io.Writer) error {
			_, err := fmt.Fprintf(out, "%s is complete: %v. Nothing was stored.\n", name, manifest)
			return err
		})
	}
	err := storeAll(ctx, std, c.DatabaseFlags, c.OutputFlags, "restored", func(to *db.Store) (archive.Manifest, error) { return archive.Restore(ctx, to, in) })
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

type archiveCopyCmd struct {
	cli.OutputFlags

	From string `required:"" placeholder:"URL" help:"Database to read: sqlite:FILE or postgres://…"`
	To   string `required:"" placeholder:"URL" help:"Database to write, which must be empty."`
}

// Run implements the command.
func (c *archiveCopyCmd) Run(ctx context.Context, std cli.Stdio) error {
	source := cli.DatabaseFlags{DatabaseURL: c.From}
	if err := source.Exists(); err != nil {
		return err
	}
	from, err := source.Open(ctx, db.Options{Logger: std.Log()})
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	defer from.Close()
	return storeAll(ctx, std, cli.DatabaseFlags{DatabaseURL: c.To}, c.OutputFlags, "copied", func(to *db.Store) (archive.Manifest, error) { return archive.Copy(ctx, from, to) })
}

// storeAll stores a whole catalogue in a database with fill, and prints a summary.
func storeAll(ctx context.Context, std cli.Stdio, database cli.DatabaseFlags, output cli.OutputFlags, done string, fill func(*db.Store) (archive.Manifest, error)) error {
	start := time.Now()
	to, err := database.Open(ctx, db.Options{Logger: std.Log()})
	if err != nil {
		return err
	}
	defer to.Close()
	manifest, err := fill(to)
	if e, ok := errors.AsType[*model.Error](err); ok && e.InDoubt {
		return fmt.Errorf("%w The catalogue was stored completely, or not at all: run the command again, which refuses a stored catalogue", err)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("stopped")
		}
		return fmt.Errorf("%w. Nothing was stored", err)
	}
	analyzeGrown(ctx, std, to, manifest["books"].Rows)
	return output.Print(std.Out, manifest, func(out io.Writer) error {
		_, err := fmt.Fprintf(out, "%v %s and compared in %.1f s\n", manifest, done, time.Since(start).Seconds())
		return err
	})
}
