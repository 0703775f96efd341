package people

import (
	"cmp"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/web/language"
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
	ChangeSet                            struct {
		ID     string
		Counts []count
	}
}

// wording has the sentences about one change and about many.
type wording struct {
	One  language.Key
	Many language.PluralKey
}

// wordings are the sentences by operation and type.
var wordings = map[string]wording{
	"CREATE BOOK":     {"Added book %s", "Added %s books"},
	"CREATE GENRE":    {"Added genre %s", "Added %s genres"},
	"CREATE CATEGORY": {"Added category %s", "Added %s categories"},
	"UPDATE BOOK":     {"Changed book %s", "Changed %s books"},
	"UPDATE GENRE":    {"Changed genre %s", "Changed %s genres"},
	"UPDATE CATEGORY": {"Changed category %s", "Changed %s categories"},
	"DELETE BOOK":     {"Deleted book %s", "Deleted %s books"},
	"DELETE GENRE":    {"Deleted genre %s", "Deleted %s genres"},
	"DELETE CATEGORY": {"Deleted category %s", "Deleted %s categories"},
	"RESET BOOK":      {One: "Replaced all books"},
	"RESET GENRE":     {One: "Replaced all genres"},
	"RESET CATEGORY":  {One: "Replaced all categories"},
}

// Words returns the sentences for the operation and the type.
func (c *logged) Words() wording { return wordings[c.Operation+" "+c.Type] }

// Title returns the name of the row, or its id.
func (c *logged) Title() string {
	if c.Name != nil {
		return *c.Name
	}
	return c.RowID
}

// URL returns the address of the row, or "" if it has none any more.
func (c *logged) URL() string {
	isDeleted := c.Operation == "DELETE"
	switch {
	case c.Type == "BOOK" && isDeleted:
		return "/books/" + c.RowID + "/history"
	case c.Type == "BOOK":
		return "/books/" + c.RowID
	case isDeleted:
		return ""
	}
	return "/?" + url.Values{strings.ToLower(c.Type): {c.RowID}}.Encode()
}

// Link returns the title with a link, if the row has an address. Scripts find it by type and id.
func (c *logged) Link() template.HTML {
	name := template.HTMLEscapeString(c.Title())
	if address := c.URL(); address != "" {
		name = `<a href="` + template.HTMLEscapeString(address) + `">` + name + "</a>"
	}
	return template.HTML(`<strong dir="auto" data-row="` + c.Type + " " + c.RowID + `">` + //nolint:gosec // escaped
		name + "</strong>")
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

// Kinds returns the words for the rows of types.
func Kinds(in *language.Language, types []model.CatalogueType) string {
	var words []string
	for _, t := range types {
		words = append(words, in.Text(map[model.CatalogueType]language.Key{
			"BOOK": "books", "GENRE": "genres", "CATEGORY": "categories",
		}[t]))
	}
	return strings.Join(words, ", ")
}

// entry is a change set. It has the time and the actor of its newest change.
type entry struct {
	*logged
	Changes []*logged // on this page, newest first
}

// count is a number of changes of a set.
type count struct {
	Type, Operation string
	Count           int
}

// Words returns the sentences for the operation and the type.
func (c count) Words() wording { return wordings[c.Operation+" "+c.Type] }

// maxEntries is the number of entries on a page. maxValued is the number of books on a page of values.
const maxEntries, maxValued = 50, 100

// entries groups changes by set. It leaves out what follows maxEntries entries, and the last entry if it may have
// more changes than were read, unless it is the only one.
func entries(changes []*logged, hasMore bool) (all []entry, left bool) {
	for _, c := range changes {
		if n := len(all); n > 0 && c.ChangeSet.ID == all[n-1].ChangeSet.ID {
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

// IsSingle reports whether the set has one change.
func (e entry) IsSingle() bool {
	return len(e.ChangeSet.Counts) == 1 && e.ChangeSet.Counts[0].Count == 1
}

// Undoable reports whether the set can be undone: none of its changes replaced all rows.
func (e entry) Undoable() bool {
	return !slices.ContainsFunc(e.ChangeSet.Counts, func(c count) bool { return c.Operation == "RESET" })
}

// ValuesURL returns the address of the old and new values of books, or "" if none was updated.
func (e entry) ValuesURL() string {
	var ids []string
	for _, c := range e.Changes {
		if c.Type == "BOOK" && c.Operation == "UPDATE" && len(ids) < maxValued {
			ids = append(ids, c.RowID)
		}
	}
	if ids == nil {
		return ""
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
	Kinds, Whats  []choice
	Actors        []actor
	Entries       []entry
	Filtered      bool
	Older, Newest string // addresses of other pages, or empty
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
	return &view.Page{Name: "log.html", Title: language.Of(r).Text("Changes"), Section: "changes", Script: "changes.js",
		Query: playground, Main: main}, nil
}

// actor is a person or a program that has made changes.
type actor struct{ Value, Name string }

// actors returns the actors to choose from: the chosen one, all on the page and, for an admin, all accounts.
func (p Pages) actors(r *http.Request, chosen string, changes []*logged) ([]actor, error) {
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
	var all []actor
	for subject, name := range names {
		all = append(all, actor{subject, name})
	}
	slices.SortFunc(all, func(a, b actor) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
	})
	return all, nil
}
