package db_test

import (
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/graph/model"
)

// TestManyStatements asks for pages of many sizes at once, each of which is a
// statement of its own: more than are kept prepared.
func TestManyStatements(t *testing.T) {
	db.KeepPrepared(t, 3)
	dbtest.Each(t, func(t *testing.T, url string) {
		s := migrated(t, url)
		newShelf(t, s)
		var run []func() error
		for i := range 8 {
			run = append(run, func() error {
				for n := range 150 {
					if _, err := s.Books(t.Context(), &model.Page{Limit: 1 + (n+i*3)%20}); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := together(run...); err != nil {
			t.Error(err)
		}
	})
}
