package db_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// strange is text that must come back as it went in.
const strange = "Ünïcödé 📚 \"quotes\" 'and' \\back\\ %_*? <b>&amp;</b>\n\ttabs — 中文 $1"

func TestBook(t *testing.T) {
	onEach(t, func(t *testing.T, s *db.Store) {
		ctx := t.Context()
		home := newShelf(t, s)
		second := must[*model.Genre](t)(s.Genres.Create(ctx, &model.CreateGenreInput{Name: "Poetry", CategoryID: home.category.ID}))

		description := strings.Repeat("§", 20_000)
		in := &model.CreateBookInput{
			Name: strange, Description: graphql.OmittableOf(&description), Pages: 1_000_000, PublishedAt: model.Date{Year: 1, Month: 1, Day: 1},
			Author: strings.Repeat("語", 1_000), Price: model.MaxPrice, GenreID: home.genre.ID,
		}
		book := must[*model.Book](t)(s.Books.Create(ctx, in))
		want := &model.Book{
			ID: book.ID, Version: 1, Name: in.Name, Description: &description, Pages: in.Pages, PublishedAt: in.PublishedAt,
			Author: in.Author, Price: in.Price, GenreID: in.GenreID, CreatedAt: book.CreatedAt, UpdatedAt: book.CreatedAt,
		}
		same := func(step string, got *model.Book) {
			t.Helper()
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step, diff)
			}
			stored := must[[]*model.Book](t)(s.Unchecked(ctx).Books.ByID(ctx, []model.ID{got.ID}))
			if diff := gocmp.Diff([]*model.Book{want}, stored); diff != "" {
				t.Errorf("%s, as stored (-want +got):\n%s", step, diff)
			}
		}
		same("created", book)
		if book.ID < 1 {
			t.Errorf("its id is %d", book.ID)
		}

		name, author, text, pages, price, day := "New", "Somebody", "A text", 1, model.Cents(0), model.Date{Year: 9999, Month: 12, Day: 31}
		for _, change := range []struct {
			step  string
			patch *model.BookPatch
			apply func()
		}{
			{"name", &model.BookPatch{Name: graphql.OmittableOf(&name)}, func() { want.Name = name }},
			{"description", &model.BookPatch{Description: graphql.OmittableOf(&text)}, func() { want.Description = &text }},
			{"no description", &model.BookPatch{Description: graphql.OmittableOf[*string](nil)}, func() { want.Description = nil }},
			{"pages", &model.BookPatch{Pages: graphql.OmittableOf(&pages)}, func() { want.Pages = pages }},
			{"date", &model.BookPatch{PublishedAt: graphql.OmittableOf(&day)}, func() { want.PublishedAt = day }},
			{"author", &model.BookPatch{Author: graphql.OmittableOf(&author)}, func() { want.Author = author }},
			{"price", &model.BookPatch{Price: graphql.OmittableOf(&price)}, func() { want.Price = price }},
			{"genre", &model.BookPatch{GenreID: graphql.OmittableOf(&second.ID)}, func() { want.GenreID = second.ID }},
			{"everything", &model.BookPatch{
				Name: graphql.OmittableOf(&in.Name), Description: graphql.OmittableOf(&description), Pages: graphql.OmittableOf(&in.Pages),
				PublishedAt: graphql.OmittableOf(&in.PublishedAt), Author: graphql.OmittableOf(&in.Author),
				Price: graphql.OmittableOf(&in.Price), GenreID: graphql.OmittableOf(&in.GenreID),
			}, func() {
				want.Name, want.Description, want.Pages, want.PublishedAt = in.Name, &description, in.Pages, in.PublishedAt
				want.Author, want.Price, want.GenreID = in.Author, in.Price, in.GenreID
			}},
		} {
			expected := want.Version
			got, err := s.Books.Update(ctx, book.ID, change.patch, &expected)
			if err != nil {
				t.Fatalf("%s: %v", change.step, err)
			}
			change.apply()
			want.Version++
			want.UpdatedAt = got.UpdatedAt
			same(change.step, got)
			if got.UpdatedAt < got.CreatedAt {
				t.Errorf("%s: changed at %v, before it was created at %v", change.step, got.UpdatedAt, got.CreatedAt)
			}
		}

		// A patch without a field is no change.
		same("nothing", must[*model.Book](t)(s.Books.Update(ctx, book.ID, &model.BookPatch{}, nil)))

		stale := want.Version - 1
		_, err := s.Books.Update(ctx, book.ID, rename("Stale"), &stale)
		wantCode(t, err, model.Stale, "Book was changed by someone else")
		wantCode(t, s.Books.Delete(ctx, book.ID, &stale, model.Cascade), model.Stale, "Book was changed by someone else")
		nowhere := model.ID(1 << 40)
		_, err = s.Books.Update(ctx, book.ID, &model.BookPatch{GenreID: graphql.OmittableOf(&nowhere)}, nil)
		wantNoSuch(t, err, "genre_id", "The selected genre id is invalid.")
		_, err = s.Books.Create(ctx, newBook("Lost", nowhere))
		wantNoSuch(t, err, "genre_id", "The selected genre id is invalid.")
		same("after what was refused", must[*model.Book](t)(s.Books.Update(ctx, book.ID, &model.BookPatch{}, nil)))

		if err := s.Books.Delete(ctx, book.ID, &want.Version, model.Cascade); err != nil {
			t.Error(err)
		}
		wantCode(t, s.Books.Delete(ctx, book.ID, nil, model.Cascade), model.NotFound, "Book not found")
		_, err = s.Books.Update(ctx, book.ID, rename("Gone"), nil)
		wantCode(t, err, model.NotFound, "Book not found")
		if rest := must[[]*model.Book](t)(s.Unchecked(ctx).Books.ByID(ctx, []model.ID{book.ID})); len(rest) != 0 {
			t.Errorf("a deleted book is still read: %v", rest)
		}
		// The number of a deleted book is not given again: a client that
		// kept it must not find another book under it.
		if again := must[*model.Book](t)(s.Books.Create(ctx, newBook("Next", home.genre.ID))); again.ID <= book.ID {
			t.Errorf("the next book has the id %d, after %d", again.ID, book.ID)
		}
	})
}

// wantNoSuch demands the error of a reference to a row that is not there.
func wantNoSuch(t *testing.T, err error, field, message string) {
	t.Helper()
	wantCode(t, err, model.BadUserInput, message)
	want := model.FieldErrors{{Field: field, Message: message}}
	if diff := gocmp.Diff(want, model.AsError(err).Fields, cmpopts.IgnoreFields(model.FieldError{}, "Format")); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

// TestByID looks rows up by ids that are there, are not, and are given twice.
func TestByID(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		ctx := t.Context()
		home := newShelf(t, s)
		ids := append(addBooks(t, program, 2_000, home.genre.ID), home.book.ID)
		wanted := slices.Concat(ids, ids[:3], []model.ID{0, -1, 1 << 62})
		books := must[[]*model.Book](t)(s.Unchecked(ctx).Books.ByID(ctx, wanted))
		var got []model.ID
		for _, b := range books {
			got = append(got, b.ID)
		}
		slices.SortFunc(got, cmp.Compare[model.ID])
		slices.Sort(ids)
		if diff := gocmp.Diff(ids, got); diff != "" {
			t.Errorf("books (-want +got):\n%s", diff)
		}
		for _, none := range [][]model.ID{nil, {}, {1 << 62}} {
			if books := must[[]*model.Book](t)(s.Unchecked(ctx).Books.ByID(ctx, none)); len(books) != 0 {
				t.Errorf("%v gives %d books", none, len(books))
			}
			if genres := must[[]*model.Genre](t)(s.Unchecked(ctx).Genres.ByID(ctx, none)); len(genres) != 0 {
				t.Errorf("%v gives %d genres", none, len(genres))
			}
			if categories := must[[]*model.Category](t)(s.Unchecked(ctx).Categories.ByID(ctx, none)); len(categories) != 0 {
				t.Errorf("%v gives %d categories", none, len(categories))
			}
		}
	})
}

func TestCounts(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		ctx := t.Context()
		counted := func() [3]int {
			return [3]int{
				must[int](t)(s.Unchecked(ctx).Books.Count(ctx, model.Selection{})), must[int](t)(s.Unchecked(ctx).Genres.Count(ctx, model.Selection{})), must[int](t)(s.Unchecked(ctx).Categories.Count(ctx, model.Selection{})),
			}
		}
		if got := counted(); got != [3]int{} {
			t.Errorf("an empty catalogue has %v", got)
		}
		home := newShelf(t, s)
		empty := must[*model.Genre](t)(s.Genres.Create(ctx, &model.CreateGenreInput{Name: "Empty", CategoryID: home.category.ID}))
		bare := must[*model.Category](t)(s.Categories.Create(ctx, &model.CreateCategoryInput{Name: "Bare"}))
		addBooks(t, program, 4, home.genre.ID)
		if got := counted(); got != [3]int{5, 2, 2} {
			t.Errorf("the catalogue has %v", got)
		}
		genres, categories := []model.ID{home.genre.ID, empty.ID, 1 << 62}, []model.ID{bare.ID, home.category.ID}
		for name, of := range map[string]struct{ got, want map[model.ID]int }{
			"books of genres": {must[map[model.ID]int](t)(s.Unchecked(ctx).BooksOfGenre.Counts(ctx, genres, model.Selection{})),
				map[model.ID]int{home.genre.ID: 5}},
			"books of categories": {must[map[model.ID]int](t)(s.Unchecked(ctx).BooksOfCategory.Counts(ctx, categories, model.Selection{})),
				map[model.ID]int{home.category.ID: 5}},
			"genres of categories": {must[map[model.ID]int](t)(s.Unchecked(ctx).GenresOfCategory.Counts(ctx, categories, model.Selection{})),
				map[model.ID]int{home.category.ID: 2}},
		} {
			if diff := gocmp.Diff(of.want, of.got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
}
