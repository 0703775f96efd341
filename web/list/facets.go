package list

import (
	"cmp"
	"slices"
	"strings"

	"library-catalogue/graph/model/collate"
	"library-catalogue/graph/model/lang"
	"library-catalogue/web/view"
)

// counted is a value of a facet and its number of books. One of the values is set.
type counted struct {
	Count           int
	Category, Genre view.Named
	Author          string
	Forms           []string // of the author
	Publisher       string
	Language        string
	Year            int
}

// facets are the facets that the query selects.
type facets struct{ Categories, Genres, Years, Prices, Authors, Publishers, Languages []counted }

// facetView is a filter with its values.
type facetView struct {
	Name, Label string
	Values      []facetValue
	More        int    // number of values that are not shown
	Find        string // text that the values contain
}

// Findable reports whether the filter has a field to find values.
func (f facetView) Findable() bool {
	return (f.Name == "genre" || f.Name == "author") && (f.More > 0 || f.Find != "")
}

type facetValue struct {
	Value, Label string
	Count        int
	Selected     bool
	toggled      listing // the list with a selected value removed
}

// Maximum number of values of a facet, without the selected ones.
const (
	maxCategories = 12
	maxGenres     = 8
	maxAuthors    = 8
	maxPublishers = 8
	maxLanguages  = 12
)

func facetViews(l listing, response *booksResponse) []facetView {
	f := response.Books.Facets
	found := slices.DeleteFunc(slices.Clone(f.Genres), func(c counted) bool {
		return !strings.Contains(collate.Fold(c.Genre.Name), collate.Fold(l.FindGenre))
	})
	category := newFacet(l, "category", "Category", f.Categories, maxCategories, response.Categories.Nodes, func(l *listing) *[]string { return &l.Categories })
	genre := newFacet(l, "genre", "Genre", found, maxGenres, response.Genres.Nodes, func(l *listing) *[]string { return &l.Genres })
	for i, a := range f.Authors { // a selected one as it is in the URL
		if n := sameAuthor(l.Authors, a.Author); n >= 0 {
			f.Authors[i].Author = l.Authors[n]
		}
	}
	author := newFacet(l, "author", "Author", f.Authors, maxAuthors, nil, func(l *listing) *[]string { return &l.Authors })
	genre.Find, author.Find = l.FindGenre, l.FindAuthor
	publisher := newFacet(l, "publisher", "Publisher", f.Publishers, maxPublishers, nil, func(l *listing) *[]string { return &l.Publishers })
	var languages []view.Named
	for _, tag := range l.Languages {
		languages = append(languages, languageOf(tag))
	}
	language := newFacet(l, "language", "Language", f.Languages, maxLanguages, languages, func(l *listing) *[]string { return &l.Languages })
	return []facetView{category, genre, author, publisher, language}
}

func languageOf(tag string) view.Named {
	if tag == "" {
		return view.Named{}
	}
	return view.Named{ID: tag, Name: lang.Name(tag)}
}

// with returns the first page of a list after change.
func with(l listing, change func(*listing)) listing {
	l = l.first()
	change(&l)
	return l
}

// newFacet returns a filter with the first values of counts and all selected values. at returns the selected values of a
// list; selectedNames has their names.
func newFacet(l listing, name, label string, counts []counted, maxValues int, selectedNames []view.Named, at func(*listing) *[]string) facetView {
	selected := *at(&l)
	var values []facetValue
	for _, c := range counts {
		text := cmp.Or(c.Author, c.Publisher)
		v := cmp.Or(c.Category, c.Genre, languageOf(c.Language), view.Named{ID: text, Name: text})
		values = append(values, facetValue{Value: v.ID, Label: v.Name, Count: c.Count})
	}
	for _, value := range selected { // even without books
		if !slices.ContainsFunc(values, func(v facetValue) bool { return v.Value == value }) {
			label := value
			if i := slices.IndexFunc(selectedNames, func(n view.Named) bool { return n.ID == value }); i >= 0 {
				label = selectedNames[i].Name
			}
			values = append(values, facetValue{Value: value, Label: label})
		}
	}
	f := facetView{Name: name, Label: label}
	for i, v := range values {
		if v.Selected = slices.Contains(selected, v.Value); v.Selected {
			others := slices.DeleteFunc(slices.Clone(selected), func(other string) bool { return other == v.Value })
			v.toggled = with(l, func(l *listing) { *at(l) = others })
		}
		if i < maxValues || v.Selected {
			f.Values = append(f.Values, v)
		}
	}
	f.More = len(values) - len(f.Values)
	return f
}
