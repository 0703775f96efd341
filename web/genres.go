package web

import "net/http"

// genresView is the table of contents: categories with their genres.
type genresView struct {
	Books      int
	Categories []categoryView
}

type categoryView struct {
	ID, Name    string
	Version     int
	Description *string
	Genres      struct {
		TotalCount int
		Nodes      []genreView
	}
	Books int `json:"-"` // in all of its genres
}

type genreView struct {
	ID, Name    string
	Version     int
	Description *string
	Books       int `json:"-"`
}

// genres draws the genres by category, with the number of their books.
func (p *Pages) genres(r *http.Request) (*page, error) {
	var answer struct {
		Categories struct{ Nodes []categoryView }
		Books      struct {
			TotalCount int
			Facets     struct {
				Genres []struct {
					Count int
					Genre struct{ ID string }
				}
			}
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
	view := &genresView{Books: answer.Books.TotalCount, Categories: answer.Categories.Nodes}
	for i := range view.Categories {
		category := &view.Categories[i]
		for j := range category.Genres.Nodes {
			genre := &category.Genres.Nodes[j]
			genre.Books = counts[genre.ID]
			category.Books += genre.Books
		}
	}
	return &page{name: "genres.html", Title: "Genres", Section: "genres", Query: playground, Main: view}, nil
}
