package resolvers_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/author"
	"library-catalogue/graph/model/collate"
	"library-catalogue/resolvers"
)

const everything = ^model.Aggregates(0)

// aggregateOf adds rows up in plain words.
func aggregateOf(books []*node) *model.Aggregate {
	a := &model.Aggregate{Count: len(books)}
	for _, b := range books {
		price, pages := model.Cents(b.values["price"].(int64)), int(b.values["pages"].(int64))
		day, _ := model.ParseDate(b.values["publishedAt"].(string))
		extremes(&a.Price.Min, &a.Price.Max, price, cmp.Compare)
		extremes(&a.Pages.Min, &a.Pages.Max, pages, cmp.Compare)
		extremes(&a.PublishedAt.Min, &a.PublishedAt.Max, day, func(a, b model.Date) int { return strings.Compare(a.String(), b.String()) })
		a.Price.Sum += price
		a.Pages.Sum += model.BigInt(pages)
	}
	a.Price.Avg = average(int64(a.Price.Sum), a.Count)
	a.Pages.Avg = average(100*int64(a.Pages.Sum), a.Count)
	return a
}

func extremes[V any](least, most **V, v V, compare func(a, b V) int) {
	if *least == nil || compare(v, **least) < 0 {
		*least = &v
	}
	if *most == nil || compare(v, **most) > 0 {
		*most = &v
	}
}

// average rounds half up: the first number whose n-fold is not below the sum by
// more than half of n.
func average(sum int64, n int) *model.Cents {
	if n == 0 {
		return nil
	}
	avg := model.Cents(sum / int64(n))
	if 2*(sum%int64(n)) >= int64(n) {
		avg++
	}
	return &avg
}

// keysOf are the values that books are grouped by.
var keysOf = map[model.GroupKey]func(*node) any{
	model.ByGenre:    func(b *node) any { return int64(b.one["genre"].id) },
	model.ByCategory: func(b *node) any { return int64(b.one["genre"].one["category"].id) },
	model.ByAuthor:   func(b *node) any { return b.values["author"] },
	model.ByYear:     func(b *node) any { return yearOf(b) },

	model.ByPublisher: func(b *node) any { return b.values["publisher"] },
}

// withPersons returns books whose authors have the form that most books of one identity have.
func withPersons(books []*node) (same []*node) {
	counts := map[string]map[string]int{}
	for _, b := range books {
		text := b.values["author"].(string)
		key := author.Identity(text)
		if counts[key] == nil {
			counts[key] = map[string]int{}
		}
		counts[key][text]++
	}
	for _, b := range books {
		forms := counts[author.Identity(b.values["author"].(string))]
		form := slices.MinFunc(slices.Sorted(maps.Keys(forms)), func(a, b string) int {
			return cmp.Or(cmp.Compare(forms[b], forms[a]), cmp.Compare(collate.SortKey(a), collate.SortKey(b)))
		})
		copied := *b
		copied.values = maps.Clone(b.values)
		copied.values["author"] = form
		same = append(same, &copied)
	}
	return same
}

func yearOf(b *node) int64 {
	day, _ := model.ParseDate(b.values["publishedAt"].(string))
	return int64(day.Year)
}

// rankOf gives what a key is in order by, and what decides where that is alike.
var rankOf = map[model.GroupKey]func(*node) []any{
	model.ByGenre: func(b *node) []any {
		return []any{collate.SortKey(b.one["genre"].values["name"].(string)), int64(b.one["genre"].id)}
	},
	model.ByCategory: func(b *node) []any {
		category := b.one["genre"].one["category"]
		return []any{collate.SortKey(category.values["name"].(string)), int64(category.id)}
	},
	model.ByAuthor: func(b *node) []any {
		return []any{collate.SortKey(b.values["author"].(string)), b.values["author"]}
	},
	model.ByYear: func(b *node) []any { return []any{yearOf(b)} },
	model.ByPublisher: func(b *node) []any {
		return []any{collate.SortKey(b.values["publisher"].(string)), b.values["publisher"]}
	},
}

// figuresOf are the figures by their names in an ordering.
var figuresOf = map[string]func(*model.Aggregate) any{
	"COUNT":            func(a *model.Aggregate) any { return int64(a.Count) },
	"PRICE_MIN":        func(a *model.Aggregate) any { return int64(*a.Price.Min) },
	"PRICE_MAX":        func(a *model.Aggregate) any { return int64(*a.Price.Max) },
	"PRICE_AVG":        func(a *model.Aggregate) any { return int64(*a.Price.Avg) },
	"PRICE_SUM":        func(a *model.Aggregate) any { return int64(a.Price.Sum) },
	"PAGES_MIN":        func(a *model.Aggregate) any { return int64(*a.Pages.Min) },
	"PAGES_MAX":        func(a *model.Aggregate) any { return int64(*a.Pages.Max) },
	"PAGES_AVG":        func(a *model.Aggregate) any { return int64(*a.Pages.Avg) },
	"PAGES_SUM":        func(a *model.Aggregate) any { return int64(a.Pages.Sum) },
	"PUBLISHED_AT_MIN": func(a *model.Aggregate) any { return a.PublishedAt.Min.String() },
	"PUBLISHED_AT_MAX": func(a *model.Aggregate) any { return a.PublishedAt.Max.String() },
}

func compareAny(a, b any) int {
	if text, ok := a.(string); ok {
		return cmp.Compare(text, b.(string))
	}
	return cmp.Compare(a.(int64), b.(int64))
}

// bucket is a group in plain words.
type bucket struct {
	Key    string
	Figure *model.Aggregate
	books  []*node
}

// bucketsOf groups books, in order by the given fields and then by the keys.
func bucketsOf(books []*node, keys []model.GroupKey, by []*model.OrderBy) []bucket {
	groups := map[string][]*node{}
	for _, b := range books {
		var parts []string
		for _, key := range keys {
			parts = append(parts, fmt.Sprint(keysOf[key](b)))
		}
		name := strings.Join(parts, "|")
		groups[name] = append(groups[name], b)
	}
	buckets := []bucket{}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		buckets = append(buckets, bucket{name, aggregateOf(groups[name]), groups[name]})
	}
	slices.SortFunc(buckets, func(a, b bucket) int {
		for _, o := range by {
			turn := 1
			if o.Direction == "DESC" {
				turn = -1
			}
			if figure := figuresOf[o.Field]; figure != nil {
				if c := compareAny(figure(a.Figure), figure(b.Figure)); c != 0 {
					return turn * c
				}
			} else if c := compareRanks(o.Field, a, b); c != 0 {
				return turn * c
			}
		}
		for _, key := range keys {
			if c := compareRanks(string(key), a, b); c != 0 {
				return c
			}
		}
		return 0
	})
	return buckets
}

func compareRanks(key string, a, b bucket) int {
	rank := rankOf[model.GroupKey(key)]
	return slices.CompareFunc(rank(a.books[0]), rank(b.books[0]), compareAny)
}

// without takes the conditions on a facet's own field out of a filter.
func without(filter map[string]any, key model.GroupKey) map[string]any {
	own := map[model.GroupKey]string{model.ByGenre: "genreId", model.ByPerson: "author", model.ByYear: "publishedAt", model.ByPublisher: "publisher", model.ByPriceRange: "price"}
	out := maps.Clone(filter)
	delete(out, own[key])
	genre, ok := out["genre"].(map[string]any)
	if !ok || key != model.ByGenre && key != model.ByCategory {
		return out
	}
	genre = maps.Clone(genre)
	maps.DeleteFunc(genre, func(name string, _ any) bool {
		return (name == "category" || name == "categoryId") == (key == model.ByCategory)
	})
	out["genre"] = genre
	return out
}

// TestGroups gives filters at random to each engine, and compares figures, facets
// and groups of the books that they take with a plain evaluation: over all books,
// and over those of each genre and category.
func TestGroups(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		store := migrated(t, url)
		random := rand.New(rand.NewPCG(17, 4))
		c := &chooser{random, nodesOf(t, store, random)}
		r := resolvers.New(store)
		for range 150 {
			filter := map[string]any{}
			for range c.IntN(3) {
				maps.Copy(filter, c.filter("Book", 2))
			}
			ctx := r.WithSnapshot(t.Context())
			args := model.PageArgs{Filter: filter}
			books := c.nodes["Book"]
			all, err := r.Query().Books(ctx, nil, nil, nil, nil, nil, filter, nil, nil)
			if err != nil {
				t.Fatalf("%v: %v", filter, err)
			}
			c.compareFacets(ctx, t, all, books, filter)
			switch c.IntN(3) {
			case 0:
				of, err := r.BooksOfGenres(ctx, []*model.Genre{{ID: 1}, {ID: 2}, {ID: 25}}, args)
				must(t, err)
				for i, id := range []model.ID{1, 2, 25} {
					c.compareFacets(ctx, t, of[i], slices.DeleteFunc(slices.Clone(books), func(b *node) bool { return b.one["genre"].id != id }), filter)
				}
			case 1:
				of, err := r.BooksOfCategories(ctx, []*model.Category{{ID: 3}, {ID: 1}, {ID: 6}}, args)
				must(t, err)
				for i, id := range []model.ID{3, 1, 6} {
					c.compareFacets(ctx, t, of[i], slices.DeleteFunc(slices.Clone(books), func(b *node) bool { return b.one["genre"].one["category"].id != id }), filter)
				}
			default:
				one, err := r.Genre().Books(ctx, &model.Genre{ID: 4}, nil, nil, nil, nil, nil, filter, nil, nil)
				must(t, err)
				c.compareFacets(ctx, t, one, slices.DeleteFunc(slices.Clone(books), func(b *node) bool { return b.one["genre"].id != 4 }), filter)
			}
			c.compareGroups(ctx, t, r, filter)
		}
	})
}

// compareFacets compares the figures and the facets of a list that a filter takes
// from books.
func (c *chooser) compareFacets(ctx context.Context, t *testing.T, list *model.BookConnection, books []*node, filter map[string]any) {
	t.Helper()
	fulfil := func(filter map[string]any) (found []*node) {
		for _, b := range books {
			if b.fulfils(filter) {
				found = append(found, b)
			}
		}
		return found
	}
	first := c.IntN(12)
	if c.IntN(2) == 0 { // together
		facets := []model.Facet{{By: model.ByGenre, First: first}, {By: model.ByCategory, First: first}, {By: model.ByPerson, First: first}, {By: model.ByYear, First: first}, {By: model.ByPublisher, First: first}}
		if err := list.ReadAggregates(ctx, everything, facets[c.IntN(len(facets)):]); err != nil {
			t.Fatalf("%v: %v", filter, err)
		}
	}
	got, err := list.AggregateOf(ctx, everything)
	if err != nil {
		t.Fatalf("%v: %v", filter, err)
	}
	if diff := gocmp.Diff(aggregateOf(fulfil(filter)), got); diff != "" {
		t.Fatalf("%v: aggregate (-want +got):\n%s", filter, diff)
	}
	for key, read := range map[model.GroupKey]func(*model.BookFacets) ([]string, error){
		model.ByGenre: func(f *model.BookFacets) ([]string, error) {
			return values(func(v *model.BookGroup) (any, int) { return v.GenreID, v.Count })(f.Genres(ctx, first))
		},
		model.ByCategory: func(f *model.BookFacets) ([]string, error) {
			return values(func(v *model.BookGroup) (any, int) { return v.CategoryID, v.Count })(f.Categories(ctx, first))
		},
		model.ByPerson: func(f *model.BookFacets) ([]string, error) {
			return values(func(v *model.BookGroup) (any, int) { return *v.Author, v.Count })(f.Authors(ctx, first))
		},
		model.ByYear: func(f *model.BookFacets) ([]string, error) {
			return values(func(v *model.BookGroup) (any, int) { return *v.Year, v.Count })(f.Years(ctx, first))
		},
		model.ByPublisher: func(f *model.BookFacets) ([]string, error) {
			return values(func(v *model.BookGroup) (any, int) { return *v.Publisher, v.Count })(f.Publishers(ctx, first))
		},
	} {
		want := []string{}
		books, by := fulfil(without(filter, key)), key
		if key == model.ByPerson {
			books, by = withPersons(books), model.ByAuthor
		}
		books = slices.DeleteFunc(books, func(b *node) bool { return keysOf[by](b) == nil })
		for _, b := range bucketsOf(books, []model.GroupKey{by}, []*model.OrderBy{{Field: "COUNT", Direction: "DESC"}}) {
			want = append(want, fmt.Sprint(b.Key, ": ", b.Figure.Count))
		}
		got, err := read(list.Facets())
		if err != nil {
			t.Fatalf("%v: %v", filter, err)
		}
		if diff := gocmp.Diff(want[:min(first, len(want))], got); diff != "" {
			t.Fatalf("%v: facet %s (-want +got):\n%s", filter, key, diff)
		}
	}
	var bounds []model.Cents
	for bound := model.Cents(c.IntN(4)); len(bounds) == 0 || bound < 9; bound += model.Cents(1 + c.IntN(4)) {
		bounds = append(bounds, bound)
	}
	ranges, err := list.Facets().Prices(ctx, bounds)
	must(t, err)
	for _, r := range ranges {
		n := 0
		for _, b := range fulfil(without(filter, model.ByPriceRange)) {
			if price := model.Cents(b.values["price"].(int64)); (r.From == nil || price >= *r.From) && (r.To == nil || price < *r.To) {
				n++
			}
		}
		if r.Count != n {
			t.Fatalf("%v: %d books from %v to %v, want %d", filter, r.Count, r.From, r.To, n)
		}
	}
	if len(ranges) != len(bounds)+1 {
		t.Fatalf("%d bounds make %d ranges", len(bounds), len(ranges))
	}
}

func values[V any](of func(V) (any, int)) func([]V, error) ([]string, error) {
	return func(rows []V, err error) ([]string, error) {
		texts := []string{}
		for _, row := range rows {
			value, n := of(row)
			texts = append(texts, fmt.Sprint(value, ": ", n))
		}
		return texts, err
	}
}

// TestGroupsAreRemembered asks for facets twice, and again after a write, in requests
// that know the catalogue's revision.
func TestGroupsAreRemembered(t *testing.T) {
	onLibrary(t, func(t *testing.T, store *db.Store, r *resolvers.Resolver) {
		facets := func() (count, statements int) {
			ctx, stats := stats.With(r.WithSnapshot(t.Context()))
			list, err := r.Query().Books(ctx, nil, nil, nil, nil, nil, nil, nil, nil)
			must(t, err)
			if _, err := list.Nodes(ctx); err != nil {
				t.Fatal(err)
			}
			must(t, list.ReadAggregates(ctx, everything, []model.Facet{{By: model.ByYear, First: 20}}))
			years, err := list.Facets().Years(ctx, 20)
			must(t, err)
			return years[0].Count, stats.Statements()
		}
		if n, _ := facets(); n != 100 {
			t.Errorf("%d books", n)
		}
		if n, statements := facets(); n != 100 || statements != 1 {
			t.Errorf("%d books by %d statements, want 100 by 1", n, statements)
		}
		if _, err := store.Books.Create(t.Context(), newBook(1)); err != nil {
			t.Fatal(err)
		}
		if n, _ := facets(); n != 101 {
			t.Errorf("%d books after a write, want 101", n)
		}
	})
}

// compareGroups compares groups by keys at random.
func (c *chooser) compareGroups(ctx context.Context, t *testing.T, r *resolvers.Resolver, filter map[string]any) {
	t.Helper()
	var found []*node
	for _, b := range c.nodes["Book"] {
		if b.fulfils(filter) {
			found = append(found, b)
		}
	}
	keys := []model.GroupKey{model.ByGenre, model.ByCategory, model.ByAuthor, model.ByYear}
	c.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	keys = keys[:1+c.IntN(3)]
	var names []string
	fields := slices.Sorted(maps.Keys(figuresOf))
	for _, key := range keys {
		names, fields = append(names, string(key)), append(fields, string(key))
	}
	c.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	by := []*model.OrderBy{}
	for _, field := range fields[:c.IntN(4)] {
		by = append(by, &model.OrderBy{Field: field, Direction: []string{"ASC", "DESC"}[c.IntN(2)]})
	}
	order := by
	if len(by) == 0 {
		order = []*model.OrderBy{{Field: "COUNT", Direction: "DESC"}}
	}
	first, offset := c.IntN(30), []int{0, 1, 2, 1000}[c.IntN(4)]
	bound, cents := int64(c.IntN(8)), model.Cents(c.IntN(9))
	having := []struct {
		filter map[string]any
		holds  func(*model.Aggregate) bool
	}{
		{nil, func(*model.Aggregate) bool { return true }},
		{map[string]any{"count": map[string]any{"gte": bound}}, func(a *model.Aggregate) bool { return int64(a.Count) >= bound }},
		{map[string]any{"price": map[string]any{"avg": map[string]any{"lt": cents.String()}}}, func(a *model.Aggregate) bool { return *a.Price.Avg < cents }},
		{map[string]any{"pages": map[string]any{"sum": map[string]any{"notIn": []any{bound, bound + 1}}, "avg": map[string]any{"gt": "2.5"}}},
			func(a *model.Aggregate) bool {
				return int64(a.Pages.Sum) != bound && int64(a.Pages.Sum) != bound+1 && *a.Pages.Avg > 250
			}},
		{map[string]any{"publishedAt": map[string]any{"max": map[string]any{"lt": "3000-01-01"}}, "count": map[string]any{"isNull": false}},
			func(a *model.Aggregate) bool { return a.PublishedAt.Max.Year < 3000 }},
	}[c.IntN(5)]
	want := slices.DeleteFunc(bucketsOf(found, keys, order), func(b bucket) bool { return !having.holds(b.Figure) })
	all := len(want)
	want = want[min(offset, all):]
	want = want[:min(first, len(want))]
	page, err := r.Query().BookGroups(ctx, names, filter, nil, having.filter, by, first, offset)
	if err != nil {
		t.Fatalf("%v: %v", filter, err)
	}
	groups, err := page.Nodes()
	must(t, err)
	info, err := page.PageInfo()
	must(t, err)
	total, err := page.TotalCount()
	must(t, err)
	wantInfo := model.OffsetPageInfo{HasNextPage: offset+first < all, HasPreviousPage: min(offset, all) > 0}
	if total != all || *info != wantInfo {
		t.Fatalf("%v by %v, having %v: %d groups, %+v, want %d, %+v", filter, keys, having.filter, total, *info, all, wantInfo)
	}
	got := []bucket{}
	for _, g := range groups {
		var parts []string
		for _, key := range keys {
			parts = append(parts, map[model.GroupKey]func() string{
				model.ByGenre: func() string { return g.GenreID.String() }, model.ByCategory: func() string { return g.CategoryID.String() },
				model.ByAuthor: func() string { return *g.Author }, model.ByYear: func() string { return fmt.Sprint(*g.Year) },
			}[key]())
		}
		got = append(got, bucket{Key: strings.Join(parts, "|"), Figure: &g.Aggregate})
	}
	if diff := gocmp.Diff(want, got, gocmp.FilterPath(func(p gocmp.Path) bool { return p.Last().String() == ".books" }, gocmp.Ignore())); diff != "" {
		t.Fatalf("%v by %v, having %v, order %v (-want +got):\n%s", filter, keys, having.filter, fields[:len(by)], diff)
	}
}
