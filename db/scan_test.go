package db_test

import (
	"slices"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// TestTimesOfAllCenturies reads times by a prepared statement and by one that is
// not, whose answers PostgreSQL writes differently.
func TestTimesOfAllCenturies(t *testing.T) {
	t.Parallel()
	days := []string{"0001-01-01", "1600-02-29", "1899-12-31", "1970-01-01", "1999-12-31", "2000-01-01", "2024-02-29", "9999-12-31"}
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		shelf := newShelf(t, s)
		var want []string
		for _, day := range days {
			created, updated := day+"T00:00:00.000000Z", day+"T23:59:59.999999Z"
			want = append(want, day+" "+created+" "+updated)
			exec(t, program, `INSERT INTO books (name, pages, published_at, author, price_cents, genre_id, created_at, updated_at)
VALUES ('Momo', 1, $1, 'Ende', 1, $2, $3, $4)`, day, shelf.genre.ID, created, updated)
		}
		for _, where := range []model.Condition{{Field: "id", Op: model.Gt, Operand: int64(shelf.book.ID)}, {Field: "author", Op: model.Eq, Operand: "Ende"}} {
			var got []string
			for _, b := range must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), &model.Page{Selection: model.Selection{Where: &where}, Limit: 100})) {
				got = append(got, b.PublishedAt.String()+" "+b.CreatedAt.String()+" "+b.UpdatedAt.String())
			}
			if !slices.Equal(got, want) {
				t.Errorf("by %s: read %v, want %v", where.Field, got, want)
			}
		}
	})
}
