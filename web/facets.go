package web

import "slices"

// facets are the counts of books by what they have, as the query asks for them.
type facets struct {
	Categories []struct {
		Count    int
		Category struct{ ID, Name string }
	}
	Genres []struct {
		Count int
		Genre struct{ ID, Name string }
	}
	Years   []struct{ Year, Count int }
	Prices  []struct{ Count int }
	Authors []struct {
		Author string
		Count  int
	}
}

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
	categories := facetView{Name: "category", Label: "Category"}
	for _, c := range f.Categories {
		categories.Values = append(categories.Values, facetValue{Value: c.Category.ID, Label: c.Category.Name, Count: c.Count})
	}
	genres := facetView{Name: "genre", Label: "Genre"}
	for _, g := range f.Genres {
		genres.Values = append(genres.Values, facetValue{Value: g.Genre.ID, Label: g.Genre.Name, Count: g.Count})
	}
	authors := facetView{Name: "author", Label: "Author"}
	for _, a := range f.Authors {
		authors.Values = append(authors.Values, facetValue{Value: a.Author, Label: a.Author, Count: a.Count})
	}
	categories.choose(l.Categories, names(answer.Categories.Nodes), shownCategories, func(values []string) listing { return with(l, func(l *listing) { l.Categories = values }) })
	genres.choose(l.Genres, names(answer.Genres.Nodes), shownGenres, func(values []string) listing { return with(l, func(l *listing) { l.Genres = values }) })
	authors.choose(l.Authors, nil, shownAuthors, func(values []string) listing { return with(l, func(l *listing) { l.Authors = values }) })
	return []facetView{categories, genres, authors}
}

// with returns the first page of a list that is changed.
func with(l listing, change func(*listing)) listing {
	l = l.first()
	change(&l)
	return l
}

// choose marks the values that are chosen, and keeps these and the first few.
func (f *facetView) choose(chosen []string, names map[string]string, shown int, list func([]string) listing) {
	for _, value := range chosen { // also where it has no book
		if !slices.ContainsFunc(f.Values, func(v facetValue) bool { return v.Value == value }) {
			label := value
			if name, ok := names[value]; ok {
				label = name
			}
			f.Values = append(f.Values, facetValue{Value: value, Label: label})
		}
	}
	var kept []facetValue
	for i, v := range f.Values {
		v.Selected = slices.Contains(chosen, v.Value)
		if v.Selected {
			v.toggled = list(without(chosen, v.Value))
		}
		if i < shown || v.Selected {
			kept = append(kept, v)
		}
	}
	f.More = len(f.Values) - len(kept)
	f.Values = kept
}
