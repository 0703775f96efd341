package db

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// changeRows is the number of changes that one read of the log examines.
const changeRows = 500

// loggedChange is a change with its place in the log.
type loggedChange struct {
	at     position
	seq    int64
	change *model.Change
}

// changePage is a part of the log. Its changes are shared and must not be modified.
type changePage struct {
	changes []loggedChange
	end     position // where the next page begins
	more    bool
}

// nodes returns the changes after a position as a page for a client, at most first of them.
func (p *changePage) nodes(after position, first int) *model.ChangePage {
	page := &model.ChangePage{Position: p.end.String(), HasMore: p.more}
	for _, c := range p.changes {
		if !after.before(c.at) {
			continue
		}
		if len(page.Nodes) == first {
			page.Position, page.HasMore = after.String(), true
			break
		}
		page.Nodes, after = append(page.Nodes, c.change), c.at
	}
	return page
}

// changeFilter selects changes. A reset passes it whatever the ids and the condition are.
type changeFilter struct {
	types []model.CatalogueType
	ids   []model.ID
	where *model.Condition // of the one type
}

// newChangeFilter checks the arguments.
func newChangeFilter(args model.ChangeArgs) (f changeFilter, err error) {
	f.types, f.ids = args.Types, args.IDs
	if f.types == nil {
		f.types = model.CatalogueTypes
	}
	if len(f.types) != 1 && args.IDs != nil {
		return f, badArgument("ids", "The ids argument needs exactly one type in types.")
	}
	if len(f.types) != 1 && len(args.Filter) > 0 {
		return f, badArgument("filter", "The filter argument needs exactly one type in types.")
	}
	for _, t := range f.types {
		if _, known := loggedTypes[t]; !known {
			return f, badArgument("types", "The types argument must contain BOOK, GENRE or CATEGORY.")
		}
	}
	if len(args.Filter) > 0 {
		selection, err := model.ParseSelection(loggedTypes[f.types[0]].typename, args.Filter, nil)
		if err != nil {
			return f, err
		}
		f.where = selection.Where
	}
	return f, nil
}

func badArgument(field, message string) error {
	return model.FieldErrors{{Field: field, Message: message}}.Err()
}

// loggedType is a type of rows in the log.
type loggedType struct {
	typename, code string
	table          *query.Table
}

var loggedTypes = map[model.CatalogueType]loggedType{
	model.TypeBook:     {"Book", "b", query.Books},
	model.TypeGenre:    {"Genre", "g", query.Genres},
	model.TypeCategory: {"Category", "c", query.Categories},
}

var typesByCode = map[string]model.CatalogueType{"b": model.TypeBook, "g": model.TypeGenre, "c": model.TypeCategory}

var operationsByCode = map[string]model.ChangeOperation{
	"c": model.ChangeCreate, "u": model.ChangeUpdate, "d": model.ChangeDelete, "r": model.ChangeReset,
}

// Changes returns a page of changes, oldest first. It examines a bounded part of the log, so a page
// of a rare filter may be empty although HasMore is true. Errors: BadUserInput, PositionGone.
func (s *Store) Changes(ctx context.Context, args model.ChangeArgs) (*model.ChangePage, error) {
	f, err := newChangeFilter(args)
	if err != nil {
		return nil, err
	}
	if args.First < 0 || args.First > model.MaxPageSize {
		return nil, badArgument("first", fmt.Sprintf("The first argument must be between 0 and %d.", model.MaxPageSize))
	}
	after, err := parseAfter(args.After)
	if err != nil {
		return nil, err
	}
	if err := s.tickForPage(ctx); err != nil {
		return nil, err
	}
	rows := max(1, args.First)
	if filterKey(args) != "" {
		rows = max(rows, changeRows)
	}
	page, begin, err := s.readChanges(ctx, f, after, rows)
	if err != nil {
		return nil, err
	}
	return page.nodes(begin, args.First), nil
}

// filteredPage is the part of a page that passes a filter.
type filteredPage struct {
	done chan struct{} // closed after page or err is set
	page changePage
	err  error
}

// filterKey returns a text that identifies a filter, empty for none.
func filterKey(args model.ChangeArgs) string {
	if args.Types == nil && args.IDs == nil && args.Filter == nil {
		return ""
	}
	key, _ := json.Marshal([]any{args.Types, args.IDs, args.Filter}) // they have a JSON text, because newChangeFilter accepted them
	return string(key)
}

// filterPage returns the part of a page that passes a filter. Subscribers with the same filter share one
// attempt (single-flight). After an error the next call makes another.
func (s *Store) filterPage(ctx context.Context, shared *feedPage, f changeFilter, key string, admit Admit) (*changePage, error) {
	if key == "" {
		return &shared.changePage, nil
	}
	if filtered := shared.match(key); filtered != nil && filtered.isDone() {
		return &filtered.page, filtered.err
	}
	release, err := admit(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	shared.mu.Lock()
	filtered, begun := shared.matches[key]
	if !begun {
		filtered = &filteredPage{done: make(chan struct{})}
		shared.matches[key] = filtered
	}
	shared.mu.Unlock()
	if !begun {
		s.runInBackground(func(ctx context.Context) { s.fillPage(ctx, shared, filtered, f, key) })
	}
	select {
	case <-filtered.done:
		return &filtered.page, filtered.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// match returns the part of a page that passes a filter, or nil if no subscriber has asked for it.
func (p *feedPage) match(key string) *filteredPage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.matches[key]
}

func (p *filteredPage) isDone() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// fillPage sets the page or the error of a filteredPage.
func (s *Store) fillPage(ctx context.Context, shared *feedPage, filtered *filteredPage, f changeFilter, key string) {
	defer close(filtered.done)
	filtered.err = task.Run(ctx, func() (err error) {
		if s.options.filterFails != nil {
			err = s.options.filterFails()
		}
		if err == nil {
			filtered.page, err = s.selectMatches(ctx, shared.changePage, f)
		}
		return err
	})
	if filtered.err != nil {
		shared.mu.Lock()
		defer shared.mu.Unlock()
		delete(shared.matches, key)
	}
}

// selectMatches returns the changes of a page that pass a filter.
func (s *Store) selectMatches(ctx context.Context, page changePage, f changeFilter) (changePage, error) {
	page.changes = slices.DeleteFunc(slices.Clone(page.changes), func(c loggedChange) bool {
		return !slices.Contains(f.types, c.change.Type) ||
			f.ids != nil && c.change.Operation != model.ChangeReset && !slices.Contains(f.ids, c.change.RowID)
	})
	if f.where == nil || len(page.changes) == 0 {
		return page, nil
	}
	var ids []model.ID
	var numbers []int64
	for _, c := range page.changes {
		ids, numbers = append(ids, c.change.RowID), append(numbers, c.seq)
	}
	b := query.New(s.dialect)
	from := `SELECT seq AS tick, seq, version, row_id, type, operation, actor, ` + s.dialect.Now + ` AS at, old FROM changes WHERE ` +
		s.dialect.In("row_id", b.Arg(s.dialect.Array(ids))) + ` AND ` + s.dialect.In("seq", b.Arg(s.dialect.Array(numbers)))
	passes := map[int64]bool{}
	err := s.transact(ctx, s.readPool, s.dialect.Snapshot, func(ctx context.Context, t *tx) error {
		found, err := s.selectChanges(ctx, t, b, from, f)
		if err != nil {
			return err
		}
		clear(passes)
		for _, c := range found {
			passes[c.Seq] = c.Matches
		}
		return nil
	})
	if err != nil {
		return changePage{}, err
	}
	page.changes = slices.DeleteFunc(page.changes, func(c loggedChange) bool { return !passes[c.seq] })
	return page, nil
}
