package web

import (
	"encoding/json"
	"html/template"
	"io/fs"
	"path"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/web/list"
	"library-catalogue/web/people"
	"library-catalogue/web/view"
)

// parseTemplates returns the templates of the pages by name, each with the layout. login enables the login.
func parseTemplates(a assets, login bool) (map[string]*template.Template, error) {
	functions := template.FuncMap{
		"asset": a.url, "modules": a.modules, "number": view.Number, "books": view.Books, "date": view.Date,
		"moment": view.Moment,
		"login":  func() bool { return login }, "loginURL": view.LoginURL, "device": people.Device, "kind": people.Kind,
		"labels":    labels,
		"searchURL": list.SearchURL, "genreURL": list.GenreURL, "categoryURL": list.CategoryURL,
	}
	paths, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	templates := map[string]*template.Template{}
	for _, path := range paths {
		t, err := template.New("layout.html").Funcs(functions).ParseFS(files, "templates/layout.html", path)
		if err != nil {
			return nil, err
		}
		templates[strings.TrimPrefix(path, "templates/")] = t
	}
	return templates, nil
}

// labels returns the labels of the fields that messages name in other words, as JSON.
func labels() (string, error) {
	labels := map[string]string{}
	for _, f := range model.BookFields {
		if words := strings.ReplaceAll(f.Key, "_", " "); f.Writable && f.Kind != model.KindID &&
			!strings.EqualFold(words, f.Label) {
			labels[words] = f.Label
		}
	}
	text, err := json.Marshal(labels)
	return string(text), err
}

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
		queries[strings.TrimSuffix(entry.Name(), ".graphql")] = strings.ReplaceAll(strings.TrimSpace(string(text)),
			"...BookFields", strings.Join(fields, " "))
	}
	return queries, nil
}
