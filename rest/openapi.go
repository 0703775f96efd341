package rest

import _ "embed"

// OpenAPI is the OpenAPI 3.1 description of /api in YAML.
//
//go:embed openapi.yaml
var OpenAPI []byte
