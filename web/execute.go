package web

import (
	"encoding/json"
	"net/http"
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

// source executes the queries of the pages.
type source struct {
	query     Query
	documents map[string]string // by file name
}

// execute runs a document of the pages by its name. It returns the results of run.
func (s source) execute(r *http.Request, query string, v variables, data any) (playground string, _ error) {
	return s.run(r, s.documents[query], v, data)
}

// run executes a GraphQL document and unmarshals the response into data. It returns the playground's URL for the request,
// or the first error of the response. It sets the position of a response that is followed.
func (s source) run(r *http.Request, document string, v variables, data any) (playground string, _ error) {
	values, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	follower, follows := data.(interface{ setPosition(string) })
	response, position, err := s.query(r.Context(), document, values, follows)
	if err != nil {
		return "", err
	}
	if follows {
		follower.setPosition(position)
	}
	return playgroundURL(document, v), json.Unmarshal(response, data)
}
