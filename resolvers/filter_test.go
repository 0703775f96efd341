package resolvers_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	gocmp "github.com/google/go-cmp/cmp"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
)

// TestFilters gives a thousand filters and orderings at random to each engine,
// and walks through what they take: each row comes once, in the order, as a
// plain evaluation over all rows has it.
func TestFilters(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		store := migrated(t, url)
		random := rand.New(rand.NewPCG(7, 11))
		c := &chooser{random, nodesOf(t, store, random)}
		r := resolvers.New(store)
		for range 1000 {
			typename := []string{"Book", "Book", "Genre", "Category"}[c.IntN(4)]
			filter := c.filter(typename, 3)
			by, less := c.order(typename)
			want := []model.ID{}
			for _, n := range slices.SortedFunc(slices.Values(c.nodes[typename]), less) {
				if n.fulfils(filter) {
					want = append(want, n.id)
				}
			}
			size := 1 + c.IntN(60)
			args := model.PageArgs{Filter: filter, OrderBy: by, First: &size}
			backward := c.IntN(2) == 0
			if backward {
				args.First, args.Last = nil, &size
			}
			got := []model.ID{}
			for more := true; more; {
				ctx := r.WithSnapshot(t.Context())
				ids, total, info, err := lists(r)[typename](ctx, args)
				if err != nil {
					t.Fatalf("%s %v %+v: %v", typename, filter, by, err)
				}
				if total != len(want) {
					t.Fatalf("%s %v: totalCount is %d, want %d", typename, filter, total, len(want))
				}
				if backward {
					got = append(ids, got...)
					args.Before = info.StartCursor
					more, err = info.HasPreviousPage(ctx)
				} else {
					got = append(got, ids...)
					args.After = info.EndCursor
					more, err = info.HasNextPage(ctx)
				}
				must(t, err)
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				var orders []model.OrderBy
				for _, key := range by {
					orders = append(orders, *key)
				}
				t.Fatalf("%s %v by %+v, %d at a time (-want +got):\n%s", typename, filter, orders, size, diff)
			}
		}
	})
}

// TestPagesWhileRowsChange walks through every ordering while other rows come,
// go and move: each row that stays as it is comes once, and in order.
func TestPagesWhileRowsChange(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		store := migrated(t, url)
		random := rand.New(rand.NewPCG(5, 3))
		c := &chooser{random, nodesOf(t, store, random)}
		r := resolvers.New(store)
		for range 30 {
			c.nodes = readNodes(t, store)
			by, less := c.order("Book")
			staying := func(id model.ID) bool { return id%3 == 0 }
			want, got := []model.ID{}, []model.ID{}
			for _, n := range slices.SortedFunc(slices.Values(c.nodes["Book"]), less) {
				if staying(n.id) {
					want = append(want, n.id)
				}
			}
			size := 1 + c.IntN(20)
			args := model.PageArgs{OrderBy: by, First: &size}
			for more := true; more; {
				ctx := r.WithSnapshot(t.Context())
				ids, _, info, err := lists(r)["Book"](ctx, args)
				must(t, err)
				got = append(got, ids...)
				args.After = info.EndCursor
				if more, err = info.HasNextPage(ctx); err != nil {
					t.Fatal(err)
				}
				must(t, c.change(t.Context(), store, ids, staying))
			}
			got = slices.DeleteFunc(got, func(id model.ID) bool { return !staying(id) })
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Fatalf("%d at a time (-want +got):\n%s", size, diff)
			}
		}
	})
}

// change writes a few books that need not stay as they are, the last of a page
// among them, to which the next page's cursor points.
func (c *chooser) change(ctx context.Context, store *db.Store, page []model.ID, staying func(model.ID) bool) error {
	if last := page[len(page)-1]; !staying(last) && c.IntN(2) == 0 {
		if err := store.Books.Delete(ctx, last, nil, model.Cascade); err != nil {
			return err
		}
	}
	text, author := texts[c.IntN(len(texts))], texts[c.IntN(len(texts))]
	if moved := page[c.IntN(len(page))]; !staying(moved) {
		_, err := store.Books.Update(ctx, moved, &model.BookPatch{Name: graphql.OmittableOf(&text), Author: graphql.OmittableOf(&author)}, nil)
		if err != nil && !model.IsCode(err, model.NotFound) {
			return err
		}
	}
	book := newBook(model.ID(1 + c.IntN(20)))
	book.Name, book.Author = text, author
	created, err := store.Books.Create(ctx, book)
	if err == nil && staying(created.ID) {
		err = store.Books.Delete(ctx, created.ID, nil, model.Cascade)
	}
	return err
}
