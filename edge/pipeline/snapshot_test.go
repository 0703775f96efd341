package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// moving is a catalogue that another program changes while it is read: each time
// a page of books is read, the genre of the first of them goes away, with its
// books, before anybody has asked for it.
type moving struct {
	*resolvers.Resolver
	remove      func(model.ID) error
	reads, runs *atomic.Int32
}

func (m moving) Query() graph.QueryResolver { return movingQuery{m.Resolver.Query(), m} }

func (m moving) Read(ctx context.Context, known model.Revision, replicas model.Replicas, fn func(context.Context) (bool, error)) (int64, error) {
	return m.Resolver.Read(ctx, known, replicas, func(ctx context.Context) (bool, error) {
		m.runs.Add(1)
		return fn(ctx)
	})
}

type movingQuery struct {
	graph.QueryResolver
	m moving
}

func (q movingQuery) Books(ctx context.Context, first *int, after *string, last *int, before *string, offset *int, filter map[string]any, orderBy []*model.OrderBy, search *string) (*model.BookConnection, error) {
	q.m.reads.Add(1)
	books, err := q.QueryResolver.Books(ctx, first, after, last, before, offset, filter, orderBy, search)
	if err != nil {
		return nil, err
	}
	nodes, err := books.Nodes(ctx)
	if err != nil || len(nodes) == 0 {
		return books, err
	}
	return books, q.m.remove(nodes[0].GenreID)
}

// TestRowsThatMoved reads books whose genre is deleted between the statements:
// the query is run again, on one snapshot, and answers without an error. The
// planned executor cannot answer where the schema is asked for.
func TestRowsThatMoved(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]string{
		"planned":   "{ books { totalCount nodes { genre { name category { name } } } } }",
		"reference": "{ __schema { queryType { name } } books { totalCount nodes { genre { name category { name } } } } }",
	} {
		t.Run(name, func(t *testing.T) {
			catalogtest.Each(t, func(t *testing.T, url string) {
				var reads, runs atomic.Int32
				other := catalogtest.Open(t, url)
				c := servertest.Serve(t, url, func(r *resolvers.Resolver) server.Catalogue {
					return moving{r, func(id model.ID) error { return other.Genres.Delete(context.Background(), id, nil, model.Cascade) }, &reads, &runs}
				})
				const genres = 5
				booksInGenres(t, other, genres, 2)
				var got struct {
					Books struct {
						TotalCount int
						Nodes      []struct{ Genre struct{ Name string } }
					}
				}
				servertest.Unmarshal(t, c.Get(t, document, ""), &got)
				if reads.Load() != 2 || runs.Load() != 2 {
					t.Errorf("the query was run %d times, and read the books %d times", runs.Load(), reads.Load())
				}
				// The last read is the one that is answered: it did not see its own
				// genre go.
				if want := 2 * (genres - 1); len(got.Books.Nodes) != want {
					t.Errorf("%d books, want %d", len(got.Books.Nodes), want)
				}
				for _, b := range got.Books.Nodes {
					if b.Genre.Name == "" {
						t.Errorf("a book without a genre: %+v", got)
					}
				}
				if got.Books.TotalCount != len(got.Books.Nodes) {
					t.Errorf("totalCount is %d, and there are %d books in the same snapshot", got.Books.TotalCount, len(got.Books.Nodes))
				}
				if c.Log.Has("level=ERROR") {
					t.Errorf("that rows moved is logged as an error:\n%s", c.Log)
				}
			})
		})
	}
}

// booksInGenres stores a category with genres, and books in each.
func booksInGenres(t *testing.T, store *db.Store, genres, books int) {
	t.Helper()
	err := store.Write(t.Context(), func(ctx context.Context) error {
		category, err := store.Categories.Create(ctx, &model.CreateCategoryInput{Name: "C"})
		if err != nil {
			return err
		}
		for i := range genres {
			genre, err := store.Genres.Create(ctx, &model.CreateGenreInput{Name: fmt.Sprint("G", i+1), CategoryID: category.ID})
			if err != nil {
				return err
			}
			for range books {
				_, err := store.Books.Create(ctx, &model.CreateBookInput{
					Name: "B", Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, Author: "A", GenreID: genre.ID,
				})
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	servertest.Must(t, err)
}

// TestNoSnapshot lets rows move where no snapshot can be had.
func TestNoSnapshot(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t), func(r *resolvers.Resolver) server.Catalogue {
		return noSnapshot{servertest.NewFailing(r, func() error { return model.ErrSnapshotChanged })}
	})
	f := c.WantError(t, "{ books { totalCount } }", "", "UNAVAILABLE", "The database did not answer. Try again in a moment.")
	if f.Path != nil {
		t.Errorf("path %v", f.Path)
	}
}

type noSnapshot struct{ servertest.Failing }

func (n noSnapshot) Read(ctx context.Context, _ model.Revision, _ model.Replicas, fn func(context.Context) (bool, error)) (int64, error) {
	if _, err := fn(n.WithSnapshot(ctx)); err != nil {
		return -1, err
	}
	return -1, &model.Error{Code: model.Unavailable, Message: "The database did not answer. Try again in a moment.", Err: errors.New("socket")}
}
