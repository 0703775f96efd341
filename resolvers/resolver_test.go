package resolvers_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/google/go-cmp/cmp"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server/servertest"
)

var must, migrated = servertest.Must, catalogtest.Open

// library stores 5 categories, 20 genres and 100 books, numbered from 1, and
// each parent's children among those of the others.
func library(t *testing.T, store *db.Store) {
	t.Helper()
	err := store.Write(t.Context(), func(ctx context.Context) error {
		for range 5 {
			if _, err := store.Categories.Create(ctx, &model.CreateCategoryInput{Name: "Category"}); err != nil {
				return err
			}
		}
		for i := range 20 {
			if _, err := store.Genres.Create(ctx, &model.CreateGenreInput{Name: "Genre", CategoryID: model.ID(1 + i%5)}); err != nil {
				return err
			}
		}
		for i := range 100 {
			if _, err := store.Books.Create(ctx, newBook(model.ID(1+i%20))); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, err)
}

func newBook(genre model.ID) *model.CreateBookInput {
	return &model.CreateBookInput{
		Name: "Book", Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, Author: "Author", GenreID: genre,
	}
}

// execute runs a document on gqlgen's executor, in which each row asks for what
// belongs to it by itself.
func execute(t *testing.T, r *resolvers.Resolver, document string) (data string, statements int) {
	t.Helper()
	ctx, stats := stats.With(t.Context())
	ctx = graphql.StartOperationTrace(r.WithSnapshot(ctx))
	e := executor.New(graph.NewExecutableSchema(graph.Config{Resolvers: r}))
	operation, errs := e.CreateOperationContext(ctx, &graphql.RawParams{Query: document})
	if errs != nil {
		t.Fatal(errs)
	}
	responses, ctx := e.DispatchOperation(ctx, operation)
	response := responses(ctx)
	if len(response.Errors) > 0 {
		t.Fatalf("%s: %v", document, response.Errors)
	}
	return string(response.Data), stats.Statements()
}

// TestBatches counts the statements of a query in which many rows ask one by
// one. A batch is closed by time, and a busy machine may take longer than the
// service waits: here it waits very long.
func TestBatches(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		store := migrated(t, url)
		library(t, store)
		r := resolvers.New(store)
		r.SetWait(time.Second)
		const document = `{ genres { nodes { books(first: 2) { totalCount nodes { genreId } pageInfo { hasNextPage } } } } }`
		data, statements := execute(t, r, document)
		want := 3 // the genres, the books of all, and totalCount of all
		if strings.HasPrefix(url, "sqlite:") {
			want = 1 + 20 + 1
		}
		if statements != want {
			t.Errorf("%d statements, want %d", statements, want)
		}
		if n := strings.Count(data, `{"totalCount":5,"nodes":[{"genreId":`); n != 20 {
			t.Errorf("%d genres with their books: %s", n, data)
		}
	})
}

// TestForwardEdgesNeedNoLuck asks for the genre of each of many books where
// batches do not wait at all: what is expected is fetched with the first.
func TestForwardEdgesNeedNoLuck(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		store := migrated(t, url)
		library(t, store)
		for document, want := range map[string]int{
			`{ books(first: 100) { nodes { genre { category { name } } } } }`:                 3,
			`{ books(last: 100) { edges { node { genre { name } } } } }`:                      2,
			`{ genres { nodes { category { name } } } }`:                                      2,
			`{ books(first: 50) { nodes { a: genre { id } b: genre { category { id } } } } }`: 3,
		} {
			r := resolvers.New(store)
			r.SetWait(0)
			if _, statements := execute(t, r, document); statements != want {
				t.Errorf("%d statements, want %d: %s", statements, want, document)
			}
		}
	})
}

// TestViewBeginsAnew holds what is read in a view to come from the view, also
// where the request has read the same before.
func TestViewBeginsAnew(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		store := migrated(t, url)
		library(t, store)
		r := resolvers.New(store)
		ctx := r.WithSnapshot(t.Context())
		name := func(ctx context.Context) string {
			g, err := r.Query().Genre(ctx, "1", nil)
			must(t, err)
			return g.Name
		}
		rename := func(to string) {
			if _, err := store.Genres.Update(t.Context(), 1, &model.GenrePatch{Name: graphql.OmittableOf(&to)}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if got := name(ctx); got != "Genre" {
			t.Errorf("at first it is %q", got)
		}
		rename("Renamed")
		if got := name(ctx); got != "Genre" {
			t.Errorf("in the same request it is %q: a request reads a row once", got)
		}
		var first int64
		err := r.ReadTransaction(ctx, model.NoReplica, func(ctx context.Context, revision int64) error {
			first = revision
			rename("Renamed again")
			if got := name(ctx); got != "Renamed" {
				t.Errorf("in the view it is %q", got)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		mine := errors.New("mine")
		err = r.ReadTransaction(ctx, model.NoReplica, func(_ context.Context, revision int64) error {
			if revision <= first {
				t.Errorf("revision %d follows %d", revision, first)
			}
			return mine
		})
		if !errors.Is(err, mine) {
			t.Error(err)
		}
	})
}

// TestOnce keeps an answer under the caller's key, for callers only.
func TestOnce(t *testing.T) {
	onLibrary(t, func(t *testing.T, store *db.Store, r *resolvers.Resolver) {
		write := func(ctx context.Context) ([]byte, error) {
			payload, err := r.Mutation().CreateBook(ctx, *newBook(1))
			if err != nil {
				return nil, err
			}
			// What was written in the transaction is read in it.
			if b, err := r.Query().Book(ctx, payload.Row.ID.String(), nil); err != nil || b == nil {
				t.Errorf("the book in the transaction: %v, %v", b, err)
			}
			return []byte(payload.Row.ID.String()), nil
		}
		if _, _, err := r.Idempotent(t.Context(), "key", "print", write); !model.IsCode(err, model.Unauthenticated) {
			t.Errorf("without a token: %v", err)
		}
		for subject, first := range map[string]string{"me": "", "you": ""} {
			ctx := model.WithCaller(t.Context(), model.Caller{Subject: subject})
			for _, again := range []bool{false, true, true} {
				answer, replayed, err := r.Idempotent(ctx, "key", "print", write)
				if err != nil || replayed != again || again && string(answer) != first {
					t.Errorf("%s: %q, replayed %t, %v", subject, answer, replayed, err)
				}
				first = string(answer)
			}
		}
		if n, err := store.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{}); n != 102 || err != nil {
			t.Errorf("%d books, want 102: %v", n, err)
		}
	})
}

// TestParentsThatAreGone asks for what a row points at, and is not there.
func TestParentsThatAreGone(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		store := migrated(t, url)
		library(t, store)
		r := resolvers.New(store)
		ctx := r.WithSnapshot(t.Context())
		_, one := r.Book().Genre(ctx, &model.Book{GenreID: 99})
		_, other := r.Genre().Category(ctx, &model.Genre{CategoryID: 99})
		for _, err := range []error{one, other} {
			if !errors.Is(err, model.ErrSnapshotChanged) {
				t.Errorf("the error is %v", err)
			}
		}
	})
}

// TestLevelsAreInOrder asks for whole levels: the answers are in the order of
// what was asked, with nil for what is not there.
func TestLevelsAreInOrder(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		store := migrated(t, url)
		library(t, store)
		r := resolvers.New(store)
		ctx, stats := stats.With(r.WithSnapshot(t.Context()))
		ids := []model.ID{7, 99, 3, 7, 1}
		books, err := r.LoadBooks(ctx, ids)
		must(t, err)
		var got []model.ID
		for _, b := range books {
			if b == nil {
				got = append(got, 99)
				continue
			}
			got = append(got, b.ID)
		}
		if diff := cmp.Diff(ids, got); diff != "" {
			t.Errorf("books (-asked +got):\n%s", diff)
		}
		first, offset := 2, 1
		genres := []*model.Genre{{ID: 5}, {ID: 2}, {ID: 5}, {ID: 99}}
		before := stats.Statements()
		connections, err := r.BooksOfGenres(ctx, genres, model.PageArgs{First: &first, Offset: &offset})
		must(t, err)
		var pages [][]model.ID
		for _, c := range connections {
			nodes, err := c.Nodes(ctx)
			info, infoErr := c.PageInfo(ctx)
			must(t, errors.Join(err, infoErr))
			page := []model.ID{}
			for _, b := range nodes {
				page = append(page, b.ID)
			}
			pages = append(pages, page)
			next, err := info.HasNextPage(ctx)
			previous, previousErr := info.HasPreviousPage(ctx)
			total, totalErr := c.TotalCount(ctx)
			must(t, errors.Join(err, previousErr, totalErr))
			if there := len(page) > 0; next != there || previous != there || total != map[bool]int{true: 5}[there] {
				t.Errorf("%v: next %t, previous %t, total %d", page, next, previous, total)
			}
		}
		if diff := cmp.Diff([][]model.ID{{25, 45}, {22, 42}, {25, 45}, {}}, pages); diff != "" {
			t.Errorf("pages (-want +got):\n%s", diff)
		}
		want := 3 // pages, counts, and whether there is anything in the genre without a book
		if strings.HasPrefix(url, "sqlite:") {
			want = 3 + 1 + 3
		}
		if n := stats.Statements() - before; n != want {
			t.Errorf("%d statements, want %d", n, want)
		}
	})
}

// onLibrary runs a parallel test on each engine, over library.
func onLibrary(t *testing.T, run func(t *testing.T, store *db.Store, r *resolvers.Resolver)) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		store := migrated(t, url)
		library(t, store)
		run(t, store, resolvers.New(store))
	})
}
