package list

import (
	"cmp"
	"slices"
	"strings"

	"library-catalogue/graph/model/collate"
	"library-catalogue/web/language"
	"library-catalogue/web/view"
)

// counted is a value of a facet and its number of books. One of the values is set.
type counted struct {
	Count           int
	Category, Genre view.Named
	Author          string
	Forms           []string // other forms of the author
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

func facetViews(in *language.Language, l listing, response *booksResponse) []facetView {
	f := response.Books.Facets
	text := l.Get("find_genre")
	found := slices.DeleteFunc(slices.Clone(f.Genres), func(c counted) bool {
		return !strings.Contains(collate.Fold(c.Genre.Name), collate.Fold(text))
	})
	authors := l.values["author"]
	for i, a := range f.Authors { // a selected one like in the URL
		if n := sameAuthor(authors, a.Author); n >= 0 {
			f.Authors[i].Author = authors[n]
		}
	}
	var languages []view.Named
	for _, tag := range l.values["language"] {
		languages = append(languages, languageOf(in, tag))
	}
	return []facetView{
		newFacet(in, l, "category", "Category", f.Categories, maxCategories, response.Categories.Nodes),
		newFacet(in, l, "genre", "Genre", found, maxGenres, response.Genres.Nodes),
		newFacet(in, l, "author", "Author", f.Authors, maxAuthors, nil),
		newFacet(in, l, "publisher", "Publisher", f.Publishers, maxPublishers, nil),
		newFacet(in, l, "language", "Language", f.Languages, maxLanguages, languages),
	}
}

func languageOf(in *language.Language, tag string) view.Named {
	if tag == "" {
		return view.Named{}
	}
	return view.Named{ID: tag, Name: in.NameOf(tag)}
}

// newFacet returns the filter by a parameter with the first values of counts and all selected values. names has the
// names of the selected values.
func newFacet(
	in *language.Language, l listing, name string, label language.Key, counts []counted, maxValues int,
	names []view.Named,
) facetView {
	selected := l.values[name]
	var values []facetValue
	for _, c := range counts {
		text := cmp.Or(c.Author, c.Publisher)
		v := cmp.Or(c.Category, c.Genre, languageOf(in, c.Language), view.Named{ID: text, Name: text})
		values = append(values, facetValue{Value: v.ID, Label: v.Name, Count: c.Count})
	}
	for _, value := range selected { // even without books
		if !slices.ContainsFunc(values, func(v facetValue) bool { return v.Value == value }) {
			label := value
			if i := slices.IndexFunc(names, func(n view.Named) bool { return n.ID == value }); i >= 0 {
				label = names[i].Name
			}
			values = append(values, facetValue{Value: value, Label: label})
		}
	}
	f := facetView{Name: name, Label: in.Text(label), Find: l.Get("find_" + name)}
	for i, v := range values {
		if v.Selected = slices.Contains(selected, v.Value); v.Selected {
			others := slices.DeleteFunc(slices.Clone(selected), func(other string) bool { return other == v.Value })
			v.toggled = l.with()
			v.toggled.values[name] = others
		}
		if i < maxValues || v.Selected {
			f.Values = append(f.Values, v)
		}
	}
	f.More = len(values) - len(f.Values)
	return f
}
