package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db"
)

type migrateCmd struct {
	Up     migrateUpCmd     `cmd:"" help:"Bring the schema up to date."`
	Status migrateStatusCmd `cmd:"" help:"Show the applied and pending migrations."`
}

type migrateUpCmd struct{ cli.DatabaseFlags }

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

type migrateStatusCmd struct {
	cli.DatabaseFlags
	cli.OutputFlags
}

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
	type row struct {
		Name    string     `json:"name"`
		Applied *time.Time `json:"applied"` // null: pending
	}
	rows := make([]row, len(steps))
	for i, step := range steps {
		rows[i].Name = step.Name
		if applied := step.Applied.UTC(); !applied.IsZero() {
			rows[i].Applied = &applied
		}
	}
	return c.Print(std.Out, rows, func(out io.Writer) error {
		for _, row := range rows {
			applied := "pending"
			if row.Applied != nil {
				applied = row.Applied.Format(time.RFC3339)
			}
			fmt.Fprintf(out, "%-22s %s\n", applied, row.Name)
		}
		return nil
	})
}
