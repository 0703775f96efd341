package list

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"library-catalogue/graph/model/author"
	"library-catalogue/web/view"
)

// maxFormWords is the maximum number of words by which the forms of an author are searched. A filter has at most 200
// conditions, and a list at most 50 authors.
const maxFormWords = 3

// readForms sets the forms of the selected authors, by which the filter finds all their books.
func (p Pages) readForms(r *http.Request, l *listing) error {
	names := l.values["author"]
	if len(names) == 0 {
		return nil
	}
	var any []any
	for _, name := range names {
		any = append(any, containing(formWords(name)))
	}
	found, err := p.authors(r, view.Variables{"filter": filter{"or": any}, "first": 1000})
	if err != nil {
		return err
	}
	l.forms = map[string][]string{}
	for _, a := range found {
		if i := sameAuthor(names, a.Author); i >= 0 {
			l.forms[names[i]] = a.Forms
		}
	}
	return nil
}

// authorForms returns all forms of the selected authors, each once.
func (l listing) authorForms() []string {
	forms := slices.Clone(l.values["author"])
	for _, name := range l.values["author"] {
		forms = append(forms, l.forms[name]...)
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

// filter is a filter in GraphQL.
type filter = map[string]any

// containing returns the filter of the authors that contain all words.
func containing(words []string) filter {
	all := []any{}
	for _, word := range words {
		all = append(all, filter{"author": filter{"icontains": word}})
	}
	return filter{"and": all}
}

// formWords returns the longest words of an author that each form of the name has: those that are no initials.
func formWords(name string) []string {
	words := strings.FieldsFunc(author.Identity(name), func(r rune) bool { return r == ' ' || r == ';' })
	words = slices.DeleteFunc(words, func(word string) bool {
		return strings.Contains(word, ".") || utf8.RuneCountInString(word) < 2
	})
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	return words[:min(len(words), maxFormWords)]
}

// sameAuthor returns the index of the name with the identity of an author, or -1.
func sameAuthor(names []string, text string) int {
	key := author.Identity(text)
	return slices.IndexFunc(names, func(name string) bool { return author.Identity(name) == key })
}

// findAuthors replaces the authors of the facet by those that contain find_author, if it is set.
func (p Pages) findAuthors(r *http.Request, l listing, response *booksResponse) (err error) {
	text := l.Get("find_author")
	if text == "" {
		return nil
	}
	v := l.with("author", "").selection()
	v["filter"].(filter)["and"], v["first"] = []any{containing([]string{text})}, maxAuthors
	response.Books.Facets.Authors, err = p.authors(r, v)
	return err
}

// authors returns the facet of the authors of a list.
func (p Pages) authors(r *http.Request, v view.Variables) ([]counted, error) {
	var found struct{ Books struct{ Facets facets } }
	_, err := p.Execute(r, "authors", v, &found)
	return found.Books.Facets.Authors, err
}
