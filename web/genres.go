package web

import "net/http"

// genresView is the table of contents: categories with their genres.
type genresView struct {
	Books      int
	Categories []*categoryView
	Missing    int // genres that are not on the page, which has no more room
}

// contentView is a category or a genre.
type contentView struct {
	ID, Name    string
	Version     int
	Description *string
	Books       int `json:"-"` // in all of its genres
}

type categoryView struct {
	contentView
	Genres []contentView `json:"-"`
}

// genres draws the genres by category, with the number of their books.
func (p *Pages) genres(r *http.Request) (*page, error) {
	var answer struct {
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
	playground, err := p.execute(r, "genres", nil, &answer)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, g := range answer.Books.Facets.Genres {
		counts[g.Genre.ID] = g.Count
	}
	categories := map[string]*categoryView{}
	for _, c := range answer.Categories.Nodes {
		categories[c.ID] = c
	}
	for _, g := range answer.Genres.Nodes {
		if c := categories[g.CategoryID]; c != nil {
			g.Books = counts[g.ID]
			c.Books += g.Books
			c.Genres = append(c.Genres, g.contentView)
		}
	}
	view := &genresView{
		Books: answer.Books.TotalCount, Categories: answer.Categories.Nodes,
		Missing: answer.Genres.TotalCount - len(answer.Genres.Nodes),
	}
	return &page{name: "genres.html", Title: "Genres", Section: "genres", Query: playground, Main: view}, nil
}
