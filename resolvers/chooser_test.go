package resolvers_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"golang.org/x/text/unicode/norm"

	"library-catalogue/db"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
	"library-catalogue/resolvers"
)

// node is a row in plain words: its values by their GraphQL names (int64, string
// or nil) and the rows at its edges.
type node struct {
	typename string
	id       model.ID
	values   map[string]any
	one      map[string]*node
	many     map[string][]*node
}

// texts are names that a careless comparison gets wrong.
var texts = []string{
	"emma", "Emma", "Émma", "EMMA", "emm", "Emma Woodhouse", "50% off", "50 off", "a_b", "aXb", `back\slash`, "back/slash",
	"'; DROP TABLE books; --", `"quoted"`, "Straße", "strasse", "STRASSE", "Łódź", "lodz", "日本語", "日本", "Σίσυφος", "σισυφοσ",
	"🐉 dragon", "e\u0301", "é", "\u0301", "\u0001", "x\U0010FFFFy", "x\uE000", "tab\tand\nline", "zz", strings.Repeat("ab", 60), strings.Repeat("ab", 60) + "c",
}

// nodesOf stores a catalogue of odd rows and gives all that it holds, by type and
// in order of id.
func nodesOf(t *testing.T, store *db.Store, random *rand.Rand) map[string][]*node {
	t.Helper()
	text := func() string { return texts[random.IntN(len(texts))] }
	description := func() *string {
		if s := text(); random.IntN(3) > 0 {
			return &s
		}
		return nil
	}
	err := store.Write(t.Context(), func(ctx context.Context) error {
		for range 6 {
			if _, err := store.Categories.Create(ctx, &model.CreateCategoryInput{Name: text(), Description: graphql.OmittableOf(description())}); err != nil {
				return err
			}
		}
		for range 25 {
			in := &model.CreateGenreInput{Name: text(), Description: graphql.OmittableOf(description()), CategoryID: model.ID(1 + random.IntN(5))}
			if _, err := store.Genres.Create(ctx, in); err != nil {
				return err
			}
		}
		for range 150 {
			_, err := store.Books.Create(ctx, &model.CreateBookInput{
				Name: text(), Description: graphql.OmittableOf(description()), Publisher: graphql.OmittableOf(description()), Author: text(), Pages: 1 + random.IntN(6), GenreID: model.ID(1 + random.IntN(23)),
				PublishedAt: model.Date{Year: int16(1 + random.IntN(3)*1500), Month: uint8(1 + random.IntN(12)), Day: 28}, Price: model.Cents(random.IntN(9)),
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	must(t, err)
	for id := range model.ID(40) { // later, so that not all rows are of one moment
		name := text()
		if _, err := store.Books.Update(t.Context(), 1+id*3, &model.BookPatch{Name: graphql.OmittableOf(&name)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return readNodes(t, store)
}

func readNodes(t *testing.T, store *db.Store) map[string][]*node {
	t.Helper()
	all := &model.Page{Limit: 1000}
	categories, err := store.Unchecked(t.Context()).Categories.Page(t.Context(), all)
	genres, genresErr := store.Unchecked(t.Context()).Genres.Page(t.Context(), all)
	books, booksErr := store.Unchecked(t.Context()).Books.Page(t.Context(), all)
	if err = cmp.Or(err, genresErr, booksErr); err != nil {
		t.Fatal(err)
	}
	nodes, byID := map[string][]*node{}, map[string]map[model.ID]*node{"Category": {}, "Genre": {}, "Book": {}}
	add := func(typename string, id model.ID, description *string, values map[string]any) *node {
		n := &node{typename: typename, id: id, values: values, one: map[string]*node{}, many: map[string][]*node{}}
		values["id"], values["description"] = int64(id), any(nil)
		if description != nil {
			values["description"] = *description
		}
		nodes[typename] = append(nodes[typename], n)
		byID[typename][id] = n
		return n
	}
	for _, c := range categories {
		add("Category", c.ID, c.Description, map[string]any{"name": c.Name, "createdAt": c.CreatedAt.String(), "updatedAt": c.UpdatedAt.String()})
	}
	for _, g := range genres {
		n := add("Genre", g.ID, g.Description, map[string]any{
			"name": g.Name, "createdAt": g.CreatedAt.String(), "updatedAt": g.UpdatedAt.String(), "categoryId": int64(g.CategoryID),
		})
		parent := byID["Category"][g.CategoryID]
		n.one["category"], parent.many["genres"] = parent, append(parent.many["genres"], n)
	}
	for _, b := range books {
		n := add("Book", b.ID, b.Description, map[string]any{
			"name": b.Name, "author": b.Author, "pages": int64(b.Pages), "price": int64(b.Price), "genreId": int64(b.GenreID),
			"publishedAt": b.PublishedAt.String(), "createdAt": b.CreatedAt.String(), "updatedAt": b.UpdatedAt.String(), "publisher": any(nil),
		})
		if b.Publisher != nil {
			n.values["publisher"] = *b.Publisher
		}
		parent := byID["Genre"][b.GenreID]
		n.one["genre"], parent.many["books"] = parent, append(parent.many["books"], n)
	}
	return nodes
}

// fulfils evaluates a filter as its description in the schema reads.
func (n *node) fulfils(filter map[string]any) bool {
	for name, value := range filter {
		holds := true
		switch {
		case name == "and":
			for _, part := range value.([]any) {
				holds = holds && n.fulfils(part.(map[string]any))
			}
		case name == "or":
			holds = slices.ContainsFunc(value.([]any), func(part any) bool { return n.fulfils(part.(map[string]any)) })
		case name == "not":
			holds = !n.fulfils(value.(map[string]any))
		case n.one[name] != nil:
			holds = n.one[name].fulfils(value.(map[string]any))
		case name == "books" || name == "genres":
			for quantifier, of := range value.(map[string]any) {
				count := 0
				for _, other := range n.many[name] {
					if other.fulfils(of.(map[string]any)) {
						count++
					}
				}
				switch quantifier {
				case "some":
					holds = holds && count > 0
				case "none":
					holds = holds && count == 0
				case "every":
					holds = holds && count == len(n.many[name])
				}
			}
		default:
			for operator, operand := range value.(map[string]any) {
				holds = holds && compare(name, n.values[name], operator, operand)
			}
		}
		if !holds {
			return false
		}
	}
	return true
}

// compare tells whether a field's value is as an operator with its operand says.
func compare(field string, value any, operator string, operand any) bool {
	switch operator {
	case "isNull":
		return (value == nil) == operand.(bool)
	case "neq":
		return !compare(field, value, "eq", operand)
	case "notIn":
		return !compare(field, value, "in", operand)
	case "in":
		return slices.ContainsFunc(operand.([]any), func(one any) bool { return compare(field, value, "eq", one) })
	}
	if value == nil {
		return false
	}
	isText := field == "name" || field == "author" || field == "description" || field == "publisher"
	var c int
	switch v := value.(type) {
	case int64:
		var o int64
		if field == "price" {
			cents, _ := model.ParseCents(fmt.Sprint(operand))
			o = int64(cents)
		} else {
			o, _ = strconv.ParseInt(fmt.Sprint(operand), 10, 64)
		}
		c = cmp.Compare(v, o)
	case string:
		o := norm.NFC.String(operand.(string))
		if match := textOperators[operator]; match != nil {
			return match(v, o)
		}
		if isText {
			v, o = collate.SortKey(v), collate.SortKey(o)
		}
		c = cmp.Compare(v, o)
	}
	switch operator {
	case "eq":
		return c == 0
	case "gt":
		return c > 0
	case "gte":
		return c >= 0
	case "lt":
		return c < 0
	default: // lte
		return c <= 0
	}
}

// chooser makes filters and orderings at random, of values that rows have.
type chooser struct {
	*rand.Rand
	nodes map[string][]*node
}

var edges = map[string]map[string]string{
	"Book": {"genre": "Genre"}, "Genre": {"category": "Category", "books": "Book"}, "Category": {"genres": "Genre"},
}

func (c *chooser) filter(typename string, depth int) map[string]any {
	filter := map[string]any{}
	for range 1 + c.IntN(2) {
		switch pick := c.IntN(10); {
		case pick == 0 && depth > 0:
			filter["not"] = c.filter(typename, depth-1)
		case pick <= 2 && depth > 0:
			parts := []any{}
			for range c.IntN(4) {
				parts = append(parts, c.filter(typename, depth-1))
			}
			filter[[]string{"and", "or"}[c.IntN(2)]] = parts
		case pick <= 4 && depth > 0:
			names := slices.Sorted(maps.Keys(edges[typename]))
			name := names[c.IntN(len(names))]
			of := c.filter(edges[typename][name], depth-1)
			if name == "books" || name == "genres" {
				of = map[string]any{[]string{"some", "none", "every"}[c.IntN(3)]: of}
			}
			filter[name] = of
		default:
			name, operators := c.operators(typename)
			filter[name] = operators
		}
	}
	return filter
}

func (c *chooser) operators(typename string) (field string, operators map[string]any) {
	rows := c.nodes[typename]
	names := slices.Sorted(maps.Keys(rows[0].values))
	field = names[c.IntN(len(names))]
	isText := field == "name" || field == "author" || field == "description"
	value := func() any {
		switch v := rows[c.IntN(len(rows))].values[field].(type) {
		case int64:
			if field == "price" {
				return model.Cents(v).String()
			}
			if field == "pages" {
				return v
			}
			return strconv.FormatInt(v, 10)
		case string:
			if runes := []rune(v); isText && c.IntN(2) == 0 {
				from := c.IntN(len(runes))
				return string(runes[from : from+1+c.IntN(len(runes)-from)])
			}
			return v
		default:
			return "none"
		}
	}
	choices := []string{"eq", "neq", "gt", "gte", "lt", "lte", "in", "notIn", "isNull"}
	if isText {
		choices = append(choices, "contains", "icontains", "startsWith", "istartsWith", "endsWith", "iendsWith")
	}
	operators = map[string]any{}
	for range 1 + c.IntN(5)/4 {
		switch operator := choices[c.IntN(len(choices))]; operator {
		case "isNull":
			operators[operator] = c.IntN(2) == 0
		case "in", "notIn":
			values := []any{}
			for range c.IntN(5) {
				values = append(values, value())
			}
			operators[operator] = values
		default:
			operators[operator] = value()
		}
	}
	return field, operators
}

var orderKeys = map[string]map[string]func(n *node) any{
	"Book": {
		"ID": nil, "NAME": textKey("name"), "AUTHOR": textKey("author"), "PAGES": plainKey("pages"), "PUBLISHED_AT": plainKey("publishedAt"),
		"PRICE": plainKey("price"), "CREATED_AT": plainKey("createdAt"), "UPDATED_AT": plainKey("updatedAt"),
		"GENRE_NAME":    func(n *node) any { return textKey("name")(n.one["genre"]) },
		"CATEGORY_NAME": func(n *node) any { return textKey("name")(n.one["genre"].one["category"]) },
	},
	"Genre": {
		"ID": nil, "NAME": textKey("name"), "CREATED_AT": plainKey("createdAt"), "UPDATED_AT": plainKey("updatedAt"),
		"CATEGORY_NAME": func(n *node) any { return textKey("name")(n.one["category"]) },
	},
	"Category": {"ID": nil, "NAME": textKey("name"), "CREATED_AT": plainKey("createdAt"), "UPDATED_AT": plainKey("updatedAt")},
}

func textKey(field string) func(*node) any {
	return func(n *node) any { return collate.SortKey(n.values[field].(string)) }
}

func plainKey(field string) func(*node) any { return func(n *node) any { return n.values[field] } }

// order chooses an ordering, and gives how it compares rows.
func (c *chooser) order(typename string) (by []*model.OrderBy, compare func(a, b *node) int) {
	fields := slices.Sorted(maps.Keys(orderKeys[typename]))
	c.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	for _, field := range fields[:c.IntN(4)] {
		by = append(by, &model.OrderBy{Field: field, Direction: []string{"", "ASC", "DESC"}[c.IntN(3)]})
	}
	return by, func(a, b *node) int {
		turn := 1
		for _, key := range by {
			turn = 1
			if key.Direction == "DESC" {
				turn = -1
			}
			value := orderKeys[typename][key.Field]
			if value == nil {
				break
			}
			c := 0
			switch v := value(a).(type) {
			case int64:
				c = cmp.Compare(v, value(b).(int64))
			case string:
				c = cmp.Compare(v, value(b).(string))
			}
			if c != 0 {
				return turn * c
			}
		}
		return turn * cmp.Compare(a.id, b.id)
	}
}

// lists are the lists of a catalogue, by the type of their rows.
func lists(r *resolvers.Resolver) map[string]func(ctx context.Context, a model.PageArgs) (ids []model.ID, total int, info *model.PageInfo, err error) {
	return map[string]func(ctx context.Context, a model.PageArgs) ([]model.ID, int, *model.PageInfo, error){
		"Book": func(ctx context.Context, a model.PageArgs) ([]model.ID, int, *model.PageInfo, error) {
			return readAll[*model.Book](ctx)(r.Query().Books(ctx, a.First, a.After, a.Last, a.Before, a.Offset, a.Filter, a.OrderBy, a.Search))
		},
		"Genre": func(ctx context.Context, a model.PageArgs) ([]model.ID, int, *model.PageInfo, error) {
			return readAll[*model.Genre](ctx)(r.Query().Genres(ctx, a.First, a.After, a.Last, a.Before, a.Offset, a.Filter, a.OrderBy, a.Search))
		},
		"Category": func(ctx context.Context, a model.PageArgs) ([]model.ID, int, *model.PageInfo, error) {
			return readAll[*model.Category](ctx)(r.Query().Categories(ctx, a.First, a.After, a.Last, a.Before, a.Offset, a.Filter, a.OrderBy, a.Search))
		},
	}
}

func readAll[P model.Node](ctx context.Context) func(*model.Connection[P], error) ([]model.ID, int, *model.PageInfo, error) {
	return func(c *model.Connection[P], err error) ([]model.ID, int, *model.PageInfo, error) {
		if err != nil {
			return nil, 0, nil, err
		}
		nodes, err := c.Nodes(ctx)
		if err != nil {
			return nil, 0, nil, err
		}
		ids := []model.ID{}
		for _, n := range nodes {
			ids = append(ids, n.RowID())
		}
		info, err := c.PageInfo(ctx)
		if err != nil {
			return nil, 0, nil, err
		}
		total, err := c.TotalCount(ctx)
		return ids, total, info, err
	}
}
