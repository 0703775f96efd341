package view

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
)

// Query runs a GraphQL query with variables in JSON, in the context of a page's request. It returns the data, with its
// newest position if that is wanted, or the first error of the response.
type Query = func(ctx context.Context, document string, variables []byte, wantsPosition bool) (data []byte,
	position string, err error)

// Followed is embedded in the responses of pages that follow the feed of changes from their position.
type Followed struct{ Position string }

func (f *Followed) setPosition(position string) { f.Position = position }

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
// request, or the first error of the response. It sets the position of a response that is followed.
func (s Source) Run(r *http.Request, document string, v Variables, data any) (playground string, _ error) {
	values, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	follower, follows := data.(interface{ setPosition(string) })
	response, position, err := s.Query(r.Context(), document, values, follows)
	if err != nil {
		return "", err
	}
	if follows {
		follower.setPosition(position)
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
