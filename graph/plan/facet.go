package plan

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

// Facet adds a field to the type facets. It lists the values of the facet that name selects in
// facetKeys.
func Facet[V any](facets *Type[*model.BookFacets], name string, target *Type[V],
	read func(*model.BookFacets, context.Context, model.Facet) ([]V, error),
) {
	facets.relations[name] = func(c *compiler, f graphql.CollectedField) relation[*model.BookFacets] {
		return newList(func(of *model.BookFacets, ctx context.Context) ([]V, error) {
			want, err := facetOf(f.Field, graphql.GetOperationContext(ctx).Variables)
			if err != nil {
				return nil, err
			}
			return read(of, ctx, want)
		}, target.compile(c, f.Selections))
	}
}

var facetKeys = map[string]model.GroupKey{
	"genres": model.ByGenre, "categories": model.ByCategory, "authors": model.ByPerson, "years": model.ByYear,
	"publishers": model.ByPublisher, "languages": model.ByLanguage, "prices": model.ByPriceRange,
}

func facetOf(f *ast.Field, variables map[string]any) (want model.Facet, err error) {
	args := f.ArgumentMap(variables)
	want.By = facetKeys[f.Name]
	if want.By != model.ByPriceRange {
		want.First, err = model.UnmarshalInt(args["first"])
	}
	if bounds := args["bounds"]; bounds != nil && err == nil {
		want.Bounds, err = mapRows(graphql.CoerceList(bounds), func(v any) (cents model.Cents, err error) {
			err = cents.UnmarshalGQL(v)
			return cents, err
		})
	}
	return want, err
}
