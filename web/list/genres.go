package list

import (
	"net/http"

	"library-catalogue/web/language"
	"library-catalogue/web/view"
)

// genresView has the data of the page of genres.
type genresView struct {
	Books      int
	Categories []*categoryView
	Missing    int // number of genres that are not shown
}

// contentView is a category or a genre.
type contentView struct {
	ID, Name    string
	Version     int
	Description *string
	Books       int `json:"-"` // number of books
}

type categoryView struct {
	contentView
	Genres []contentView `json:"-"`
}

// Genres returns the page of genres by category, with numbers of books.
func (p Pages) Genres(r *http.Request) (*view.Page, error) {
	var response struct {
		Categories struct{ Nodes []*categoryView }
		Genres     struct {
			TotalCount int
			Nodes      []struct {
				contentView
				CategoryID string
			}
		}
		Books struct {
			TotalCount int
			Facets     facets
		}
	}
	playground, err := p.Execute(r, "genres", nil, &response)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, g := range response.Books.Facets.Genres {
		counts[g.Genre.ID] = g.Count
	}
	categories := map[string]*categoryView{}
	for _, c := range response.Categories.Nodes {
		categories[c.ID] = c
	}
	for _, g := range response.Genres.Nodes {
		if c := categories[g.CategoryID]; c != nil {
			g.Books = counts[g.ID]
			c.Books += g.Books
			c.Genres = append(c.Genres, g.contentView)
		}
	}
	data := &genresView{
		Books: response.Books.TotalCount, Categories: response.Categories.Nodes,
		Missing: response.Genres.TotalCount - len(response.Genres.Nodes),
	}
	return &view.Page{Name: "genres.html", Title: language.Of(r).Text("Genres"), Section: "genres", Query: playground,
		Script: "dialogs.js", Path: "/genres", Main: data}, nil
}
