package db_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

// library is a catalogue with gaps: rows are deleted, and the children of a
// parent lie between those of the others.
type library struct {
	categories, genres, books []model.ID // all, in order
	genresOf                  map[model.ID][]model.ID
	booksOf                   map[model.ID][]model.ID // of a genre
	booksIn                   map[model.ID][]model.ID // in a category
}

func newLibrary(t *testing.T, s *db.Store, random *rand.Rand) *library {
	t.Helper()
	l := &library{genresOf: map[model.ID][]model.ID{}, booksOf: map[model.ID][]model.ID{}, booksIn: map[model.ID][]model.ID{}}
	err := s.Write(t.Context(), func(ctx context.Context) error {
		for range 4 {
			c, err := s.Categories.Create(ctx, &model.CreateCategoryInput{Name: "A category"})
			if err != nil {
				return err
			}
			l.categories = append(l.categories, c.ID)
		}
		categoryOf := map[model.ID]model.ID{}
		for range 12 {
			category := l.categories[random.IntN(3)] // the last one has none
			g, err := s.Genres.Create(ctx, &model.CreateGenreInput{Name: "A genre", CategoryID: category})
			if err != nil {
				return err
			}
			if random.IntN(4) == 0 {
				if err := s.Genres.Delete(ctx, g.ID, nil, model.Restrict); err != nil {
					return err
				}
				continue
			}
			categoryOf[g.ID] = category
			l.genres = append(l.genres, g.ID)
			l.genresOf[category] = append(l.genresOf[category], g.ID)
		}
		for range 60 {
			genre := l.genres[random.IntN(max(1, len(l.genres)-1))] // the last one has none
			b, err := s.Books.Create(ctx, newBook("A book", genre))
			if err != nil {
				return err
			}
			if random.IntN(3) == 0 {
				if err := s.Books.Delete(ctx, b.ID, nil, model.Cascade); err != nil {
					return err
				}
				continue
			}
			l.books = append(l.books, b.ID)
			l.booksOf[genre] = append(l.booksOf[genre], b.ID)
			l.booksIn[categoryOf[genre]] = append(l.booksIn[categoryOf[genre]], b.ID)
		}
		return nil
	})
	check(t, err)
	return l
}

// a pager reads pages of one list of a store.
type pager struct {
	name  string
	want  []model.ID
	page  func(context.Context, *model.Page) ([]model.ID, error)
	count func(context.Context, model.Selection) (int, error)
}

func (l *library) pagers(s *db.Snapshot) []pager {
	pagers := []pager{
		{"books", l.books, ids(s.Books.Page), s.Books.Count},
		{"genres", l.genres, ids(s.Genres.Page), s.Genres.Count},
		{"categories", l.categories, ids(s.Categories.Page), s.Categories.Count},
	}
	for _, g := range l.genres {
		pagers = append(pagers, pager{fmt.Sprint("books of genre ", g), l.booksOf[g], of(g, s.BooksOfGenre.Pages, l.genres), countOf(g, s.BooksOfGenre.Counts, l.genres)})
	}
	for _, c := range l.categories {
		pagers = append(pagers,
			pager{fmt.Sprint("books of category ", c), l.booksIn[c], of(c, s.BooksOfCategory.Pages, l.categories), countOf(c, s.BooksOfCategory.Counts, l.categories)},
			pager{fmt.Sprint("genres of category ", c), l.genresOf[c], of(c, s.GenresOfCategory.Pages, l.categories), countOf(c, s.GenresOfCategory.Counts, l.categories)})
	}
	return pagers
}

func idsOf[P model.Node](rows []P) (ids []model.ID) {
	for _, row := range rows {
		ids = append(ids, row.RowID())
	}
	return ids
}

func ids[P model.Node](page func(context.Context, *model.Page) ([]P, error)) func(context.Context, *model.Page) ([]model.ID, error) {
	return func(ctx context.Context, p *model.Page) ([]model.ID, error) {
		rows, err := page(ctx, p)
		return idsOf(rows), err
	}
}

// of reads the page of all parents, and gives that of one.
func of[P model.Node](parent model.ID, pages func(context.Context, []model.ID, *model.Page) (map[model.ID][]P, error), parents []model.ID) func(context.Context, *model.Page) ([]model.ID, error) {
	return func(ctx context.Context, p *model.Page) ([]model.ID, error) {
		rows, err := pages(ctx, parents, p)
		return idsOf(rows[parent]), err
	}
}

func countOf(parent model.ID, counts func(context.Context, []model.ID, model.Selection) (map[model.ID]int, error), parents []model.ID) func(context.Context, model.Selection) (int, error) {
	return func(ctx context.Context, r model.Selection) (int, error) {
		n, err := counts(ctx, parents, r)
		return n[parent], err
	}
}

// idRange matches the rows with an id above one and below another; 0 is no bound.
type idRange struct{ above, below model.ID }

func (r idRange) has(id model.ID) bool {
	return (r.above == 0 || id > r.above) && (r.below == 0 || id < r.below)
}

func (r idRange) match() model.Selection {
	all := &model.Condition{Op: model.And}
	if r.above != 0 {
		all.Of = append(all.Of, &model.Condition{Op: model.Gt, Field: "id", Operand: int64(r.above)})
	}
	if r.below != 0 {
		all.Of = append(all.Of, &model.Condition{Op: model.Lt, Field: "id", Operand: int64(r.below)})
	}
	return model.Selection{Where: all}
}

// within returns the page of a list in plain words.
func within(list []model.ID, r idRange, p *model.Page) (page []model.ID) {
	for _, id := range list {
		if r.has(id) && (p.After == nil || id > p.After.ID) && (p.From == nil || id >= p.From.ID) &&
			(p.Before == nil || id < p.Before.ID) && (p.Until == nil || id <= p.Until.ID) {
			page = append(page, id)
		}
	}
	if p.Backward {
		slices.Reverse(page)
	}
	page = page[min(p.Offset, len(page)):]
	page = page[:min(p.Limit, len(page))]
	if p.Backward {
		slices.Reverse(page)
	}
	return append([]model.ID(nil), page...)
}

// TestPages asks for pages at random, of every list that a store has.
func TestPages(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		seed := rand.Uint64()
		random := rand.New(rand.NewPCG(seed, 0))
		s := open(t, url)
		l := newLibrary(t, s, random)
		pagers := l.pagers(s.Unchecked(t.Context()))
		for _, pager := range pagers {
			if n, err := pager.count(t.Context(), model.Selection{}); n != len(pager.want) || err != nil {
				t.Errorf("%d %s, want %d: %v", n, pager.name, len(pager.want), err)
			}
		}
		for range 300 {
			pager := pagers[random.IntN(len(pagers))]
			var p model.Page
			p.Limit = random.IntN(8)
			p.Backward = random.IntN(2) == 0
			if random.IntN(3) == 0 {
				p.Offset = random.IntN(8)
			}
			for _, bound := range []**model.Place{&p.After, &p.From, &p.Before, &p.Until} {
				if random.IntN(3) == 0 {
					*bound = &model.Place{ID: model.ID(random.Int64N(70))}
				}
			}
			var r idRange
			if random.IntN(3) == 0 {
				r.above = model.ID(random.Int64N(70))
			}
			if random.IntN(3) == 0 {
				r.below = model.ID(random.Int64N(70))
			}
			p.Selection = r.match()
			n := 0
			for _, id := range pager.want {
				if r.has(id) {
					n++
				}
			}
			if got, err := pager.count(t.Context(), p.Selection); got != n || err != nil {
				t.Fatalf("seed %d: %d %s in %+v, want %d: %v", seed, got, pager.name, r, n, err)
			}
			got, err := pager.page(t.Context(), &p)
			if err != nil {
				t.Fatalf("seed %d: %s, %+v: %v", seed, pager.name, p, err)
			}
			if diff := cmp.Diff(within(pager.want, r, &p), got); diff != "" {
				t.Fatalf("seed %d: %s, %+v (-want +got):\n%s", seed, pager.name, p, diff)
			}
		}
		if page := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), &model.Page{Limit: 1_001, Offset: 1 << 62, After: &model.Place{ID: 1}, Before: &model.Place{ID: 1 << 62}})); len(page) != 0 {
			t.Errorf("far past the end there are %d books", len(page))
		}
	})
}

// TestConnections walks every list page by page, forward and backward, as a
// client does with what a page says of itself: each row comes once, in order.
func TestConnections(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		random := rand.New(rand.NewPCG(rand.Uint64(), 0))
		s := open(t, url)
		l := newLibrary(t, s, random)
		now := s.Unchecked(t.Context())
		walk(t, "books", l.books, now.Books.Page, now.Books.Count)
		walk(t, "genres", l.genres, now.Genres.Page, now.Genres.Count)
		walk(t, "categories", l.categories, now.Categories.Page, now.Categories.Count)
		for _, g := range l.genres {
			walk(t, fmt.Sprint("books of genre ", g), l.booksOf[g], one(g, now.BooksOfGenre.Pages), countOf(g, now.BooksOfGenre.Counts, l.genres))
		}
		for _, c := range l.categories {
			walk(t, fmt.Sprint("books of category ", c), l.booksIn[c], one(c, now.BooksOfCategory.Pages), countOf(c, now.BooksOfCategory.Counts, l.categories))
			walk(t, fmt.Sprint("genres of category ", c), l.genresOf[c], one(c, now.GenresOfCategory.Pages), countOf(c, now.GenresOfCategory.Counts, l.categories))
		}
	})
}

func one[P model.Node](parent model.ID, pages func(context.Context, []model.ID, *model.Page) (map[model.ID][]P, error)) func(context.Context, *model.Page) ([]P, error) {
	return func(ctx context.Context, p *model.Page) ([]P, error) {
		rows, err := pages(ctx, []model.ID{parent}, p)
		return rows[parent], err
	}
}

func walk[P model.Node](t *testing.T, name string, list []model.ID, load func(context.Context, *model.Page) ([]P, error), count func(context.Context, model.Selection) (int, error)) {
	t.Helper()
	for _, size := range []int{1, 3, len(list), len(list) + 1} {
		if size == 0 {
			continue
		}
		for _, backward := range []bool{false, true} {
			var seen []model.ID
			args := model.PageArgs{First: &size}
			if backward {
				args = model.PageArgs{Last: &size}
			}
			for more := true; more; {
				c := model.NewConnection("Any", must[*model.Page](t)(args.Page("Any")), load, count, nil)
				nodes := must[[]P](t)(c.Nodes(t.Context()))
				info := must[*model.PageInfo](t)(c.PageInfo(t.Context()))
				next := must[bool](t)(info.HasNextPage(t.Context()))
				previous := must[bool](t)(info.HasPreviousPage(t.Context()))
				if n := must[int](t)(c.TotalCount(t.Context())); n != len(list) {
					t.Errorf("%s: totalCount is %d, want %d", name, n, len(list))
				}
				behind, ahead := previous, next
				if backward {
					behind, ahead = next, previous
					seen = append(idsOf(nodes), seen...)
					args.Before = info.StartCursor
				} else {
					seen = append(seen, idsOf(nodes)...)
					args.After = info.EndCursor
				}
				if behind != (len(seen) > len(nodes)) {
					t.Errorf("%s by %d, backward %t: after %d rows, is there anything behind: %t", name, size, backward, len(seen), behind)
				}
				more = ahead
			}
			if diff := cmp.Diff(list, seen); diff != "" {
				t.Errorf("%s by %d, backward %t (-want +got):\n%s", name, size, backward, diff)
			}
		}
	}
}

// TestStatements counts what the reads of many parents cost. PostgreSQL gives the
// pages of all in one statement.
func TestStatements(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		l := newLibrary(t, s, rand.New(rand.NewPCG(1, 2)))
		genres, categories := len(l.genres), len(l.categories)
		if !isSQLite(url) {
			genres, categories = 1, 1
		}
		p := &model.Page{Limit: 3, Offset: 1}
		for name, statement := range map[string]struct {
			want int
			run  func(context.Context) error
		}{
			"books by id":     {1, func(ctx context.Context) error { return second(s.Unchecked(ctx).Books.ByID(ctx, l.books)) }},
			"books":           {1, func(ctx context.Context) error { return second(s.Unchecked(ctx).Books.Page(ctx, p)) }},
			"count of books":  {1, func(ctx context.Context) error { return second(s.Unchecked(ctx).Books.Count(ctx, model.Selection{})) }},
			"books of genres": {genres, func(ctx context.Context) error { return second(s.Unchecked(ctx).BooksOfGenre.Pages(ctx, l.genres, p)) }},
			"books of categories": {categories, func(ctx context.Context) error {
				return second(s.Unchecked(ctx).BooksOfCategory.Pages(ctx, l.categories, p))
			}},
			"genres of categories": {categories, func(ctx context.Context) error {
				return second(s.Unchecked(ctx).GenresOfCategory.Pages(ctx, l.categories, p))
			}},
			"count books of genres": {1, func(ctx context.Context) error {
				return second(s.Unchecked(ctx).BooksOfGenre.Counts(ctx, l.genres, model.Selection{}))
			}},
			"count books of categories": {1, func(ctx context.Context) error {
				return second(s.Unchecked(ctx).BooksOfCategory.Counts(ctx, l.categories, model.Selection{}))
			}},
			"count genres of categories": {1, func(ctx context.Context) error {
				return second(s.Unchecked(ctx).GenresOfCategory.Counts(ctx, l.categories, model.Selection{}))
			}},
			"create": {1, func(ctx context.Context) error { return second(s.Books.Create(ctx, newBook("New", l.genres[0]))) }},
		} {
			ctx, stats := stats.With(t.Context())
			if err := statement.run(ctx); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got := stats.Statements(); got != statement.want {
				t.Errorf("%s: %d statements, want %d", name, got, statement.want)
			}
			if stats.DatabaseTime() <= 0 {
				t.Errorf("%s takes no time", name)
			}
		}
	})
}

// TestProjections reads pages with some of the fields on demand: the others have no
// value, and the rest is as ever.
func TestProjections(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, ctx := open(t, url), t.Context()
		shelf := newShelf(t, s)
		text := "A text"
		patch := &model.BookPatch{Description: graphql.OmittableOf(&text)}
		whole := must[*model.Book](t)(s.Books.Update(ctx, shelf.book.ID, patch, nil))
		onDemand := slices.DeleteFunc(slices.Clone(model.BookFields), func(f model.RowField[model.Book]) bool { return !f.Is(model.OnDemand) })
		if len(onDemand) < 4 {
			t.Fatalf("only %d fields on demand", len(onDemand))
		}
		for subset := range 1 << len(onDemand) {
			projection, want := model.NoneOnDemand, *whole
			for i, f := range onDemand {
				if subset&(1<<i) != 0 {
					projection |= model.ProjectionOf("Book", f.Name)
				} else {
					reflect.ValueOf(f.Pointer(&want)).Elem().SetZero()
				}
			}
			page := &model.Page{Limit: 10, Projection: projection}
			if diff := cmp.Diff([]*model.Book{&want}, must[[]*model.Book](t)(s.Unchecked(ctx).Books.Page(ctx, page))); diff != "" {
				t.Errorf("%b (-want +got):\n%s", projection, diff)
			}
			of := must[map[model.ID][]*model.Book](t)(s.Unchecked(ctx).BooksOfGenre.Pages(ctx, []model.ID{shelf.genre.ID}, page))
			if diff := cmp.Diff([]*model.Book{&want}, of[shelf.genre.ID]); diff != "" {
				t.Errorf("%b of a genre (-want +got):\n%s", projection, diff)
			}
			page.Order = model.Order{Keys: []model.OrderKey{{Field: "GENRE_NAME"}, {Field: "CREATED_AT"}}}
			sorted := must[[]*model.Book](t)(s.Unchecked(ctx).Books.Page(ctx, page))
			want.Keys = sorted[0].Keys
			if diff := cmp.Diff([]*model.Book{&want}, sorted); diff != "" || want.Keys == "" {
				t.Errorf("%b by keys %q (-want +got):\n%s", projection, want.Keys, diff)
			}
		}
	})
}

// TestTextsHaveIndexes wants PostgreSQL to read texts in order, from a place on, by
// an index, and to find by one what comes before a text. The plans for many rows are
// had by forbidding those for few.
func TestTextsHaveIndexes(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(dbtest.Postgres(t))
	check(t, err)
	without := func(plans ...string) *db.Store {
		values := u.Query()
		values.Set("options", "-c enable_seqscan=off -c enable_"+strings.Join(plans, "=off -c enable_")+"=off")
		with := *u
		with.RawQuery = values.Encode()
		return migrated(t, with.String())
	}
	s := without("sort", "bitmapscan")
	newShelf(t, s)
	for field, index := range map[string]string{"NAME": "books_name", "AUTHOR": "books_author", "GENRE_NAME": "genres_name", "CATEGORY_NAME": "categories_name"} {
		page := &model.Page{Limit: 10, Order: model.Order{Keys: []model.OrderKey{{Field: field}}}}
		wantIndexes(t, s, page, index)
		page.After = &model.Place{Keys: []any{"b"}, ID: 1}
		wantIndexes(t, s, page, index)
	}
	s = without("indexscan")
	for field, index := range map[string]string{"name": "books_name", "author": "books_author"} {
		wantIndexes(t, s, &model.Page{Limit: 10, Selection: model.Selection{Where: &model.Condition{Field: field, Op: model.Lt, Operand: "b"}}}, index)
	}
}
