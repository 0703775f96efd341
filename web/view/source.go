package view

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"net/http"
	"net/url"
	"strconv"
)

// Query runs a GraphQL query with variables in JSON, in the context of a page's request. It returns the data, or the
// first error of the response.
type Query = func(ctx context.Context, document string, variables []byte) (data []byte, err error)

// Live is embedded in the responses of live pages. A script runs the page's query as a live one, and compares its data.
type Live struct{ State string }

// setState stores a hash of the data: FNV-1a with 32 bits, as live.js computes it.
func (l *Live) setState(data []byte) {
	hash := fnv.New32a()
	hash.Write(data)
	l.State = strconv.FormatUint(uint64(hash.Sum32()), 16)
}

// Variables are the variables of a GraphQL request.
type Variables map[string]any

// Source executes the queries of the pages.
type Source struct {
	Query     Query
	Documents map[string]string // by file name
}

// Execute runs a document of the pages by its name. It returns the results of Run.
func (s Source) Execute(r *http.Request, query string, v Variables, data any) (playground string, _ error) {
	return s.Run(r, s.Documents[query], v, data)
}

// Run executes a GraphQL document and unmarshals the response into data. It returns the playground's URL for the
// request, or the first error of the response. It sets the state of a live response.
func (s Source) Run(r *http.Request, document string, v Variables, data any) (playground string, _ error) {
	values, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	response, err := s.Query(r.Context(), document, values)
	if err != nil {
		return "", err
	}
	if live, ok := data.(interface{ setState([]byte) }); ok {
		live.setState(response)
	}
	return playgroundURL(document, v), json.Unmarshal(response, data)
}

// playgroundURL returns the URL of the playground with a request.
func playgroundURL(document string, v Variables) string {
	query := url.Values{"query": {document}}
	if len(v) > 0 {
		text, err := json.MarshalIndent(v, "", "  ")
		if err == nil { // always
			query.Set("variables", string(text))
		}
	}
	return "/playground?" + query.Encode()
}
