package main

import (
	"context"
	"errors"
	"fmt"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db"
	"library-catalogue/db/sqlite"
)

type backupCmd struct {
	cli.DatabaseFlags

	File  string `arg:"" help:"File to write."`
	Force bool   `help:"Replace an existing file."`
}

func (c *backupCmd) Run(ctx context.Context, std cli.Stdio) error {
	path, ok := c.SQLiteFile()
	if !ok {
		return errors.New("this catalogue is in PostgreSQL: back it up with pg_dump --format=custom --file=FILE URL")
	}
	if err := c.Exists(); err != nil {
		return err
	}
	content, err := sqlite.Backup(ctx, path, c.File, c.Force)
	if err != nil {
		return err
	}
	fmt.Fprintf(std.Out, "%s: %s. Checked.\n", c.File, content)
	return nil
}

type restoreCmd struct {
	cli.DatabaseFlags

	File string `arg:"" help:"Backup to restore."`
}

func (c *restoreCmd) Run(ctx context.Context, std cli.Stdio) error {
	path, ok := c.SQLiteFile()
	if !ok {
		return errors.New("this catalogue is in PostgreSQL: restore it into an empty database with pg_restore " +
			"--exit-on-error --no-owner --no-comments --dbname=URL FILE")
	}
	if err := db.CheckURL(c.URL()); err != nil {
		return err
	}
	restored, err := sqlite.Restore(ctx, c.File, path, func(ctx context.Context, copied string) error {
		store, err := cli.DatabaseFlags{DatabaseURL: "sqlite:" + copied}.Open(ctx, db.Options{Logger: std.Log()})
		if err != nil {
			return err
		}
		return store.Close()
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(std.Out, "%s is restored from %s: %s.\n", path, c.File, restored.Content)
	if restored.Kept != "" {
		fmt.Fprintf(std.Out, "The replaced database is kept as %s.\n", restored.Kept)
	} else {
		fmt.Fprintf(std.Out, "There was no database at %s before.\n", path)
	}
	return nil
}
