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

// readQueries returns the documents of the pages by the names of their files. In place of
// ...BookFields they have the names of all fields of a book.
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

// variables are those of a GraphQL request.
type variables map[string]any

// execute answers one of the documents for a page into data. It returns the first
// error of the answer, with its code, and the address that opens the request in the
// playground.
func (p *Pages) execute(r *http.Request, query string, v variables, data any) (playground string, _ error) {
	document := p.queries[query]
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
	answer := httptest.NewRecorder()
	p.graphQL.ServeHTTP(answer, request)
	var response struct {
		Data   json.RawMessage
		Errors []struct {
			Message    string
			Extensions struct{ Code model.Code }
		}
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &response); err != nil {
		return "", fmt.Errorf("the answer to a page's request cannot be read (status %d): %w", answer.Code, err)
	}
	for _, e := range response.Errors {
		return "", &model.Error{Code: e.Extensions.Code, Message: e.Message}
	}
	return playgroundURL(document, v), json.Unmarshal(response.Data, data)
}
