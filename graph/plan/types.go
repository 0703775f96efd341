package plan

import (
	"context"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

// root is the one row that a query starts from.
type root struct{}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

func appendBool(dst []byte, b bool) []byte { return strconv.AppendBool(dst, b) }

var (
	bookLeaves     = leavesOf(model.BookFields, (*model.Book).NodeID)
	genreLeaves    = leavesOf(model.GenreFields, (*model.Genre).NodeID)
	categoryLeaves = leavesOf(model.CategoryFields, (*model.Category).NodeID)
)

// leavesOf returns the leaves of a type of rows, by name.
func leavesOf[T any](fields []model.RowField[T], nodeID func(*T) string) map[string]leaf[*T] {
	leaves := map[string]leaf[*T]{
		"nodeId": func(dst []byte, row *T) []byte { return model.AppendString(dst, nodeID(row)) },
	}
	for _, f := range fields {
		leaves[f.Name] = f.AppendGraphQL
	}
	return leaves
}

func (c *compiler) query(set ast.SelectionSet) *selection[root] {
	return compileSelection(c, c.collect(set, "Query"), "Query", nil, func(f graphql.CollectedField) relation[root] {
		switch f.Name {
		case "book":
			return byID(c, f, c.book(f.Selections), Source.LoadBooks)
		case "genre":
			return byID(c, f, c.genre(f.Selections), Source.LoadGenres)
		case "category":
			return byID(c, f, c.category(f.Selections), Source.LoadCategories)
		case "books":
			return connection(c, f, "Book", c.book, func(r *run, _ []root, a model.PageArgs) ([]*model.BookConnection, error) {
				return singleton(r.source.Query().Books(r.ctx, a.First, a.After, a.Last, a.Before, a.Offset, a.Filter, a.OrderBy, a.Search))
			})
		case "genres":
			return connection(c, f, "Genre", c.genre, func(r *run, _ []root, a model.PageArgs) ([]*model.GenreConnection, error) {
				return singleton(r.source.Query().Genres(r.ctx, a.First, a.After, a.Last, a.Before, a.Offset, a.Filter, a.OrderBy, a.Search))
			})
		case "categories":
			return connection(c, f, "Category", c.category, func(r *run, _ []root, a model.PageArgs) ([]*model.CategoryConnection, error) {
				return singleton(r.source.Query().Categories(r.ctx, a.First, a.After, a.Last, a.Before, a.Offset, a.Filter, a.OrderBy, a.Search))
			})
		case "bookGroups":
			return c.groups(f)
		case "node", "nodes":
			return c.nodes(f)
		case "viewer":
			return c.viewer(f)
		}
		return nil
	})
}

func (c *compiler) book(set ast.SelectionSet) *selection[*model.Book] {
	return compileSelection(c, c.collect(set, "Book", "Node"), "Book", bookLeaves, func(f graphql.CollectedField) relation[*model.Book] {
		if f.Name != "genre" {
			return nil
		}
		return &toOne[*model.Book, *model.Genre]{
			find:      func(r *run, books []*model.Book) ([]*model.Genre, error) { return r.source.GenresOf(r.ctx, books) },
			selection: c.genre(f.Selections),
		}
	})
}

func (c *compiler) genre(set ast.SelectionSet) *selection[*model.Genre] {
	return compileSelection(c, c.collect(set, "Genre", "Node"), "Genre", genreLeaves, func(f graphql.CollectedField) relation[*model.Genre] {
		switch f.Name {
		case "category":
			return &toOne[*model.Genre, *model.Category]{
				find: func(r *run, genres []*model.Genre) ([]*model.Category, error) {
					return r.source.CategoriesOf(r.ctx, genres)
				},
				selection: c.category(f.Selections),
			}
		case "books":
			return connection(c, f, "Book", c.book, func(r *run, genres []*model.Genre, a model.PageArgs) ([]*model.BookConnection, error) {
				return r.source.BooksOfGenres(r.ctx, genres, a)
			})
		}
		return nil
	})
}

func (c *compiler) category(set ast.SelectionSet) *selection[*model.Category] {
	return compileSelection(c, c.collect(set, "Category", "Node"), "Category", categoryLeaves, func(f graphql.CollectedField) relation[*model.Category] {
		switch f.Name {
		case "genres":
			return connection(c, f, "Genre", c.genre, func(r *run, categories []*model.Category, a model.PageArgs) ([]*model.GenreConnection, error) {
				return r.source.GenresOfCategories(r.ctx, categories, a)
			})
		case "books":
			return connection(c, f, "Book", c.book, func(r *run, categories []*model.Category, a model.PageArgs) ([]*model.BookConnection, error) {
				return r.source.BooksOfCategories(r.ctx, categories, a)
			})
		}
		return nil
	})
}

var viewerLeaves = map[string]leaf[*model.Viewer]{
	"subject": func(dst []byte, v *model.Viewer) []byte { return model.AppendNullable(dst, v.Subject) },
	"scopes": func(dst []byte, v *model.Viewer) []byte {
		dst = append(dst, '[')
		for i, scope := range v.Scopes {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = model.AppendString(dst, scope)
		}
		return append(dst, ']')
	},
	"expiresAt": func(dst []byte, v *model.Viewer) []byte { return v.ExpiresAt.AppendJSON(dst) },
}

// viewer is the relation from the query to who is asking.
func (c *compiler) viewer(f graphql.CollectedField) relation[root] {
	return &toOne[root, *model.Viewer]{
		find: func(r *run, _ []root) ([]*model.Viewer, error) {
			return singleton(r.source.Query().Viewer(r.ctx))
		},
		selection: compileSelection(c, c.collect(f.Selections, "Viewer"), "Viewer", viewerLeaves, noRelations),
	}
}

// byID is the relation from the query to one row.
func byID[T any](c *compiler, f graphql.CollectedField, s *selection[*T], load func(Source, context.Context, []model.ID) ([]*T, error)) relation[root] {
	at := len(c.byID[f.Name])
	c.byID[f.Name] = append(c.byID[f.Name], f.Field)
	return &toOne[root, *T]{
		find: func(r *run, _ []root) ([]*T, error) {
			// All rows of the type that the query names are read with the first;
			// those that follow find theirs read.
			fields := r.byID[f.Name]
			ids := make([]model.ID, len(fields))
			for i, field := range fields {
				value, err := field.Arguments.ForName("id").Value.Value(r.variables) // it must be there
				if err != nil {
					return nil, err
				}
				id, err := graphql.UnmarshalID(value)
				if err != nil {
					return nil, err
				}
				ids[i] = model.ParseID(id)
			}
			rows, err := load(r.source, r.ctx, ids)
			if err != nil {
				return nil, err
			}
			return rows[at : at+1], nil
		},
		selection: s,
	}
}

// singleton makes the one connection of a query the connections of its one row.
func singleton[C any](c C, err error) ([]C, error) { return []C{c}, err }
