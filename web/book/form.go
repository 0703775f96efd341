package book

import (
	"encoding/json"
	"net/http"
	"slices"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/author"
	"library-catalogue/graph/model/isbn"
	"library-catalogue/web/language"
	"library-catalogue/web/view"
)

// formView has the data of a book's form.
type formView struct {
	New    bool
	Lookup bool // the ISBN of a new book is looked up
	Book   *wholeBook
	Groups []genreGroup
}

// genreGroup has the genres of a category.
type genreGroup struct {
	Category view.Named
	Genres   []view.Named
}

// groups returns the genres by category. They must be in order of their categories.
func (b *bookResponse) groups() []genreGroup {
	var groups []genreGroup
	for _, g := range b.Genres.Nodes {
		if n := len(groups); n == 0 || groups[n-1].Category.Name != g.Category.Name {
			groups = append(groups, genreGroup{Category: g.Category})
		}
		last := &groups[len(groups)-1]
		last.Genres = append(last.Genres, g.Named)
	}
	return groups
}

// Edit returns the form to edit a book.
func (p Pages) Edit(r *http.Request) (*view.Page, error) {
	response, playground, err := p.one(r, "edit")
	if err != nil {
		return nil, err
	}
	data := &formView{Book: response.Book, Groups: response.groups()}
	return &view.Page{Name: "form.html", Title: language.Of(r).Text("Edit %s", response.Book.Name),
		Section: "books", Query: playground,
		Script: "form.js", State: response.State, Main: data}, nil
}

// New returns the form to add a book.
func (p Pages) New(r *http.Request) (*view.Page, error) {
	var response bookResponse
	playground, err := p.Execute(r, "new", nil, &response)
	if err != nil {
		return nil, err
	}
	data := &formView{New: true, Lookup: p.Lookup, Book: &wholeBook{values: map[string]any{}},
		Groups: response.groups()}
	if digits, ok := isbn.Parse(r.URL.Query().Get("isbn")); ok {
		data.Book.values["isbn"] = digits
	}
	return &view.Page{Name: "form.html", Title: language.Of(r).Text("Add a book"), Section: "books", Query: playground,
		Script: "form.js", Main: data}, nil
}

// Values responds with the values of fields in the query in the catalogue's notation, or with what to write instead.
// Its offers are for the author.
func (p Pages) Values(w http.ResponseWriter, r *http.Request) {
	response := struct {
		Values   map[string]string      `json:"values"`
		Problems map[string]model.Parts `json:"problems"`
		Offers   []offer                `json:"offers"`
	}{Values: map[string]string{}, Problems: map[string]model.Parts{}}
	form := model.Form{}
	for _, f := range model.BookFields {
		text := r.URL.Query().Get(f.Name)
		if text == "" || !f.Writable {
			continue
		}
		if plain, problem := p.ReadValue(f.Kind, text); problem.Key != "" {
			response.Problems[f.Name] = model.Parts(problem)
		} else {
			response.Values[f.Name] = view.KnownDate(plain)
			form[f.Key] = model.Text(plain)
		}
	}
	book := form.CreateBook()
	invalid := book.Validate()
	for _, f := range model.BookFields {
		i := slices.IndexFunc(invalid, func(e model.FieldError) bool { return e.Field == f.Key })
		if _, isGiven := form[f.Key]; isGiven && i >= 0 {
			response.Problems[f.Name] = model.Parts(invalid[i].Text())
		}
	}
	response.Offers = offers(language.Of(r), r.URL.Query().Get("author"))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(response) // the client may be gone
}

// offer is another form of an author, and what a button says of it.
type offer struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// offers returns the other forms of an author with the family name first: "Michael Ende" of "Ende, Michael". One
// comma may also stand between two persons: "Goscinny, Uderzo".
func offers(in *language.Language, text string) []offer {
	turned, isTurned := author.Turned(text)
	parted, isParted := author.Parted(text)
	switch {
	case !isTurned:
		return []offer{}
	case !isParted:
		return []offer{{in.Text("Write “%s”", turned), turned}}
	}
	return []offer{{in.Text("One person: %s", turned), turned}, {in.Text("Two persons: %s", parted), parted}}
}

// Import returns the form to import a file. Its script uses /api/imports.
func (p Pages) Import(r *http.Request) (*view.Page, error) {
	var fields []*model.FieldInfo
	for _, key := range model.ImportFields {
		fields = append(fields, model.ImportField(key))
	}
	main := struct {
		Fields    []*model.FieldInfo
		Encodings []string
	}{fields, p.Encodings}
	return &view.Page{Name: "import.html", Title: language.Of(r).Text("Import a file"), Section: "books",
		Script: "import.js", Main: main}, nil
}
