package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"library-catalogue/db"
	"library-catalogue/graph"
	"library-catalogue/server/auth"

	"github.com/vektah/gqlparser/v2/formatter"
)

type migrateCmd struct {
	Up     migrateUpCmd     `cmd:"" help:"Bring the schema up to date."`
	Status migrateStatusCmd `cmd:"" help:"Show which steps were made, and when."`
}

type migrateUpCmd struct{ databaseFlags }

// Run implements the command.
func (c *migrateUpCmd) Run(ctx context.Context, io stdio) error {
	store, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	fmt.Fprintln(io.out, "The schema is up to date.")
	return nil
}

type migrateStatusCmd struct{ databaseFlags }

// Run implements the command.
func (c *migrateStatusCmd) Run(ctx context.Context, io stdio) error {
	if err := c.exists(); err != nil {
		return err
	}
	store, err := db.Open(ctx, c.url())
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
		fmt.Fprintf(io.out, "%-22s %s\n", applied, step.Name)
	}
	return nil
}

type tokenCmd struct {
	databaseFlags
	tokenFlags

	Subject string        `env:"CATALOGUE_TOKEN_SUBJECT" default:"catalogue" help:"Who the token is for (default: ${default})."`
	TTL     time.Duration `name:"ttl" env:"CATALOGUE_TOKEN_TTL" default:"24h" help:"How long the token is valid (default: ${default})."`
	Scopes  []string      `name:"scope" env:"CATALOGUE_TOKEN_SCOPE" default:"catalogue:write" placeholder:"SCOPE,…" help:"What the token allows, like books:create, where the server asks for scopes (default: ${default})."`
}

// Run implements the command.
func (c *tokenCmd) Run(io stdio) error {
	if c.keys() == nil { // it is beside the catalogue, or would be made there
		if err := c.exists(); err != nil {
			return err
		}
	}
	cfg, err := c.tokenFlags.config(c.databaseFlags)
	if err != nil {
		return err
	}
	if cfg.Secret == nil {
		return errors.New("with a public key or a JWKS the tokens come from your issuer; this command makes them only from a secret")
	}
	token, err := auth.Sign(cfg.Secret, c.Subject, c.JWTIssuer, c.JWTAudience, c.TTL, time.Now(), c.Scopes...)
	if err != nil {
		return err
	}
	fmt.Fprintln(io.out, token)
	return nil
}

type schemaCmd struct{}

// Run implements the command.
func (schemaCmd) Run(io stdio) error {
	formatter.NewFormatter(io.out, formatter.WithIndent("  ")).
		FormatSchema(graph.NewExecutableSchema(graph.Config{}).Schema())
	return nil
}

type healthcheckCmd struct{ addressFlags }

// Run implements the command.
func (c *healthcheckCmd) Run(ctx context.Context, std stdio) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+reachable(c.address())+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		reason, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10)) // what there is of it
		return fmt.Errorf("the server is not ready: %s %s", response.Status, bytes.TrimSpace(reason))
	}
	fmt.Fprintln(std.out, "ready")
	return nil
}

type versionCmd struct{}

// Run implements the command.
func (versionCmd) Run(std stdio) error {
	fmt.Fprintln(std.out, version())
	return nil
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}
