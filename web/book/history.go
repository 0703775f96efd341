package book

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/web/language"
	"library-catalogue/web/view"
)

// historyPage is the number of changes on a page of a history.
const historyPage = 20

// change is a change of a book as the query of its history selects it.
type change struct {
	Position, Operation, At string
	Version                 int
	Book                    *wholeBook
	Differences             []difference `json:"-"`
	IsNow                   bool         `json:"-"` // the book is still as it was after the change
}

// difference is a field with its values before and after a change, as text or HTML. An empty one is no value.
type difference struct {
	Label         language.Key
	Before, After any
}

// Action returns the words for the operation.
func (c *change) Action() language.Key {
	return map[string]language.Key{"CREATE": "Created", "UPDATE": "Changed", "DELETE": "Deleted",
		"RESET": "All books were replaced"}[c.Operation]
}

// Restorable reports whether the book can be restored as it was after the change.
func (c *change) Restorable() bool { return c.Book != nil && !c.IsNow }

// historyView has the data of the page of a book's history.
type historyView struct {
	ID, Name string
	Version  int
	Deleted  bool
	Changes  []*change
	Older    string // URL of the next page, or empty
	First    bool   // the first page
}

// differences returns the fields that a change changed. before is nil for a new book.
func (b *wholeBook) differences(in *language.Language, before *wholeBook) (all []difference) {
	for _, place := range []place{titles, facts, prose} {
		for i, f := range b.at(place) {
			d := difference{Label: f.Label(), Before: "", After: f.Words(in)}
			if before != nil {
				d.Before = before.at(place)[i].Words(in)
			}
			if d.Before != d.After {
				all = append(all, d)
			}
		}
	}
	d := difference{Label: "Genre", Before: "", After: b.Genre.Name}
	if before != nil {
		d.Before = before.Genre.Name
	}
	if before == nil || before.GenreID != b.GenreID {
		all = append(all, d)
	}
	return all
}

// History returns the page of a book's changes, also of a deleted book.
func (p Pages) History(r *http.Request) (*view.Page, error) {
	var response struct {
		Book    *wholeBook
		History struct {
			Nodes   []*change
			HasMore bool
		}
	}
	in := language.Of(r)
	id, after := r.PathValue("id"), r.URL.Query().Get("after")
	v := view.Variables{"id": id}
	if after != "" {
		v["after"] = after
	}
	var playground string
	if model.ParseID(id) > 0 {
		var err error
		if playground, err = p.Execute(r, "history", v, &response); err != nil {
			return nil, err
		}
	}
	changes := response.History.Nodes
	if response.Book == nil && len(changes) == 0 {
		return nil, missingBook(id)
	}
	data := &historyView{ID: id, Deleted: response.Book == nil, First: after == ""}
	for i, c := range changes {
		var before *wholeBook
		if i+1 < len(changes) {
			before = changes[i+1].Book
		}
		if c.Book != nil {
			if c.Operation != "UPDATE" || before != nil {
				c.Differences = c.Book.differences(in, before)
			}
			c.IsNow = response.Book != nil && c.Version == response.Book.Version
			data.Name = cmp.Or(data.Name, c.Book.Name)
		}
	}
	if response.Book != nil {
		data.Name, data.Version = response.Book.Name, response.Book.Version
	} else {
		data.Version = changes[0].Version
	}
	data.Name = cmp.Or(data.Name, in.Text("Book %s", id))
	if len(changes) > historyPage {
		data.Older = "/books/" + id + "/history?after=" + url.QueryEscape(changes[historyPage-1].Position)
		changes = changes[:historyPage]
	}
	data.Changes = changes
	return &view.Page{Name: "history.html", Title: in.Text("History of %s", data.Name),
		Section: "books", Query: playground,
		Script: "history.js", Main: data}, nil
}

// changedBook is a book with its newest changes.
type changedBook struct {
	ID, Name string
	History  struct{ Nodes []*change }
	at       string
	in       *language.Language
}

// Differences returns what the change at the time of the page changed; nothing if its values are not kept.
func (b *changedBook) Differences() []difference {
	changes := b.History.Nodes
	i := slices.IndexFunc(changes, func(c *change) bool { return c.At == b.at })
	if i < 0 || i+1 == len(changes) || changes[i].Book == nil || changes[i+1].Book == nil {
		return nil
	}
	return changes[i].Book.differences(b.in, changes[i+1].Book)
}

// Changed returns the page of books that one write has changed, with their old and new values. The query has its time
// and the ids of at most 100 books.
func (p Pages) Changed(r *http.Request) (*view.Page, error) {
	main := struct {
		At    string
		Books []*changedBook
	}{At: r.URL.Query().Get("at")}
	ids := []string{}
	for text := range strings.SplitSeq(r.URL.Query().Get("ids"), ",") {
		if id := model.ParseID(text); id > 0 && len(ids) < 100 {
			ids = append(ids, id.String())
		}
	}
	var response struct {
		Books struct{ Nodes []*changedBook }
	}
	playground, err := p.Execute(r, "changed", view.Variables{"ids": ids}, &response)
	if err != nil {
		return nil, err
	}
	main.Books = response.Books.Nodes
	for _, b := range main.Books {
		b.at, b.in = main.At, language.Of(r)
	}
	return &view.Page{Name: "changed.html", Title: language.Of(r).Text("Old and new values"),
		Section: "changes", Query: playground,
		Main: main}, nil
}

// missingBook is the error of a book that does not exist.
func missingBook(id string) error {
	return model.Errorf(model.NotFound, "There is no book %s. It may have been deleted, or the address is wrong.",
		view.Leading(id, 20))
}

// deletedBook returns the page of a deleted book, which offers to restore it, or an error if the log has no such book.
func (p Pages) deletedBook(r *http.Request) (*view.Page, error) {
	page, err := p.History(r)
	if err != nil {
		return nil, err
	}
	name := page.Main.(*historyView).Name
	page.Status, page.Name, page.Title = http.StatusNotFound, "deleted.html",
		language.Of(r).Text("%s was deleted", name)
	return page, nil
}
