package main

import (
	"context"
	"fmt"
	"time"

	"library-catalogue/db"
)

type migrateCmd struct {
	Up     migrateUpCmd     `cmd:"" help:"Bring the schema up to date."`
	Status migrateStatusCmd `cmd:"" help:"Show which steps were made, and when."`
}

type migrateUpCmd struct{ databaseFlags }

// Run implements the command.
func (c *migrateUpCmd) Run(ctx context.Context, std stdio) error {
	store, err := db.Open(ctx, c.url(), db.Options{Logger: std.log()})
	if err != nil {
		return err
	}
	defer store.Close()
	if err := store.Migrate(ctx); err != nil {
		return err
	}
	fmt.Fprintln(std.out, "The schema is up to date.")
	return nil
}

type migrateStatusCmd struct{ databaseFlags }

// Run implements the command.
func (c *migrateStatusCmd) Run(ctx context.Context, std stdio) error {
	if err := c.exists(); err != nil {
		return err
	}
	store, err := db.Open(ctx, c.url(), db.Options{})
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
		fmt.Fprintf(std.out, "%-22s %s\n", applied, step.Name)
	}
	return nil
}
