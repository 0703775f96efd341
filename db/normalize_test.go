package db_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/doctor"
	"library-catalogue/graph/model"
)

// TestNormalize: texts that another program has stored are put in NFC by the pass of a migration and by the doctor. A
// row that changes gets its next version and a change without an actor, and keeps its time; its past is as it was.
func TestNormalize(t *testing.T) {
	t.Parallel()
	mends := map[string]func(t *testing.T, url string) int{
		"migration": func(t *testing.T, url string) int {
			program := other(t, url)
			for _, table := range []string{"categories", "genres", "books"} {
				exec(t, program, `INSERT INTO passes VALUES (9, '`+table+`', 0)`)
			}
			check(t, migrated(t, url).Close())
			return ask[int](t, program, `SELECT count(*) FROM passes`)
		},
		"doctor": func(t *testing.T, url string) int {
			report := must[*doctor.Report](t)(doctor.Examine(t.Context(), url, true))
			if !slices.ContainsFunc(report.Problems, func(p doctor.Problem) bool {
				return p.Check == "texts" && p.Problem == "Texts of 2 books are not in Unicode NFC, so filters do not find them."
			}) {
				t.Errorf("found %+v", report.Problems)
			}
			return report.Left()
		},
	}
	for name, mend := range mends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			catalogtest.Each(t, func(t *testing.T, url string) {
				s := open(t, url)
				home := newShelf(t, s)
				composed := must[*model.Book](t)(s.Books.Create(t.Context(), newBook("Café", home.genre.ID)))
				program := other(t, url)
				ids := addBooks(t, program, 3, home.genre.ID)
				long := strings.Repeat("\u0958", 1000) // NFC has two characters for it, and a name at most 1,000
				exec(t, program, `UPDATE books SET name = $1, author = $2 WHERE id = $3`, "Cafe\u0301", "Zoe\u0308", ids[0])
				exec(t, program, `UPDATE books SET description = $1 WHERE id = $2`, "Poe\u0301sie\n\nA\u030a", ids[1])
				exec(t, program, `UPDATE books SET name = $1 WHERE id = $2`, long, ids[2])
				exec(t, program, `UPDATE genres SET name = $1 WHERE id = $2`, "Poe\u0301sie", home.genre.ID)
				before := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.ByID(t.Context(), ids))
				check(t, s.Close())

				if left := mend(t, url); left != 0 {
					t.Errorf("%d left", left)
				}

				s = open(t, url)
				after := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.ByID(t.Context(), ids))
				want := []*model.Book{new(*before[0]), new(*before[1]), before[2]}
				want[0].Name, want[0].Author, want[0].Version = "Café", "Zoë", before[0].Version+1
				want[1].Description, want[1].Version = new("Poésie\n\nÅ"), before[1].Version+1
				if diff := cmp.Diff(want, after); diff != "" {
					t.Errorf("books (-want +got):\n%s", diff)
				}
				if genre := must[[]*model.Genre](t)(s.Unchecked(t.Context()).Genres.ByID(t.Context(), []model.ID{home.genre.ID}))[0]; genre.Name != "Poésie" {
					t.Errorf("the genre is %q", genre.Name)
				}
				if again := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.ByID(t.Context(), []model.ID{composed.ID}))[0]; again.Version != 1 {
					t.Errorf("version %d of a text in NFC", again.Version)
				}
				newest := historyOf(t, s, model.TypeBook, ids[0], 10)[0]
				if got := fmt.Sprint(newest.Operation, newest.Version, newest.Actor); got != fmt.Sprint("UPDATE", want[0].Version, "") {
					t.Errorf("the change is %s", got)
				}
				if past := ask[string](t, program, `SELECT CAST(old AS text) FROM changes WHERE row_id = $1 AND type = 'b' AND version = $2`, ids[0], want[0].Version); !strings.Contains(past, "Cafe\u0301") {
					t.Errorf("the past is %s", past)
				}
				n := must[int](t)(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{Where: &model.Condition{Op: model.Eq, Field: "name", Operand: "Café"}}))
				if n != 2 {
					t.Errorf("a filter finds %d books", n)
				}
				row := must[*model.Book](t)(s.Books.Update(t.Context(), ids[0], rename("Other"), nil))
				if row.UpdatedAt == before[0].UpdatedAt {
					t.Error("a later update has no time of its own")
				}
			})
		})
	}
}
