package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"

	"library-catalogue/graph/model"
)

// readQueries returns the GraphQL documents of the pages by file name. It replaces ...BookFields by the names of all
// fields of a book.
func readQueries() (map[string]string, error) {
	queries := map[string]string{}
	var fields []string
	for _, f := range model.BookFields {
		fields = append(fields, f.Name)
	}
	entries, err := files.ReadDir("queries")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		text, err := files.ReadFile(path.Join("queries", entry.Name()))
		if err != nil {
			return nil, err
		}
		queries[strings.TrimSuffix(entry.Name(), ".graphql")] = strings.ReplaceAll(strings.TrimSpace(string(text)), "...BookFields", strings.Join(fields, " "))
	}
	return queries, nil
}

// followed is embedded in the responses of pages that follow the feed of changes from their position.
type followed struct{ Position string }

func (f *followed) setPosition(position string) { f.Position = position }

// variables are the variables of a GraphQL request.
type variables map[string]any

// execute runs a document of the pages by its name. It returns the results of run.
func (p *Pages) execute(r *http.Request, query string, v variables, data any) (playground string, _ error) {
	return p.run(r, p.queries[query], v, data)
}

// run executes a GraphQL document and unmarshals the response into data. It returns the playground's URL for the request,
// or the first error of the response. It sets the position of a response that is followed.
func (p *Pages) run(r *http.Request, document string, v variables, data any) (playground string, _ error) {
	body, err := json.Marshal(map[string]any{"query": document, "variables": v})
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(r.Context(), http.MethodPost, "/graphql", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.RemoteAddr = r.RemoteAddr
	request.Header.Set("Content-Type", "application/json")
	follower, follows := data.(interface{ setPosition(string) })
	if follows {
		request.Header.Set("Catalogue-Position", "report")
	}
	recorder := httptest.NewRecorder()
	p.graphQL.ServeHTTP(recorder, request)
	var response struct {
		Data   json.RawMessage
		Errors []struct {
			Message    string
			Extensions struct{ Code model.Code }
		}
		Extensions followed
	}
	if err := json.Unmarshal(recorder.Body.Bytes(), &response); err != nil {
		return "", fmt.Errorf("reading the response to a page's query (status %d): %w", recorder.Code, err)
	}
	for _, e := range response.Errors {
		return "", &model.Error{Code: e.Extensions.Code, Message: e.Message}
	}
	if follows {
		follower.setPosition(response.Extensions.Position)
	}
	return playgroundURL(document, v), json.Unmarshal(response.Data, data)
}
