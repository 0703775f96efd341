package db_test

import (
	"slices"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/doctor"
	"library-catalogue/graph/model"
)

// TestSeries finds books by their subtitle and series, and sorts them by their number in the series: books of this program
// and of another, and after changes of each.
func TestSeries(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		home := newShelf(t, s)
		for _, number := range []string{"10", "IV", "1.5", "2"} {
			in := newBook("Number "+number, home.genre.ID)
			in.Subtitle, in.Series, in.SeriesNumber = graphql.OmittableOf(new("J's début")), graphql.OmittableOf(new("R. The Wi-Fi saga")), graphql.OmittableOf(&number)
			must[*model.Book](t)(s.Books.Create(t.Context(), in))
		}
		exec(t, program, `INSERT INTO books (name, author, description, subtitle, series, series_number, pages, published_at, price_cents, genre_id)
VALUES ('Saga', 'R', 'debut', 'Debut', 'R. R. Saga', '1', 1, '2000-01-01', 0, $1), ('Other', 'A', 'A saga', NULL, NULL, NULL, 1, '2000-01-01', 0, $1)`, home.genre.ID)
		want := func(text string, names ...string) {
			t.Helper()
			if diff := cmp.Diff(append([]string{}, names...), foundBooks(t, s, text)); diff != "" {
				t.Errorf("%q finds (-want +got):\n%s", text, diff)
			}
		}
		all := []string{"Number 10", "Number IV", "Number 1.5", "Number 2"}
		want("saga", slices.Concat([]string{"Saga"}, all, []string{"Other"})...)
		want("wifi tolkien debut", all...)
		want("sgaa debut", append(slices.Clone(all), "Saga")...)
		want("rr", slices.Concat([]string{"The Hobbit"}, all, []string{"Saga"})...)
		want("rrr") // initials are of one text
		page := must[*model.Page](t)(model.PageArgs{OrderBy: []*model.OrderBy{{Field: "SERIES_NUMBER"}}}.Page("Book"))
		page.Where = &model.Condition{Field: "series", Op: model.ContainsFolded, Operand: "SAGA"}
		var names []string
		for _, book := range must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), page)) {
			names = append(names, book.Name)
		}
		if diff := cmp.Diff([]string{"Saga", "Number 1.5", "Number 2", "Number 10", "Number IV"}, names); diff != "" {
			t.Error(diff)
		}

		exec(t, program, `UPDATE books SET series = 'Epic', subtitle = NULL WHERE name LIKE 'Number%'`)
		want("epic", all...)
		want("wifi")
		book := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), page))[0]
		patch := &model.BookPatch{Series: graphql.OmittableOf[*string](nil), Subtitle: graphql.OmittableOf(new("New"))}
		must[*model.Book](t)(s.Books.Update(t.Context(), book.ID, patch, nil))
		want("new", "Saga")
		want("debut", "Saga") // by the description
		for _, damage := range []string{"", `UPDATE books SET subtitle_fold = 'x' WHERE name = 'Saga'`} {
			if damage != "" && !isSQLite(url) {
				damage = `ALTER TABLE books DISABLE TRIGGER books_fold; ` + damage + `; ALTER TABLE books ENABLE TRIGGER books_fold`
			}
			exec(t, program, damage)
			problems := 0
			if damage != "" {
				problems = 1
			}
			for _, fix := range []bool{false, true} {
				if report := must[*doctor.Report](t)(doctor.Examine(t.Context(), url, fix)); len(report.Problems) != problems || fix && report.Left() > 0 {
					t.Errorf("after %q the doctor finds %+v", damage, report.Problems)
				}
			}
		}
		if got := ask[string](t, program, `SELECT subtitle_fold FROM books WHERE name = 'Saga'`); got != "new" {
			t.Errorf("the doctor leaves %q", got)
		}
	})
}
