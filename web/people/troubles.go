package people

import (
	"net/http"
	"slices"

	"library-catalogue/graph/model"
	"library-catalogue/web/language"
	"library-catalogue/web/view"
)

// trouble has the troubles of a kind, as the query of the page selects them.
type trouble struct {
	Kind             model.TroubleKind
	Count            int
	Pairs, Different []model.TroublePair
	Books            []troubledBook
}

type troubledBook struct{ ID, Name, Author string }

// troubledPair is a pair of a kind.
type troubledPair struct {
	trouble
	model.TroublePair
}

// Of returns a pair with its kind.
func (t trouble) Of(pair model.TroublePair) troubledPair { return troubledPair{t, pair} }

// Book returns the book of a pair by its id. It has no ID if the book was deleted.
func (t trouble) Book(id string) (found troubledBook) {
	for _, b := range t.Books {
		if b.ID == id {
			found = b
		}
	}
	return found
}

// Troubles returns the page of what may be set right.
func (p Pages) Troubles(r *http.Request) (*view.Page, error) {
	if _, err := signedIn(r); err != nil {
		return nil, err
	}
	var response struct{ Troubles []trouble }
	playground, err := p.Source.Execute(r, "troubles", nil, &response)
	found := slices.DeleteFunc(response.Troubles, func(t trouble) bool { return t.Count+len(t.Different) == 0 })
	return &view.Page{Name: "troubles.html", Title: language.Of(r).Text("To set right"),
		Section: "troubles", Query: playground,
		Script: "troubles.js", Main: found}, err
}
