package rest

import _ "embed"

// OpenAPI is the OpenAPI 3.1 description of /api in YAML, OpenAPIJSON the same in JSON.
// After a change of openapi.yaml run go test ./rest -run TestOpenAPIJSON -update.
var (
	//go:embed openapi.yaml
	OpenAPI []byte
	//go:embed openapi.json
	OpenAPIJSON []byte
)
