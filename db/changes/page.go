package changes

import (
	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

// readRows is the number of changes that one read of the log examines.
const readRows = 500

// logged is a change with its place in the log.
type logged struct {
	at     model.Position
	seq    int64
	change *model.Change
}

// Page is a part of the log. Its changes are shared and must not be modified.
type Page struct {
	changes []logged
	end     model.Position // where the next page begins
	more    bool
}

// nodes returns the changes after a position as a page for a client, at most first of them.
func (p *Page) nodes(after model.Position, first int) *model.ChangePage {
	page := &model.ChangePage{Position: p.end.String(), HasMore: p.more}
	for _, c := range p.changes {
		if !after.Before(c.at) {
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

// logType is a type of rows in the log.
type logType struct {
	name, code string
	table      *query.Table
}

var types = map[model.CatalogueType]logType{
	model.TypeBook:     {"Book", "b", query.Books},
	model.TypeGenre:    {"Genre", "g", query.Genres},
	model.TypeCategory: {"Category", "c", query.Categories},
}

var typesByCode = map[string]model.CatalogueType{"b": model.TypeBook, "g": model.TypeGenre, "c": model.TypeCategory}

// Operation returns the operation with a code of the log.
func Operation(code string) model.ChangeOperation { return operationsByCode[code] }

var operationsByCode = map[string]model.ChangeOperation{
	"c": model.ChangeCreate, "u": model.ChangeUpdate, "d": model.ChangeDelete, "r": model.ChangeReset,
}
