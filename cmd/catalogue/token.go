package main

import (
	"errors"
	"fmt"
	"time"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/edge/auth"
)

type tokenCmd struct {
	cli.DatabaseFlags
	cli.TokenFlags

	Subject string        `default:"catalogue" help:"Subject of the token (default: ${default})."`
	TTL     time.Duration `name:"ttl" default:"24h" help:"Lifetime of the token (default: ${default})."`
	Scopes  []string      `name:"scope" default:"catalogue:write" placeholder:"SCOPE,…" help:"Scopes of the token, like books:create, for a server with --require-scopes (default: ${default})."`
}

func (c *tokenCmd) Run(std cli.Stdio) error {
	if c.Keys() == nil && c.OIDCIssuer == "" { // the secret is a file next to the database
		if err := c.Exists(); err != nil {
			return err
		}
	}
	cfg, err := c.TokenFlags.Config(c.DatabaseFlags)
	if err != nil {
		return err
	}
	if cfg.Secret == nil {
		return errors.New("this command signs tokens with a secret only: with a public key, a JWKS or an OpenID " +
			"provider, get tokens from your issuer")
	}
	token, err := auth.Sign(cfg.Secret, c.Subject, c.JWTIssuer, c.JWTAudience, c.TTL, time.Now(), c.Scopes...)
	if err != nil {
		return err
	}
	fmt.Fprintln(std.Out, token)
	return nil
}
