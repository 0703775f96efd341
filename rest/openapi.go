package rest

import _ "embed"

// OpenAPI describes everything under /api (OpenAPI Specification 3.1.0), as YAML.
//
//go:embed openapi.yaml
var OpenAPI []byte
