package reads

import (
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

// listOf are the types of the lists of rows, by field.
var listOf = map[string]string{"books": "Book", "genres": "Genre", "categories": "Category"}

// Of returns the rows that the response of a query depends on. In doubt it returns all rows.
func Of(query *ast.OperationDefinition, variables map[string]any) Rows {
	r := reader{variables: variables}
	for _, field := range FieldsOf(query.SelectionSet) {
		of := field.Definition.Type.Name()
		switch {
		case field.Name == "__typename":
		case listOf[field.Name] != "":
			r.list(field)
		case model.Entities[of] != nil && field.Definition.Arguments.ForName("id") != nil:
			var id model.ID
			if id.UnmarshalGQL(field.ArgumentMap(variables)["id"]) != nil {
				r.AddAll()
			}
			r.AddRow(of, id)
			r.row(of, field.SelectionSet)
		default:
			r.AddAll()
		}
	}
	return r.Rows
}

// reader collects the rows that fields depend on.
type reader struct {
	Rows
	variables map[string]any
}

// list adds the rows of a list, and those that they depend on.
func (r *reader) list(field *ast.Field) {
	arguments := field.ArgumentMap(r.variables)
	args := model.PageArgs{}
	args.Filter, _ = arguments["filter"].(map[string]any)
	if search, ok := arguments["search"].(string); ok {
		args.Search = &search
	}
	for _, by := range graphql.CoerceList(arguments["orderBy"]) {
		order, _ := by.(map[string]any)
		name, _ := order["field"].(string)
		args.OrderBy = append(args.OrderBy, &model.OrderBy{Field: name})
	}
	r.AddList(listOf[field.Name], args)
	r.page(field.SelectionSet)
}

// page adds the rows that the fields of a page depend on, beside those of its list.
func (r *reader) page(set ast.SelectionSet) {
	for _, field := range FieldsOf(set) {
		switch field.Name {
		case "totalCount", "pageInfo", "cursor", "__typename":
		case "edges":
			r.page(field.SelectionSet)
		case "nodes", "node":
			r.row(field.Definition.Type.Name(), field.SelectionSet)
		default: // facets, figures
			r.AddAll()
		}
	}
}

// row adds the rows that the fields of a row depend on, beside the row.
func (r *reader) row(typename string, set ast.SelectionSet) {
	for _, field := range FieldsOf(set) {
		of := field.Definition.Type.Name()
		switch {
		case model.Entities[of] != nil:
			r.Add(typeOf(of), nil)
			r.row(of, field.SelectionSet)
		case listOf[field.Name] != "":
			r.Add(typeOf(listOf[field.Name]), nil) // a row may come from another parent
			if typename == "Category" {
				r.Add(model.TypeGenre, nil) // its books are those of its genres
			}
			r.list(field)
		case field.Name != "nodeId" && field.Name != "__typename" && !isColumn(typename, field.Name):
			r.AddAll()
		}
	}
}

// isColumn reports whether a field of a row is one of its columns.
func isColumn(typename, field string) bool {
	entity := model.Entities[typename]
	return entity != nil && slices.ContainsFunc(entity.Fields, func(f model.FieldInfo) bool { return f.Name == field })
}

// FieldsOf returns the fields of a selection set with its fragments spread.
func FieldsOf(set ast.SelectionSet) (fields []*ast.Field) {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			fields = append(fields, s)
		case *ast.InlineFragment:
			fields = append(fields, FieldsOf(s.SelectionSet)...)
		case *ast.FragmentSpread:
			fields = append(fields, FieldsOf(s.Definition.SelectionSet)...)
		}
	}
	return fields
}
