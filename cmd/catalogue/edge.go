package main

import "library-catalogue/server"

// edgeFlags say who may ask, and how much.
type edgeFlags struct {
	CORSOrigins   []string `name:"cors-origins" env:"CATALOGUE_CORS_ORIGINS" placeholder:"ORIGIN,…" help:"Origins of web pages elsewhere that may use the service, like https://app.example, or * for all (default: none)."`
	RequireScopes bool     `env:"CATALOGUE_REQUIRE_SCOPES" help:"A token must have the scope catalogue:write, or one for the type and the verb, like books:create."`
}

// configure puts the settings into cfg.
func (f edgeFlags) configure(cfg *server.Config) (err error) {
	cfg.Origins, err = server.ParseOrigins(f.CORSOrigins)
	return err
}
