package reads_test

import (
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/graph/reads"
)

// TestOf finds the changes that may affect the response of a query.
func TestOf(t *testing.T) {
	t.Parallel()
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	update := func(typ model.CatalogueType, old, row any) *model.Change {
		c := &model.Change{Type: typ, Operation: model.ChangeUpdate, Old: func() any { return old }}
		c.SetRow(row)
		return c
	}
	long, short := &model.Book{ID: 1, GenreID: 1, Pages: 500}, &model.Book{ID: 2, GenreID: 2, Pages: 5}
	changes := []struct {
		name   string
		change *model.Change
	}{
		{"long", update(model.TypeBook, long, long)},
		{"short", update(model.TypeBook, short, short)},
		{"shortened", update(model.TypeBook, long, &model.Book{ID: 1, GenreID: 1, Pages: 6})},
		{"deleted", &model.Change{Type: model.TypeBook, Operation: model.ChangeDelete, RowID: 2, Old: func() any { return short }}},
		{"purged", &model.Change{Type: model.TypeBook, Operation: model.ChangeDelete, RowID: 2}},
		{"genre", update(model.TypeGenre, &model.Genre{ID: 1}, &model.Genre{ID: 1})},
		{"category", update(model.TypeCategory, &model.Category{ID: 1}, &model.Category{ID: 1})},
		{"reset", &model.Change{Type: model.TypeBook, Operation: model.ChangeReset}},
	}
	const (
		books = "long short shortened deleted purged reset"
		all   = "long short shortened deleted purged genre category reset"
	)
	for document, want := range map[string]string{
		`{__typename}`: "",
		`{books {totalCount nodes {name nodeId} edges {cursor node {id}} pageInfo {hasNextPage}}}`:              books,
		`{books(filter: {pages: {gt: 100}}) {nodes {name}}}`:                                                    "long shortened purged reset",
		`query ($f: BookFilter) {books(filter: $f) {nodes {name}}}`:                                             "short shortened deleted purged reset",
		`{books(filter: {genreId: {eq: 2}}, orderBy: {field: NAME}) {totalCount}}`:                              "short deleted purged reset",
		`{books(filter: {genreId: {eq: 2}}, orderBy: [{field: NAME}, {field: GENRE_NAME}]) {totalCount}}`:       all,
		`query ($o: [BookOrder!]) {books(filter: {genreId: {eq: 2}}, orderBy: $o) {totalCount}}`:                all,
		`{books(filter: {genreId: {eq: 2}}, search: "x") {totalCount}}`:                                         books,
		`{books(filter: {genre: {name: {eq: "x"}}}) {totalCount}}`:                                              all,
		`{books(filter: {genreId: {eq: 2}}) {nodes {genre {name}}}}`:                                            "short deleted purged genre reset",
		`{books(filter: {genreId: {eq: 2}}) {nodes {...f}}} fragment f on Book {genre {category {name}}}`:       "short deleted purged genre category reset",
		`{books(filter: {genreId: {eq: 2}}) {facets {years {count}}}}`:                                          all,
		`{a: books(filter: {genreId: {eq: 2}}) {totalCount} b: books(filter: {pages: {gt: 100}}) {totalCount}}`: books,
		`{book(id: 1) {name}}`:                                                          "long shortened purged reset",
		`{book(id: 1) {history {nodes {version}}}}`:                                     all,
		`{genre(id: 2) {name}}`:                                                         "",
		`{genre(id: 1) {books(filter: {pages: {gt: 100}}) {nodes {name}}}}`:             "long short shortened deleted purged genre reset",
		`{genres {nodes {name}}}`:                                                       "genre",
		`{categories {nodes {genres {nodes {name}}}}}`:                                  "genre category",
		`{category(id: 2) {books {totalCount}}}`:                                        "long short shortened deleted purged genre reset",
		`{categories {nodes {genres(orderBy: {field: CATEGORY_NAME}) {nodes {name}}}}}`: all,
		`{bookGroups(by: [GENRE]) {totalCount}}`:                                        all,
		`{booksByIsbn(isbn: "9783161484100") {name}}`:                                   all,
		`{viewer {subject}}`:                                                            all,
		`{troubles {kind count}}`:                                                       all,
		`{... on Query {... {books(filter: {id: {in: [2, 7]}}) {totalCount}}}}`:         "short deleted purged reset",
	} {
		doc, err := gqlparser.LoadQueryWithRules(schema, document, rules.NewDefaultRules())
		if err != nil {
			t.Fatal(document, err)
		}
		rows := reads.Of(doc.Operations[0], map[string]any{
			"f": map[string]any{"pages": map[string]any{"lt": 100}}, "o": []any{map[string]any{"field": "GENRE_NAME"}}})
		var got []string
		for _, c := range changes {
			if rows.AffectedBy([]*model.Change{c.change}) {
				got = append(got, c.name)
			}
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: affected by %q, want %q", document, got, want)
		}
	}
}
