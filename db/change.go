package db

import (
	"context"
	"fmt"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
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
	if err := s.tickIfWritable(ctx); err != nil {
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
