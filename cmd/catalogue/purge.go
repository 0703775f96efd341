package main

import (
	"context"
	"errors"
	"fmt"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db"
	"library-catalogue/graph/model"
)

type purgeCmd struct {
	cli.DatabaseFlags

	Text string `placeholder:"TEXT" xor:"what" help:"Remove all old rows with this text in a field, and all actors with it. Case and accents do not count."`
	Type string `placeholder:"TYPE" xor:"what" help:"Remove the old rows of one book, genre or category, with --id."`
	ID   int64  `placeholder:"N" help:"Id of the row for --type."`
}

func (c *purgeCmd) Run(ctx context.Context, std cli.Stdio) error {
	types := map[string]model.CatalogueType{"book": model.TypeBook, "genre": model.TypeGenre,
		"category": model.TypeCategory}
	typ, known := types[c.Type]
	switch {
	case c.Text == "" && c.Type == "":
		return errors.New("give --text, or --type and --id")
	case c.Type != "" && (!known || c.ID < 1):
		return errors.New("--type must be book, genre or category, and --id the id of a row")
	case c.Text != "" && c.ID != 0:
		return errors.New("--id needs --type")
	}
	if err := c.Exists(); err != nil {
		return err
	}
	store, err := db.Open(ctx, c.URL(), db.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	var rows, actors int64
	if c.Text != "" {
		rows, actors, err = store.PurgeText(ctx, c.Text)
	} else {
		rows, err = store.PurgeRow(ctx, typ, model.ID(c.ID))
	}
	if err == nil {
		fmt.Fprintf(std.Out, "Removed %d old rows and %d actors from the log of changes.\n", rows, actors)
	}
	return err
}
