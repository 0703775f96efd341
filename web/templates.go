package web

import (
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"sync"

	"library-catalogue/graph/model"
	"library-catalogue/web/language"
	"library-catalogue/web/list"
	"library-catalogue/web/people"
	"library-catalogue/web/view"
)

// templates are the templates of the pages by name, each with the layout.
type templates map[string]*template.Template

// templatesByLanguage returns the templates of each language by its tag. Those of a language are parsed when they are
// first used. login enables the login.
func templatesByLanguage(a assets, login bool, covers Covers) map[string]func() (templates, error) {
	all := map[string]func() (templates, error){}
	for _, l := range language.All() {
		all[l.Tag] = sync.OnceValues(func() (templates, error) { return parseTemplates(l, a, login, covers) })
	}
	return all
}

func parseTemplates(l *language.Language, a assets, login bool, covers Covers) (templates, error) {
	choices := languageChoices(l)
	functions := template.FuncMap{
		"asset": a.url, "modules": a.modules, "moment": view.Moment,
		"lang": func() *language.Language { return l }, "languages": func() template.HTML { return choices },
		"t": l.Text, "th": l.HTML, "n": l.Plural,
		"number": l.Number,
		"login":  func() bool { return login }, "loginURL": view.LoginURL,
		"device":   func(agent string) string { return people.Device(l, agent) },
		"kinds":    func(types []model.CatalogueType) string { return people.Kinds(l, types) },
		"role":     func(role any) string { return l.Text(language.Key(fmt.Sprint(role))) },
		"coverURL": covers.url, "hasCovers": func() bool { return covers.template != "" },
		"searchURL": list.SearchURL, "genreURL": list.GenreURL, "categoryURL": list.CategoryURL,
	}
	paths, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	all := templates{}
	for _, path := range paths {
		t := template.New("layout.html").Funcs(functions)
		for _, path := range []string{"templates/layout.html", path} {
			text, err := files.ReadFile(path)
			if err != nil {
				return nil, err
			}
			if _, err := t.Parse(withTexts(l, string(text))); err != nil {
				return nil, err
			}
		}
		all[strings.TrimPrefix(path, "templates/")] = t
	}
	return all, nil
}

// constantText matches a text without arguments in a template.
var constantText = regexp.MustCompile("{{(t|th) [\"`]([^\"`]*)[\"`]}}")

// textEscaper escapes a text as a template has it.
var textEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;")

// withTexts returns a template with its constant texts, so that pages do not look them up.
func withTexts(l *language.Language, source string) string {
	return constantText.ReplaceAllStringFunc(source, func(call string) string {
		match := constantText.FindStringSubmatch(call)
		text := l.Text(language.Key(match[2]))
		if match[1] == "t" {
			text = textEscaper.Replace(text)
		}
		return text
	})
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
