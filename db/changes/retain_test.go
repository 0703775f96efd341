package changes_test

import (
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// TestPurge stores a row's text in three changes, and purges it by the row and by the text: no page has it, and each change
// remains.
func TestPurge(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := catalogtest.Open(t, url)
		var ids []model.ID
		for _, name := range []string{"Geheim", "Öffentlich"} {
			c, err := s.Categories.Create(t.Context(), &model.CreateCategoryInput{Name: name})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Categories.Delete(t.Context(), c.ID, nil, model.Restrict); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, c.ID)
		}
		names := func() (deleted, unknown int) {
			t.Helper()
			page, err := s.Changes(t.Context(), model.ChangeArgs{First: 10})
			if err != nil || len(page.Nodes) != 4 {
				t.Fatalf("%+v: %v", page, err)
			}
			for _, c := range page.Nodes {
				switch {
				case c.Operation == model.ChangeDelete && c.Deleted != nil:
					deleted++
				case c.Operation == model.ChangeDelete:
					unknown++
				}
			}
			return deleted, unknown
		}
		for step, purge := range []func() (int64, error){
			func() (int64, error) { return 0, s.ForgetChanges(t.Context(), 0) },
			func() (int64, error) { return s.PurgeRow(t.Context(), model.TypeCategory, ids[0]) },
			func() (int64, error) { rows, _, err := s.PurgeText(t.Context(), "OFFENTLICH"); return rows, err },
		} {
			if changed, err := purge(); err != nil || changed != int64(min(step, 1)) {
				t.Errorf("step %d changed %d: %v", step, changed, err)
			}
			if deleted, unknown := names(); deleted != 2-step || unknown != step {
				t.Errorf("step %d: %d names, %d without", step, deleted, unknown)
			}
		}
	})
}
