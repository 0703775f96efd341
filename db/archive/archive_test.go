package archive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/db"
	"library-catalogue/db/archive"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// newCatalogue makes a catalogue with genres and categories without books, gaps between
// ids, versions and moments of their own, and texts that files are known to spoil, in NFC.
// Its rows fill several parts.
func newCatalogue(t *testing.T, url string, seed uint64) *db.Store {
	t.Helper()
	s := catalogtest.Open(t, url)
	random := rand.New(rand.NewPCG(seed, 1))
	text := func(most int) string {
		pieces := []string{"a", "Z", "0", `"`, `\`, "\n", "\r\n", "\t", "\x01", "\x7f", " ", "é", "e\u0301", "😀", "\u2028", "\uFEFF", "\uFFFD", "<&>", "null", "%s"}
		var b strings.Builder
		for range random.IntN(most) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String()
	}
	maybe := func(most int) *string {
		if s := text(most); s != "" {
			return &s
		}
		return nil
	}
	moment := func() model.Timestamp {
		const first, last = -62_135_596_800_000_000, 253_402_300_799_999_999 // the years 1 to 9999
		return model.Timestamp(first + random.Int64N(last-first+1))
	}
	id := model.ID(0)
	next := func() model.ID { id += 1 + model.ID(random.IntN(3)); return id }
	version := func() int64 { return 1 + random.Int64N(1<<40) }
	var categories []*model.Category
	for i := range 5 {
		categories = append(categories, &model.Category{ID: next(), Version: version(), Name: text(9) + fmt.Sprint(i), Description: maybe(3000), CreatedAt: moment(), UpdatedAt: moment()})
	}
	var genres []*model.Genre
	for i := range 40 {
		genres = append(genres, &model.Genre{ID: next(), Version: version(), Name: text(9) + fmt.Sprint(i), Description: maybe(9000), CategoryID: categories[random.IntN(4)].ID, CreatedAt: moment(), UpdatedAt: moment()})
	}
	var books []*model.Book
	for i := range 1100 {
		books = append(books, &model.Book{
			ID: next(), Version: version(), Name: text(9) + fmt.Sprint(i), Description: maybe(1600), Pages: 1 + random.IntN(1_000_000),
			PublishedAt: model.Date{Year: int16(1 + random.IntN(9999)), Month: uint8(1 + random.IntN(12)), Day: uint8(1 + random.IntN(28))},
			Author:      " " + text(9), Price: model.Cents(random.Int64N(int64(model.MaxPrice) + 1)), GenreID: genres[random.IntN(35)].ID,
			CreatedAt: moment(), UpdatedAt: moment(),
		})
	}
	err := s.Restore(t.Context(), func(ctx context.Context) error {
		return errors.Join(
			s.Categories.Restore(ctx, model.CategoryFields, categories),
			s.Genres.Restore(ctx, model.GenreFields, genres),
			s.Books.Restore(ctx, model.BookFields, books))
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// export returns the archive of a catalogue.
func export(t *testing.T, s *db.Store) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := archive.Write(t.Context(), s, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// empty returns a catalogue without rows, on the engine of an URL.
func empty(t *testing.T, like string) *db.Store {
	t.Helper()
	if strings.HasPrefix(like, "sqlite:") {
		return catalogtest.Open(t, catalogtest.SQLite(t))
	}
	return catalogtest.Open(t, catalogtest.Postgres(t))
}

// TestBytesAreTheSame takes a catalogue from each engine to each: the bytes are the same,
// from its archive and from a copy.
func TestBytesAreTheSame(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, from string) {
		original := newCatalogue(t, from, 7)
		want := export(t, original)
		catalogtest.Each(t, func(t *testing.T, to string) {
			restored := catalogtest.Open(t, to)
			manifest, err := archive.Restore(t.Context(), restored, bytes.NewReader(want))
			must(t, err)
			if got, want := manifest.String(), "5 categories, 40 genres, 1100 books"; got != want {
				t.Errorf("restored %s, want %s", got, want)
			}
			if !bytes.Equal(export(t, restored), want) {
				t.Error("the archive of the restored catalogue has other bytes")
			}
			copied := empty(t, to)
			if _, err := archive.Copy(t.Context(), restored, copied, quietly); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(export(t, copied), want) {
				t.Error("the archive of the copied catalogue has other bytes")
			}
			stays(t, copied)
		})
	})
}

// stays wants a new book in a catalogue to get an id behind all others, and a search to
// find it and those that were restored.
func stays(t *testing.T, s *db.Store) {
	t.Helper()
	genres, err := s.Unchecked(t.Context()).Genres.Page(t.Context(), &model.Page{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	book, err := s.Books.Create(t.Context(), newBook("new", genres[0].ID))
	if err != nil {
		t.Fatal(err)
	}
	last, err := s.Unchecked(t.Context()).Books.Page(t.Context(), &model.Page{Order: model.Order{IDDescending: true}, Limit: 1})
	if err != nil || last[0].ID != book.ID {
		t.Errorf("the new book is %v, the last %v, %v", book.ID, last[0].ID, err)
	}
	n, err := s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{Search: "null"})
	if err != nil || n < 100 {
		t.Errorf("a search finds %d books, %v", n, err)
	}
}

func newBook(name string, genre model.ID) *model.CreateBookInput {
	return &model.CreateBookInput{Name: name, Author: "author", Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, GenreID: genre}
}

// TestOneSnapshot changes every table each time that an archive is written to: it holds
// what was there when it was begun.
func TestOneSnapshot(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := newCatalogue(t, url, 8)
		before := export(t, s)
		changes := 0
		var during bytes.Buffer
		_, err := archive.Write(t.Context(), s, writerFunc(func(p []byte) (int, error) {
			changes++
			err := s.Write(t.Context(), func(ctx context.Context) error {
				category, err := s.Categories.Create(ctx, &model.CreateCategoryInput{Name: "new"})
				if err != nil {
					return err
				}
				genre, err := s.Genres.Create(ctx, &model.CreateGenreInput{Name: "new", CategoryID: category.ID})
				if err != nil {
					return err
				}
				if _, err := s.Books.Create(ctx, newBook("new", genre.ID)); err != nil {
					return err
				}
				books, err := s.Unchecked(ctx).Books.Page(ctx, &model.Page{Limit: 1100})
				if err != nil {
					return err
				}
				_, err = s.Books.UpdateAll(ctx, []model.ID{books[0].ID, books[1099].ID}, &model.BookPatch{Author: graphql.OmittableOf(new("new"))})
				return err
			})
			return len(p), errors.Join(err, func() error { _, err := during.Write(p); return err }())
		}))
		must(t, err)
		if changes < 3 {
			t.Errorf("the catalogue was changed %d times meanwhile", changes)
		}
		if !bytes.Equal(during.Bytes(), before) {
			t.Error("the archive holds what came after it was begun")
		}
		if bytes.Equal(export(t, s), before) {
			t.Error("nothing was changed")
		}
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestNotEmpty: a catalogue with one row of any table is refused, and stays as it is.
func TestNotEmpty(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := catalogtest.Open(t, url)
		whole := export(t, newCatalogue(t, catalogtest.SQLite(t), 9))
		if _, err := s.Categories.Create(t.Context(), &model.CreateCategoryInput{Name: "one"}); err != nil {
			t.Fatal(err)
		}
		before := export(t, s)
		if _, err := archive.Restore(t.Context(), s, bytes.NewReader(whole)); !errors.Is(err, db.ErrNotEmpty) {
			t.Errorf("the error is %v", err)
		}
		if _, err := archive.Copy(t.Context(), s, s, quietly); !errors.Is(err, db.ErrNotEmpty) {
			t.Errorf("the error of a copy is %v", err)
		}
		if !bytes.Equal(export(t, s), before) {
			t.Error("the catalogue was changed")
		}
	})
}

// TestSourceFails: where the source of a copy fails, its error is returned, and nothing
// is stored.
func TestSourceFails(t *testing.T) {
	t.Parallel()
	from, to := newCatalogue(t, catalogtest.SQLite(t), 10), catalogtest.Open(t, catalogtest.SQLite(t))
	none := export(t, to)
	must(t, from.Close())
	if _, err := archive.Copy(t.Context(), from, to, quietly); err == nil || strings.Contains(err.Error(), "archive") {
		t.Errorf("the error is %v", err)
	}
	if !bytes.Equal(export(t, to), none) {
		t.Error("something was stored")
	}
}

// TestCheck reads an archive and needs no catalogue.
func TestCheck(t *testing.T) {
	t.Parallel()
	s := newCatalogue(t, catalogtest.SQLite(t), 11)
	var out bytes.Buffer
	want, err := archive.Write(t.Context(), s, &out)
	must(t, err)
	got, err := archive.Check(t.Context(), io.LimitReader(&out, int64(out.Len())))
	if err != nil || fmt.Sprint(map[string]archive.Content(got)) != fmt.Sprint(map[string]archive.Content(want)) {
		t.Errorf("read %v, %v, want %v", got, err, want)
	}
}

// quietly takes the progress of a copy.
func quietly(int, int) {}

// must ends the test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
