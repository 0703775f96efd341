package web

import (
	"cmp"
	"slices"
)

// counted is a value of a facet, of which one is there, and how many books have it.
type counted struct {
	Count           int
	Category, Genre named
	Author          string
	Year            int
}

// facets are the counts of books by what they have, as the query asks for them.
type facets struct{ Categories, Genres, Years, Prices, Authors []counted }

// facetView is a filter with the values to choose from.
type facetView struct {
	Name, Label string
	Values      []facetValue
	More        int // how many values there are besides
}

type facetValue struct {
	Value, Label string
	Count        int
	Selected     bool
	toggled      listing // the list with this value chosen, or no more
}

// How many values a facet shows besides those that are chosen: as many as one looks
// over.
const (
	shownCategories = 12
	shownGenres     = 8
	shownAuthors    = 8
)

func facetViews(l listing, answer *booksAnswer) []facetView {
	f := answer.Books.Facets
	return []facetView{
		newFacet(l, "category", "Category", f.Categories, shownCategories, answer.Categories.Nodes, func(l *listing) *[]string { return &l.Categories }),
		newFacet(l, "genre", "Genre", f.Genres, shownGenres, answer.Genres.Nodes, func(l *listing) *[]string { return &l.Genres }),
		newFacet(l, "author", "Author", f.Authors, shownAuthors, nil, func(l *listing) *[]string { return &l.Authors }),
	}
}

// with returns the first page of a list that is changed.
func with(l listing, change func(*listing)) listing {
	l = l.first()
	change(&l)
	return l
}

// newFacet returns the filter of counts: the first few values, and those that are
// chosen at a place of the list, which chosenNames names.
func newFacet(l listing, name, label string, counts []counted, shown int, chosenNames []named, at func(*listing) *[]string) facetView {
	chosen := *at(&l)
	var values []facetValue
	for _, c := range counts {
		v := cmp.Or(c.Category, c.Genre, named{c.Author, c.Author})
		values = append(values, facetValue{Value: v.ID, Label: v.Name, Count: c.Count})
	}
	for _, value := range chosen { // also where it has no book
		if !slices.ContainsFunc(values, func(v facetValue) bool { return v.Value == value }) {
			label := value
			if i := slices.IndexFunc(chosenNames, func(n named) bool { return n.ID == value }); i >= 0 {
				label = chosenNames[i].Name
			}
			values = append(values, facetValue{Value: value, Label: label})
		}
	}
	f := facetView{Name: name, Label: label}
	for i, v := range values {
		if v.Selected = slices.Contains(chosen, v.Value); v.Selected {
			others := slices.DeleteFunc(slices.Clone(chosen), func(other string) bool { return other == v.Value })
			v.toggled = with(l, func(l *listing) { *at(l) = others })
		}
		if i < shown || v.Selected {
			f.Values = append(f.Values, v)
		}
	}
	f.More = len(values) - len(f.Values)
	return f
}
