package db_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

// BenchmarkStore reads from 10,000 books of 400 genres.
func BenchmarkStore(b *testing.B) {
	const genres, books = 400, 10_000
	of := func(from, n, step int) []model.ID {
		ids := make([]model.ID, n)
		for i := range ids {
			ids[i] = model.ID(from + i*step)
		}
		return ids
	}
	after := func(n int) model.Selection {
		return model.Selection{Where: &model.Condition{Field: "id", Op: model.Gt, Operand: int64(n % 99 * 100)}}
	}
	reads := []struct {
		name string
		read func(ctx context.Context, s *db.Store, n int) error
	}{
		{"100 books", func(ctx context.Context, s *db.Store, n int) error {
			_, err := s.Unchecked(ctx).Books.Page(ctx, &model.Page{Selection: after(n), Limit: 100})
			return err
		}},
		{"100 books/without texts and times", func(ctx context.Context, s *db.Store, n int) error {
			_, err := s.Unchecked(ctx).Books.Page(ctx, &model.Page{Selection: after(n), Limit: 100, Projection: model.NoneOnDemand})
			return err
		}},
		{"100 books by name", func(ctx context.Context, s *db.Store, n int) error {
			order := model.Order{Keys: []model.OrderKey{{Field: "NAME"}}}
			_, err := s.Unchecked(ctx).Books.Page(ctx, &model.Page{Order: order, Limit: 100, Offset: n % 99 * 100})
			return err
		}},
		{"the latest 50 books by author, price and date", func(ctx context.Context, s *db.Store, n int) error {
			page, err := model.PageArgs{
				OrderBy: []*model.OrderBy{{Field: "PUBLISHED_AT", Direction: "DESC"}},
				Filter: model.Filter{
					"author": map[string]any{"icontains": fmt.Sprint("uthor ", 1+n%9)}, "price": map[string]any{"gte": n % 10, "lte": "80"}, "publishedAt": map[string]any{"lt": "2005-08-05"},
				},
			}.Page("Book")
			if err != nil {
				return err
			}
			_, err = s.Unchecked(ctx).Books.Page(ctx, page)
			return err
		}},
		{"one book", func(ctx context.Context, s *db.Store, n int) error {
			_, err := s.Unchecked(ctx).Books.ByID(ctx, of(n%books+1, 1, 0))
			return err
		}},
		{"100 books by id", func(ctx context.Context, s *db.Store, n int) error {
			_, err := s.Unchecked(ctx).Books.ByID(ctx, of(n%99+1, 100, 99))
			return err
		}},
		{"10 books of 20 genres", func(ctx context.Context, s *db.Store, n int) error {
			_, err := s.Unchecked(ctx).BooksOfGenre.Pages(ctx, of(n%(genres-20)+1, 20, 1), &model.Page{Limit: 10})
			return err
		}},
		{"count of 20 genres", func(ctx context.Context, s *db.Store, n int) error {
			_, err := s.Unchecked(ctx).BooksOfGenre.Counts(ctx, of(n%(genres-20)+1, 20, 1), model.Selection{})
			return err
		}},
		{"all books", func(ctx context.Context, s *db.Store, _ int) error {
			return s.ReadTransaction(ctx, model.NoReplica, func(ctx context.Context, snapshot *db.Snapshot) error {
				return snapshot.Books.Stream(ctx, &model.Page{}, 500, func(context.Context, []*model.Book) error { return nil })
			})
		}},
	}
	for _, engine := range []struct {
		name string
		url  func(testing.TB) string
	}{{"sqlite", dbtest.SQLite}, {"postgres", dbtest.Postgres}} {
		b.Run(engine.name, func(b *testing.B) {
			s := many(b, engine.url(b), genres, books)
			for _, r := range reads {
				b.Run(r.name, func(b *testing.B) {
					b.ReportAllocs()
					ctx, stats := stats.With(b.Context())
					n := 0
					for b.Loop() {
						check(b, r.read(ctx, s, n))
						n++
					}
					b.ReportMetric(float64(stats.Statements())/float64(n), "stmts/op")
				})
			}
		})
	}
}

// many opens a store with so many rows, numbered from 1.
func many(b *testing.B, url string, genres, books int) *db.Store {
	b.Helper()
	s, err := db.Open(b.Context(), url, db.Options{})
	check(b, err)
	b.Cleanup(func() { s.Close() })
	check(b, s.Migrate(b.Context()))
	description := strings.Repeat("lorem ipsum — ", 14)
	err = s.Write(b.Context(), func(ctx context.Context) error {
		if _, err := s.Categories.Create(ctx, &model.CreateCategoryInput{Name: "Category"}); err != nil {
			return err
		}
		var newGenres []*model.Genre
		for i := range genres {
			newGenres = append(newGenres, &model.Genre{Name: fmt.Sprint("Genre ", i), Description: &description, CategoryID: 1})
		}
		if err := s.Genres.Insert(ctx, newGenres); err != nil {
			return err
		}
		var newBooks []*model.Book
		for i := range books {
			newBooks = append(newBooks, &model.Book{
				Name: fmt.Sprintf("Book %q of the shelf", fmt.Sprint(i)), Description: &description, Pages: i%900 + 1,
				PublishedAt: model.Date{Year: int16(1900 + i%120), Month: uint8(i%12 + 1), Day: uint8(i%28 + 1)},
				Author:      fmt.Sprint("Author ", i%500), Price: model.Cents(i), GenreID: model.ID(i*7%genres + 1),
			})
		}
		return s.Books.Insert(ctx, newBooks)
	})
	check(b, err)
	return s
}
