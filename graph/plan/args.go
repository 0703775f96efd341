package plan

import (
	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

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
		}
		if err != nil {
			return a, err
		}
	}
	return a, nil
}

func pointer[T any](v T, err error) (*T, error) { return &v, err }
