package plan

import (
	"context"
	"errors"
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
	return compileSelection(c, c.collect(set, "Query"), "Query", nil, func(f graphql.CollectedField) edge[root] {
		switch f.Name {
		case "book":
			return byID(c, f, c.book(f.Selections), Source.LoadBooks)
		case "genre":
			return byID(c, f, c.genre(f.Selections), Source.LoadGenres)
		case "category":
			return byID(c, f, c.category(f.Selections), Source.LoadCategories)
		case "books":
			return connection(c, f, "Book", c.book, func(r *run, _ []root, a model.PageArgs) ([]*model.BookConnection, error) {
				return alone(r.source.Query().Books(r.ctx, a.First, a.After, a.Last, a.Before, a.Offset, a.Filter, a.OrderBy, a.Search))
			})
		case "genres":
			return connection(c, f, "Genre", c.genre, func(r *run, _ []root, a model.PageArgs) ([]*model.GenreConnection, error) {
				return alone(r.source.Query().Genres(r.ctx, a.First, a.After, a.Last, a.Before, a.Offset, a.Filter, a.OrderBy, a.Search))
			})
		case "categories":
			return connection(c, f, "Category", c.category, func(r *run, _ []root, a model.PageArgs) ([]*model.CategoryConnection, error) {
				return alone(r.source.Query().Categories(r.ctx, a.First, a.After, a.Last, a.Before, a.Offset, a.Filter, a.OrderBy, a.Search))
			})
		case "bookGroups":
			return c.groups(f)
		case "node", "nodes":
			return c.nodes(f)
		}
		return nil
	})
}

func (c *compiler) book(set ast.SelectionSet) *selection[*model.Book] {
	return compileSelection(c, c.collect(set, "Book", "Node"), "Book", bookLeaves, func(f graphql.CollectedField) edge[*model.Book] {
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
	return compileSelection(c, c.collect(set, "Genre", "Node"), "Genre", genreLeaves, func(f graphql.CollectedField) edge[*model.Genre] {
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
	return compileSelection(c, c.collect(set, "Category", "Node"), "Category", categoryLeaves, func(f graphql.CollectedField) edge[*model.Category] {
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

// byID is the edge from the query to one row.
func byID[T any](c *compiler, f graphql.CollectedField, s *selection[*T], load func(Source, context.Context, []model.ID) ([]*T, error)) edge[root] {
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

// connection compiles an edge to a connection of rows of a type.
func connection[P any, C model.Node](c *compiler, f graphql.CollectedField, typename string,
	compileNode func(ast.SelectionSet) *selection[C],
	of func(*run, []P, model.PageArgs) ([]*model.Connection[C], error),
) edge[P] {
	e := &toMany[P, C]{of: of, field: f.Field}
	for _, sub := range c.collect(f.Selections, typename+"Connection") {
		compiled := connectionField[C]{key: keyOf(sub.Alias, len(e.fields) == 0), name: sub.Alias}
		switch sub.Name {
		case "__typename":
			compiled.typename = []byte(`"` + typename + `Connection"`)
		case "totalCount":
			compiled.total = true
		case "nodes":
			compiled.nodes = compileNode(sub.Selections)
			e.columns |= compiled.nodes.columns
		case "edges":
			compiled.edges = compileEdge(c, sub, typename, compileNode)
			for _, f := range compiled.edges {
				if f.node != nil {
					e.columns |= f.node.columns
				}
			}
		case "pageInfo":
			compiled.pageInfo = compilePageInfo(c, sub)
			e.more = true
		case "aggregate":
			compiled.wanted, compiled.aggregate = model.SelectedAggregates(c.operation, sub.Selections), c.aggregate(sub.Selections, typename)
		case "facets":
			compiled.facets = c.facets(sub.Selections)
		default:
			c.unknown = true
		}
		e.fields = append(e.fields, compiled)
	}
	return e
}

func compileEdge[C model.Node](c *compiler, f graphql.CollectedField, typename string, compileNode func(ast.SelectionSet) *selection[C]) []edgeField[C] {
	fields := []edgeField[C]{}
	for _, sub := range c.collect(f.Selections, typename+"Edge") {
		compiled := edgeField[C]{key: keyOf(sub.Alias, len(fields) == 0), name: sub.Alias}
		switch sub.Name {
		case "__typename":
			compiled.typename = []byte(`"` + typename + `Edge"`)
		case "cursor":
			compiled.cursor = true
		case "node":
			compiled.node = compileNode(sub.Selections)
		default:
			c.unknown = true
		}
		fields = append(fields, compiled)
	}
	return fields
}

func compilePageInfo(c *compiler, f graphql.CollectedField) []pageInfoField {
	fields := []pageInfoField{}
	for _, sub := range c.collect(f.Selections, "PageInfo") {
		compiled := pageInfoField{key: keyOf(sub.Alias, len(fields) == 0)}
		switch sub.Name {
		case "__typename":
			compiled.read = func(_ *run, dst []byte, _ *model.PageInfo) ([]byte, error) {
				return append(dst, `"PageInfo"`...), nil
			}
		case "hasNextPage":
			compiled.read = func(r *run, dst []byte, info *model.PageInfo) ([]byte, error) {
				has, err := info.HasNextPage(r.ctx)
				return appendBool(dst, has), err
			}
		case "hasPreviousPage":
			compiled.read = func(r *run, dst []byte, info *model.PageInfo) ([]byte, error) {
				has, err := info.HasPreviousPage(r.ctx)
				return appendBool(dst, has), err
			}
		case "startCursor":
			compiled.read = func(_ *run, dst []byte, info *model.PageInfo) ([]byte, error) {
				return model.AppendNullable(dst, info.StartCursor), nil
			}
		case "endCursor":
			compiled.read = func(_ *run, dst []byte, info *model.PageInfo) ([]byte, error) {
				return model.AppendNullable(dst, info.EndCursor), nil
			}
		default:
			c.unknown = true
		}
		fields = append(fields, compiled)
	}
	return fields
}

// alone makes the one connection of a query the connections of its one row.
func alone[C any](c C, err error) ([]C, error) { return []C{c}, err }

var errArgument = errors.New("an argument that the reference executor must look at")

// pageArgs reads the arguments of a connection.
func pageArgs(f *ast.Field, variables map[string]any) (a model.PageArgs, err error) {
	if len(f.Arguments) == 0 {
		return a, nil
	}
	for name, value := range f.ArgumentMap(variables) {
		if value == nil {
			continue
		}
		switch name {
		case "first":
			a.First, err = pointer(graphql.UnmarshalInt(value))
		case "last":
			a.Last, err = pointer(graphql.UnmarshalInt(value))
		case "offset":
			a.Offset, err = pointer(graphql.UnmarshalInt(value))
		case "after":
			a.After, err = pointer(graphql.UnmarshalString(value))
		case "before":
			a.Before, err = pointer(graphql.UnmarshalString(value))
		case "filter":
			a.Filter, _ = value.(map[string]any)
		case "search":
			a.Search, err = pointer(graphql.UnmarshalString(value))
		case "orderBy":
			for _, value := range graphql.CoerceList(value) {
				by, _ := value.(map[string]any)
				field, _ := by["field"].(string)
				direction, _ := by["direction"].(string)
				a.OrderBy = append(a.OrderBy, &model.OrderBy{Field: field, Direction: direction})
			}
		case "by", "having": // of groups, which read them themselves
		default:
			err = errArgument
		}
		if err != nil {
			return a, err
		}
	}
	return a, nil
}

func pointer[T any](v T, err error) (*T, error) { return &v, err }
