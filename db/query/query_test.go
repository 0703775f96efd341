package query_test

import (
	"testing"

	"library-catalogue/db/dbtest"
	"library-catalogue/db/dialect"
	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

var (
	books      = query.Source{Table: query.Books, From: "books r"}
	ofGenre    = query.Source{Table: query.Books, From: "books r", Parent: "r.genre_id"}
	ofCategory = query.Source{Table: query.Books, From: "books r JOIN genres g ON g.id = r.genre_id", Parent: "g.category_id"}
	genres     = query.Source{Table: query.Genres, From: "genres r"}
)

// written is a statement that the golden files have.
type written struct {
	name  string
	write func(*testing.T, *query.Builder) string
}

// columns are few, so that the statements can be read.
func columns(names ...string) (fields []*model.FieldInfo) {
	for _, name := range names {
		fields = append(fields, model.Entities["Book"].Field(name))
	}
	return fields
}

// page is the page that a client asks for.
func page(t *testing.T, typename string, args model.PageArgs) *model.Page {
	t.Helper()
	p, err := args.Page(typename)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func orderBy(field, direction string) []*model.OrderBy {
	return []*model.OrderBy{{Field: field, Direction: direction}}
}

// pageOf writes a page of books, or of their parents' children.
func pageOf(name string, args model.PageArgs, change func(*model.Page)) written {
	return written{name, func(t *testing.T, b *query.Builder) string {
		p := page(t, "Book", args)
		if change != nil {
			change(p)
		}
		var found query.Candidates
		if p.Search != "" {
			found = "(SELECT id, rank FROM searched)"
		}
		return b.Page(books, columns("id", "name", "publishedAt", "createdAt"), p, b.NewKeyset(query.Books, p.Order), found, "")
	}}
}

// pageWith writes a page of books whose rows SQLite is told how to find.
func pageWith(name string, args model.PageArgs, lookup *model.Condition) written {
	return written{"SQLite: page, " + name, func(t *testing.T, b *query.Builder) string {
		if b.Dialect.EstimatesRows {
			return ""
		}
		p := page(t, "Book", args)
		rows, found := b.AccessPath(books, p.Order, lookup)
		return b.Page(rows, columns("id", "name"), p, b.NewKeyset(query.Books, p.Order), found, "")
	}}
}

// where writes the filter of books.
func where(name string, filter model.Filter) written {
	return written{"filter: " + name, func(t *testing.T, b *query.Builder) string {
		return b.Filter(page(t, "Book", model.PageArgs{Filter: filter}).Where, query.Books, "r")
	}}
}

type object = map[string]any

func statements() []written {
	search, offset := "momo", 20
	after := func(keys ...any) func(*model.Page) {
		return func(p *model.Page) { p.After = &model.Place{Keys: keys, ID: 7} }
	}
	latest := model.PageArgs{OrderBy: orderBy("PUBLISHED_AT", "DESC"), Filter: model.Filter{
		"author": object{"icontains": "Ende_%"}, "price": object{"gte": "1.00", "lte": "80"}, "publishedAt": object{"lt": "2005-08-05"},
	}}
	return []written{
		pageOf("page by id", model.PageArgs{}, after()),
		pageOf("page by id, backwards", model.PageArgs{}, func(p *model.Page) {
			p.Before, p.Until, p.From, p.Backward = &model.Place{ID: 9}, &model.Place{ID: 8}, &model.Place{ID: 2}, true
		}),
		pageOf("page with an offset", model.PageArgs{Offset: &offset}, nil),
		{"positions", func(t *testing.T, b *query.Builder) string {
			p := page(t, "Book", model.PageArgs{OrderBy: append(orderBy("AUTHOR", "DESC"), orderBy("PAGES", "")...), Filter: object{"pages": object{"gt": 99}}})
			return b.Places(books, p, b.NewKeyset(query.Books, p.Order), 100, 1000)
		}},
		pageOf("page by name", model.PageArgs{OrderBy: orderBy("NAME", "")}, after("momo")),
		pageOf("page by shelf mark", model.PageArgs{OrderBy: orderBy("SHELF_MARK", ""), Filter: model.Filter{"shelfMark": object{"gte": "QA9", "startsWith": "QA"}}}, after("qa19 \x01qa9")),
		pageOf("page by two keys of two directions", model.PageArgs{OrderBy: append(orderBy("PAGES", "DESC"), orderBy("AUTHOR", "")...)}, after(int64(300), "ende")),
		pageOf("page by the genre's name, filtered", model.PageArgs{OrderBy: orderBy("GENRE_NAME", ""), Filter: model.Filter{"pages": object{"gt": 300}}}, after("fantasy")),
		pageOf("page by the category's and the genre's name", model.PageArgs{OrderBy: append(orderBy("GENRE_NAME", ""), orderBy("CATEGORY_NAME", "")...)}, nil),
		pageOf("page by date, filtered by author, price and date", latest, nil),
		pageWith("by the order's index", latest, nil),
		pageWith("by id, read in order", model.PageArgs{Filter: latest.Filter}, nil),
		pageWith("by the condition that few fulfil", latest, &model.Condition{Op: model.Gt, Field: "price", Operand: int64(9000)}),
		{"SQLite: the condition that the fewest fulfil", func(t *testing.T, b *query.Builder) string {
			if b.Dialect.EstimatesRows {
				return ""
			}
			p := page(t, "Book", latest)
			return b.Fewest(query.Books, query.Books.Lookups(p.Where, p.Order), p.Limit, false, 100_000)
		}},
		{"SQLite: conditions on the field of a natural order, which another index finds", func(t *testing.T, b *query.Builder) string {
			if b.Dialect.EstimatesRows {
				return ""
			}
			p := page(t, "Book", model.PageArgs{OrderBy: orderBy("SHELF_MARK", ""), Filter: model.Filter{
				"shelfMark": object{"startsWith": "QA"}, "and": []any{object{"shelfMark": object{"gt": "QA9"}}},
			}})
			return b.Fewest(query.Books, query.Books.Lookups(p.Where, p.Order), p.Limit, false, 100_000)
		}},
		pageOf("whole list", model.PageArgs{OrderBy: orderBy("CREATED_AT", "")}, func(p *model.Page) { p.Limit = query.Unlimited }),
		pageOf("page of a search", model.PageArgs{Search: &search}, after(int64(4))),
		pageOf("page of a search, filtered", model.PageArgs{Search: &search, Filter: model.Filter{"pages": object{"gt": 300}}}, nil),
		pageOf("page of a search by name", model.PageArgs{Search: &search, OrderBy: orderBy("NAME", "DESC")}, nil),
		{"page of a search that has chosen the ids", func(t *testing.T, b *query.Builder) string {
			p := page(t, "Book", model.PageArgs{Search: &search})
			return b.Top(books, columns("id", "name"), p, b.NewKeyset(query.Books, p.Order), "(SELECT id, rank FROM chosen)")
		}},
		{"page of each parent", func(t *testing.T, b *query.Builder) string {
			p := page(t, "Book", model.PageArgs{OrderBy: orderBy("PRICE", "")})
			k := b.NewKeyset(query.Books, p.Order)
			parents := dialect.Keys(b.Arg(b.Dialect.Array([]model.ID{1, 2})))
			return b.PageOfEach(parents, b.Page(ofCategory, columns("id", "name"), p, k, "", "p.id"), k)
		}},
		{"count", func(t *testing.T, b *query.Builder) string {
			return b.RowCount(books, page(t, "Book", model.PageArgs{Filter: model.Filter{"pages": object{"in": []any{1, 3}}}}).Where, "")
		}},
		{"count of a search", func(_ *testing.T, b *query.Builder) string {
			return b.RowCount(books, nil, "(SELECT id FROM searched)")
		}},
		{"counts of parents", func(_ *testing.T, b *query.Builder) string {
			return b.RowCounts(ofGenre, nil, "", b.Arg(b.Dialect.Array([]model.ID{1, 2})))
		}},
		{"ids that match", func(t *testing.T, b *query.Builder) string {
			return b.IDs(genres, page(t, "Genre", model.PageArgs{Filter: model.Filter{"category": object{"name": object{"eq": "Art"}}}}).Where, "", 11)
		}},
		where("numbers and ids", model.Filter{"id": object{"gt": "7"}, "pages": object{"neq": 3, "in": []any{1, 2, 3}}, "price": object{"notIn": []any{"1.50", "2.00", "9"}}}),
		where("times", model.Filter{"publishedAt": object{"gte": "1973-01-01"}, "createdAt": object{"lt": "2024-01-01T00:00:00Z"}}),
		where("exact text", model.Filter{"name": object{"eq": "Momo", "in": []any{"Émile", "Momo"}}}),
		where("text in order", model.Filter{"author": object{"gte": "Ende", "lt": "F"}}),
		where("parts of texts", model.Filter{"name": object{"contains": "Mo", "startsWith": "M", "endsWith": `_%\`}}),
		where("parts of folded texts", model.Filter{"name": object{"icontains": "É", "istartsWith": "mo", "iendsWith": "MO"}}),
		where("parts of authors", model.Filter{"author": object{"icontains": "E", "istartsWith": "Mi", "iendsWith": "de"}}),
		where("a text that may be null", model.Filter{"description": object{"icontains": "grey", "contains": "Grey", "isNull": false}}),
		where("null of what is never null", model.Filter{"name": object{"isNull": true}}),
		where("and, or, not", model.Filter{"or": []any{object{"name": object{"icontains": "a"}, "pages": object{"gt": 1}}, object{"not": object{"pages": object{"lt": 9}}}}, "and": []any{}}),
		where("an empty or", model.Filter{"or": []any{}}),
		where("the genre", model.Filter{"genre": object{"name": object{"eq": "Art"}, "category": object{"id": object{"eq": "2"}}}}),
		{"filter: rows at an edge", func(t *testing.T, b *query.Builder) string {
			return b.Filter(page(t, "Genre", model.PageArgs{Filter: model.Filter{"books": object{"some": object{"pages": object{"gt": 1}}, "every": object{"pages": object{"gt": 2}}, "none": object{}}}}).Where, query.Genres, "r")
		}},
		{"aggregate of all books", func(_ *testing.T, b *query.Builder) string {
			return b.Groups(books, &model.Grouping{Aggregates: model.RowCount | model.PriceAvg | model.PublishedAtMax}, "", "")
		}},
		{"groups by category and year", func(_ *testing.T, b *query.Builder) string {
			return b.Groups(books, &model.Grouping{
				By: []model.GroupKey{model.ByCategory, model.ByYear}, Aggregates: model.RowCount | model.PriceSum, Limit: 10, Offset: 20,
				Having: &model.Condition{Op: model.Gt, Field: "count", Operand: int64(2)},
			}, "", "")
		}},
		{"groups of parents by author and price range", func(_ *testing.T, b *query.Builder) string {
			return b.Groups(ofGenre, &model.Grouping{
				By: []model.GroupKey{model.ByAuthor, model.ByPriceRange}, Bounds: []model.Cents{500, 1000, 2000}, Aggregates: model.RowCount, Limit: 10,
			}, "", b.Arg(b.Dialect.Array([]model.ID{1, 2})))
		}},
	}
}

// TestGolden compares what is written for each engine with the golden files, which
// are for reading too.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, d := range []*dialect.Dialect{dialect.Postgres, dialect.SQLite} {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			var all dbtest.Statements
			for _, statement := range statements() {
				b := query.New(d)
				if text := statement.write(t, b); text != "" {
					all.Add(statement.name, text, b.Args)
				}
			}
			dbtest.Golden(t, "testdata/"+d.Name+".sql", all.String())
		})
	}
}
