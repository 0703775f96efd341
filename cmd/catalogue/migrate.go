package main

import (
	"context"
	"fmt"
	"time"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db"
)

type migrateCmd struct {
	Up     migrateUpCmd     `cmd:"" help:"Bring the schema up to date."`
	Status migrateStatusCmd `cmd:"" help:"Show which steps were made, and when."`
}

type migrateUpCmd struct{ cli.DatabaseFlags }

// Run implements the command.
func (c *migrateUpCmd) Run(ctx context.Context, std cli.Stdio) error {
	store, err := db.Open(ctx, c.URL(), db.Options{Logger: std.Log()})
	if err != nil {
		return err
	}
	defer store.Close()
	if err := store.Migrate(ctx); err != nil {
		return err
	}
	fmt.Fprintln(std.Out, "The schema is up to date.")
	return nil
}

type migrateStatusCmd struct{ cli.DatabaseFlags }

// Run implements the command.
func (c *migrateStatusCmd) Run(ctx context.Context, std cli.Stdio) error {
	if err := c.Exists(); err != nil {
		return err
	}
	store, err := db.Open(ctx, c.URL(), db.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	steps, err := store.Migrations(ctx)
	if err != nil {
		return err
	}
	for _, step := range steps {
		applied := "pending"
		if !step.Applied.IsZero() {
			applied = step.Applied.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(std.Out, "%-22s %s\n", applied, step.Name)
	}
	return nil
}
