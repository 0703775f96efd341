package plan

import (
	"fmt"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

// nodesRelation leads from the query to rows of any type: the fields node and nodes.
type nodesRelation struct {
	field      *ast.Field
	books      *selection[*model.Book]
	genres     *selection[*model.Genre]
	categories *selection[*model.Category]
}

func (c *compiler) nodes(f graphql.CollectedField) relation[root] {
	return &nodesRelation{f.Field, c.book(f.Selections), c.genre(f.Selections), c.category(f.Selections)}
}

func (e *nodesRelation) load(r *run, _ []root) (values, error) {
	found, list, err := e.find(r)
	if err != nil {
		return nil, err
	}
	v := &nodeValues{list: list, rows: make([]values, len(found)), index: make([]int, len(found))}
	var books []*model.Book
	var genres []*model.Genre
	var categories []*model.Category
	for i, node := range found {
		switch row := node.(type) {
		case nil:
		case *model.Book:
			v.index[i], books = len(books), append(books, row)
		case *model.Genre:
			v.index[i], genres = len(genres), append(genres, row)
		case *model.Category:
			v.index[i], categories = len(categories), append(categories, row)
		default:
			return nil, fmt.Errorf("no plan for a %T", node)
		}
	}
	loadedBooks, err := e.books.load(r, books)
	if err != nil {
		return nil, err
	}
	loadedGenres, err := e.genres.load(r, genres)
	if err != nil {
		return nil, err
	}
	loadedCategories, err := e.categories.load(r, categories)
	if err != nil {
		return nil, err
	}
	for i, node := range found {
		switch node.(type) {
		case *model.Book:
			v.rows[i] = loadedBooks
		case *model.Genre:
			v.rows[i] = loadedGenres
		case *model.Category:
			v.rows[i] = loadedCategories
		}
	}
	return v, nil
}

// find runs the field's resolver.
func (e *nodesRelation) find(r *run) (found []model.Node, list bool, err error) {
	args := e.field.ArgumentMap(r.variables)
	if e.field.Name == "node" {
		id, err := graphql.UnmarshalID(args["nodeId"])
		if err != nil {
			return nil, false, err
		}
		node, err := r.source.Query().Node(r.ctx, id)
		return []model.Node{node}, false, err
	}
	nodeIDs, ok := args["nodeIds"].([]any)
	if !ok {
		nodeIDs = []any{args["nodeIds"]} // a single value stands for a list of one
	}
	ids := make([]string, len(nodeIDs))
	for i := range nodeIDs {
		if ids[i], err = graphql.UnmarshalID(nodeIDs[i]); err != nil {
			return nil, true, err
		}
	}
	found, err = r.source.Query().Nodes(r.ctx, ids)
	return found, true, err
}

// nodeValues are what a nodesRelation led to.
type nodeValues struct {
	list  bool
	rows  []values // the rows of the node's type; nil for none
	index []int    // of the node among them
}

func (v *nodeValues) write(dst []byte, _ int) []byte {
	if !v.list {
		return v.writeNode(dst, 0)
	}
	dst = append(dst, '[')
	for i := range v.rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = v.writeNode(dst, i)
	}
	return append(dst, ']')
}

func (v *nodeValues) writeNode(dst []byte, i int) []byte {
	if v.rows[i] == nil {
		return append(dst, "null"...)
	}
	return v.rows[i].write(dst, v.index[i])
}
