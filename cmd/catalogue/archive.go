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
	"library-catalogue/cmd/catalogue/progress"
	"library-catalogue/db"
	"library-catalogue/db/archive"
	"library-catalogue/graph/model"
	"library-catalogue/importer"
)

// archiveCmd holds the commands for a whole catalogue.
type archiveCmd struct {
	Create  archiveCreateCmd  `cmd:"" help:"Write the whole catalogue into an archive: books, genres, categories, ids, versions and times."`
	Restore archiveRestoreCmd `cmd:"" help:"Restore a whole catalogue from an archive into an empty database."`
	Copy    archiveCopyCmd    `cmd:"" help:"Copy the whole catalogue from one database into another, of either engine, or continue an interrupted copy."`
}

type archiveCreateCmd struct {
	cli.DatabaseFlags

	File  string `arg:"" optional:"" default:"-" help:"File to write, like catalogue.tar.zst; - is standard output (default: ${default})."`
	Force bool   `help:"Replace an existing file."`
}

func (c *archiveCreateCmd) Run(ctx context.Context, std cli.Stdio) error {
	if c.File == "-" && cli.IsTerminal(std.Out) {
		return errors.New("an archive cannot be written to a terminal: name a file, like catalogue.tar.zst")
	}
	store, err := c.OpenExisting(ctx, db.Options{Logger: std.Log()})
	if err != nil {
		return err
	}
	defer store.Close()
	var manifest archive.Manifest
	err = writeOutput(std, c.File, c.Force, func(out *bufio.Writer) (err error) {
		manifest, err = archive.Write(ctx, store, out)
		return err
	})
	if err == nil && c.File != "-" {
		_, err = fmt.Fprintf(std.Out, "%v archived\n", manifest)
	}
	return err
}

type archiveRestoreCmd struct {
	cli.DatabaseFlags
	cli.OutputFlags

	File   string `arg:"" help:"Archive to read; - is standard input."`
	DryRun bool   `help:"Check the archive, and store nothing."`
}

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
	start := time.Now()
	to, err := c.Open(ctx, db.Options{Logger: std.Log()})
	if err != nil {
		return err
	}
	defer to.Close()
	manifest, err := archive.Restore(ctx, to, in)
	if e, ok := errors.AsType[*model.Error](err); ok && e.InDoubt {
		return fmt.Errorf("%s: %w The catalogue was stored completely, or not at all: run the command again, which "+
			"refuses a stored catalogue", name, err)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("stopped")
		}
		return fmt.Errorf("%s: %w. Nothing was stored", name, err)
	}
	analyzeGrown(ctx, std, to, manifest["books"].Rows)
	return c.Print(std.Out, manifest, func(out io.Writer) error {
		_, err := fmt.Fprintf(out, "%v restored and compared in %.1f s\n", manifest, time.Since(start).Seconds())
		return err
	})
}

type archiveCopyCmd struct {
	cli.OutputFlags

	From string `required:"" placeholder:"URL" help:"Database to read: sqlite:FILE or postgres://…"`
	To   string `required:"" placeholder:"URL" help:"Database to write, which must be empty or hold an interrupted copy."`
}

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
	to, err := cli.DatabaseFlags{DatabaseURL: c.To}.Open(ctx, db.Options{Logger: std.Log()})
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	defer to.Close()
	start := time.Now()
	sizes := from.Sizes()
	var done int64
	bar := progress.New(std.Err, cli.IsTerminal(std.Err), "copy", int64(sizes.Books+sizes.Genres+sizes.Categories),
		func() int64 { return done })
	storedBefore := 0
	manifest, err := archive.Copy(ctx, from, to, func(rows, before int) {
		done, storedBefore = int64(rows), before
		bar.Step(rows)
	})
	bar.Done()
	switch {
	case ctx.Err() != nil:
		return errors.New("stopped (run the same command again: it continues the copy)")
	case errors.Is(err, db.ErrNotEmpty), errors.Is(err, db.ErrTargetChanged), errors.Is(err, db.ErrSourceChanged):
		return fmt.Errorf("--to: %w", err)
	case errors.Is(err, archive.ErrDiffers):
		return fmt.Errorf("%w: copy into another empty database", err)
	case err != nil:
		return fmt.Errorf("%w (run the same command again: it continues the copy)", err)
	}
	analyzeGrown(ctx, std, to, manifest["books"].Rows)
	return c.Print(std.Out, manifest, func(out io.Writer) error {
		_, err := fmt.Fprintf(out, "%v copied and compared in %.1f s (%d rows were stored before)\n", manifest,
			time.Since(start).Seconds(), storedBefore)
		return err
	})
}
