package main

import (
	"errors"
	"fmt"
	"time"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/server/auth"
)

type tokenCmd struct {
	cli.DatabaseFlags
	cli.TokenFlags

	Subject string        `default:"catalogue" help:"Who the token is for (default: ${default})."`
	TTL     time.Duration `name:"ttl" default:"24h" help:"How long the token is valid (default: ${default})."`
	Scopes  []string      `name:"scope" default:"catalogue:write" placeholder:"SCOPE,…" help:"What the token allows, like books:create, where the server asks for scopes (default: ${default})."`
}

// Run implements the command.
func (c *tokenCmd) Run(std cli.Stdio) error {
	if c.Keys() == nil && c.OIDCIssuer == "" { // it is beside the catalogue, or would be made there
		if err := c.Exists(); err != nil {
			return err
		}
	}
	cfg, err := c.TokenFlags.Config(c.DatabaseFlags)
	if err != nil {
		return err
	}
	if cfg.Secret == nil {
		return errors.New("with a public key, a JWKS or an OpenID provider the tokens come from your issuer; this command makes them only from a secret")
	}
	token, err := auth.Sign(cfg.Secret, c.Subject, c.JWTIssuer, c.JWTAudience, c.TTL, time.Now(), c.Scopes...)
	if err != nil {
		return err
	}
	fmt.Fprintln(std.Out, token)
	return nil
}
