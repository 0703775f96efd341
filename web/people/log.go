package people

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/web/view"
)

// kinds and whats are the filters of the log by type and by operation, with the values of GraphQL.
var (
	kinds = []choice{{"BOOK", "Books"}, {"GENRE", "Genres"}, {"CATEGORY", "Categories"}}
	whats = []choice{{"CREATE", "Added"}, {"UPDATE", "Changed"}, {"DELETE", "Deleted"}, {"RESET", "Replaced all"}}
)

// logged is a change as the query of the log selects it.
type logged struct {
	Position, Type, RowID, Operation, At string
	Version                              int
	Name, Actor, ActorName               *string
}

// Action returns the words for the operation.
func (c *logged) Action() string { return wordsOf(whats, c.Operation) }

// Noun returns the word for the type.
func (c *logged) Noun() string {
	return map[string]string{"BOOK": "book", "GENRE": "genre", "CATEGORY": "category"}[c.Type]
}

// By returns the name of the actor, or "".
func (c *logged) By() string {
	switch {
	case c.ActorName != nil:
		return *c.ActorName
	case c.Actor != nil:
		return *c.Actor
	}
	return ""
}

// Kind returns the word for the rows of a type.
func Kind(t model.CatalogueType) string { return strings.ToLower(wordsOf(kinds, string(t))) }

// entry is one change, or the changes that one write made of many rows. They have the time and the actor of the first.
type entry struct {
	*logged
	Changes []*logged
}

// maxEntries is the number of entries on a page. maxValued is the number of books on a page of values.
const maxEntries, maxValued = 50, 100

// entries groups changes by write. It leaves out what follows maxEntries entries, and the last entry if it may have
// more changes than were read, unless it is the only one.
func entries(changes []*logged, hasMore bool) (all []entry, left bool) {
	for _, c := range changes {
		if n := len(all); n > 0 && c.sameWrite(all[n-1].logged) {
			all[n-1].Changes = append(all[n-1].Changes, c)
			continue
		}
		all = append(all, entry{c, []*logged{c}})
	}
	n := len(all)
	if hasMore {
		n = max(n-1, min(n, 1))
	}
	n = min(n, maxEntries)
	return all[:n], n < len(all)
}

// sameWrite reports whether a change is of the write of another one. All changes of a transaction have one time.
func (c *logged) sameWrite(other *logged) bool {
	return c.At == other.At && c.Type == other.Type && c.Operation == other.Operation && c.By() == other.By()
}

// Rows returns the number of rows with their noun.
func (e entry) Rows() string {
	return view.Number(len(e.Changes)) + " " + Kind(model.CatalogueType(e.Type))
}

// ValuesURL returns the address of the old and new values of books, or "" for other changes.
func (e entry) ValuesURL() string {
	if e.Type != "BOOK" || e.Operation != "UPDATE" {
		return ""
	}
	var ids []string
	for _, c := range e.Changes[:min(len(e.Changes), maxValued)] {
		ids = append(ids, c.RowID)
	}
	return "/changes/books?" + url.Values{"at": {e.At}, "ids": {strings.Join(ids, ",")}}.Encode()
}

// logFilter selects a page of the log by the parameters of its address: kind, what, who, since, and the position after.
type logFilter struct{ url.Values }

// url returns the address of the changes before a position; empty: the newest ones.
func (f logFilter) url(after string) string {
	query := url.Values{"after": {after}}
	for _, name := range []string{"kind", "what", "who", "since"} {
		query.Set(name, f.Get(name))
	}
	maps.DeleteFunc(query, func(_ string, values []string) bool { return values[0] == "" })
	if len(query) == 0 {
		return "/changes"
	}
	return "/changes?" + query.Encode()
}

// variables returns the variables of the query. The error is BadUserInput.
func (f logFilter) variables() (view.Variables, error) {
	kind, what, since := f.Get("kind"), f.Get("what"), f.Get("since")
	v := view.Variables{}
	if since != "" {
		day, err := time.Parse(time.DateOnly, since)
		if err != nil {
			return nil, model.Errorf(model.BadUserInput, "The address has an invalid day. Choose another one.")
		}
		v["since"] = day.Format(time.RFC3339)
	}
	if kind != "" && wordsOf(kinds, kind) == "" || what != "" && wordsOf(whats, what) == "" {
		return nil, model.Errorf(model.BadUserInput, "The address has an unknown filter. Choose another one.")
	}
	for variable, value := range map[string]string{"types": kind, "operations": what, "actor": f.Get("who"),
		"after": f.Get("after")} {
		if value != "" {
			v[variable] = value // GraphQL takes a value for a list of one
		}
	}
	return v, nil
}

// logView has the data of the page of the log.
type logView struct {
	logFilter
	Kinds, Whats, Actors []choice
	Entries              []entry
	Filtered             bool
	Older, Newest        string // addresses of other pages, or empty
}

// Log returns the page of all changes, newest first.
func (p Pages) Log(r *http.Request) (*view.Page, error) {
	if _, err := signedIn(r); err != nil {
		return nil, err
	}
	f := logFilter{r.URL.Query()}
	v, err := f.variables()
	if err != nil {
		return nil, err
	}
	var response struct {
		RecentChanges struct {
			Nodes    []*logged
			Position string
			HasMore  bool
		}
	}
	playground, err := p.Source.Execute(r, "log", v, &response)
	if err != nil {
		return nil, err
	}
	page := response.RecentChanges
	main := &logView{logFilter: f, Kinds: kinds, Whats: whats,
		Filtered: f.Get("kind")+f.Get("what")+f.Get("who")+f.Get("since") != ""}
	if main.Actors, err = p.actors(r, f.Get("who"), page.Nodes); err != nil {
		return nil, err
	}
	var left bool
	if main.Entries, left = entries(page.Nodes, page.HasMore); left {
		last := main.Entries[len(main.Entries)-1].Changes
		main.Older = f.url(last[len(last)-1].Position)
	} else if page.HasMore {
		main.Older = f.url(page.Position)
	}
	if f.Get("after") != "" {
		main.Newest = f.url("")
	}
	return &view.Page{Name: "log.html", Title: "Changes", Section: "changes", Query: playground, Main: main}, nil
}

// actors returns the choices of actors: the chosen one, all on the page and, for an admin, all accounts.
func (p Pages) actors(r *http.Request, chosen string, changes []*logged) ([]choice, error) {
	names := map[string]string{}
	if chosen != "" {
		names[chosen] = chosen
	}
	for _, c := range changes {
		if c.Actor != nil {
			names[*c.Actor] = c.By()
		}
	}
	list, err := p.Service.List(r.Context())
	if err != nil && !model.IsCode(err, model.Forbidden) {
		return nil, err
	}
	for _, a := range list {
		names[a.Subject()] = a.DisplayName
	}
	var all []choice
	for subject, name := range names {
		all = append(all, choice{subject, name})
	}
	slices.SortFunc(all, func(a, b choice) int {
		return cmp.Or(cmp.Compare(a.Words, b.Words), cmp.Compare(a.Value, b.Value))
	})
	return all, nil
}
