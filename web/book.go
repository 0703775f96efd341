package web

import (
	"net/http"
	"slices"
	"strings"

	"library-catalogue/graph/model"
)

// bookView is what the pages of one book are drawn with.
type bookView struct {
	ID, Name, Author, PublishedAt, Price, GenreID string
	Description                                   *string
	Version, Pages                                int
	CreatedAt, UpdatedAt                          string
	Genre                                         struct {
		ID, Name string
		Category struct{ ID, Name string }
		Books    struct {
			TotalCount int
			Nodes      []bookRow
		}
	}
}

// Cloth returns the classes of the colour of its binding.
func (b *bookView) Cloth() string { return cloth(b.GenreID, b.ID) }

// Cloth returns the classes of the colour of its binding.
func (b bookRow) Cloth() string { return cloth(b.GenreID, b.ID) }

// Authors returns the authors one by one.
func (b *bookView) Authors() []authorLink {
	var links []authorLink
	for _, name := range strings.Split(b.Author, ",") {
		if name = strings.TrimSpace(name); name != "" {
			links = append(links, authorLink{name, listing{Search: name}.URL()})
		}
	}
	return links
}

type authorLink struct{ Name, URL string }

// Neighbours returns other books of its genre.
func (b *bookView) Neighbours() []bookRow {
	var others []bookRow
	for _, other := range b.Genre.Books.Nodes {
		if other.ID != b.ID && len(others) < 6 {
			others = append(others, other)
		}
	}
	return others
}

func noBook(id string) error {
	return model.Errorf(model.NotFound, "There is no book %s. It may have been deleted, or the address has a slip in it.", leading(id, 20))
}

// book draws the page of a book.
func (p *Pages) book(r *http.Request) (*page, error) {
	id := r.PathValue("id")
	if model.ParseID(id) < 1 {
		return nil, noBook(id)
	}
	var answer struct{ Book *bookView }
	playground, err := p.execute(r, "book", variables{"id": id}, &answer)
	if err != nil {
		return nil, err
	}
	if answer.Book == nil {
		return nil, noBook(id)
	}
	return &page{name: "book.html", Title: answer.Book.Name, Section: "books", Query: playground, Main: answer.Book}, nil
}

// formView is what the form of a book is drawn with.
type formView struct {
	Book   *bookView // nil: a new one
	Groups []genreGroup
}

// genreGroup are the genres of a category, to choose from.
type genreGroup struct {
	Category string
	Genres   []genreChoice
}

type genreChoice struct{ ID, Name string }

// formAnswer is the answer to edit.graphql and new.graphql.
type formAnswer struct {
	Book   *bookView
	Genres struct {
		Nodes []struct {
			ID, Name string
			Category struct{ Name string }
		}
	}
}

// groups returns the genres by their categories, in order of both names.
func (a *formAnswer) groups() []genreGroup {
	byCategory := map[string]*genreGroup{}
	var names []string
	for _, g := range a.Genres.Nodes {
		group := byCategory[g.Category.Name]
		if group == nil {
			group = &genreGroup{Category: g.Category.Name}
			byCategory[g.Category.Name] = group
			names = append(names, g.Category.Name)
		}
		group.Genres = append(group.Genres, genreChoice{g.ID, g.Name})
	}
	slices.Sort(names)
	groups := make([]genreGroup, len(names))
	for i, name := range names {
		groups[i] = *byCategory[name]
	}
	return groups
}

// editBook draws the form that changes a book.
func (p *Pages) editBook(r *http.Request) (*page, error) {
	id := r.PathValue("id")
	if model.ParseID(id) < 1 {
		return nil, noBook(id)
	}
	var answer formAnswer
	playground, err := p.execute(r, "edit", variables{"id": id}, &answer)
	if err != nil {
		return nil, err
	}
	if answer.Book == nil {
		return nil, noBook(id)
	}
	view := &formView{Book: answer.Book, Groups: answer.groups()}
	return &page{name: "form.html", Title: "Edit " + answer.Book.Name, Section: "books", Query: playground, Main: view}, nil
}

// newBook draws the form that makes a book.
func (p *Pages) newBook(r *http.Request) (*page, error) {
	var answer formAnswer
	playground, err := p.execute(r, "new", nil, &answer)
	if err != nil {
		return nil, err
	}
	view := &formView{Book: &bookView{}, Groups: answer.groups()}
	return &page{name: "form.html", Title: "Add a book", Section: "books", Query: playground, Main: view}, nil
}

// New reports whether the form makes a book.
func (v *formView) New() bool { return v.Book.ID == "" }
