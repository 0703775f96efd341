package db_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

// counted are the counts of a selection, each read in several ways.
type counted struct {
	Rows   int
	Groups [][]*model.BookGroup
}

// countBooks reads all facets and figures of a selection.
func countBooks(ctx context.Context, s *db.Store, sel model.Selection) (c counted, err error) {
	err = s.Read(ctx, model.NoRevision, model.NoReplica, func(ctx context.Context, snapshot *db.Snapshot) (err error) {
		c, err = countSnapshot(ctx, snapshot, sel)
		return err
	})
	return c, err
}

func countSnapshot(ctx context.Context, snapshot *db.Snapshot, sel model.Selection) (c counted, err error) {
	const figures = model.RowCount | model.PriceMin | model.PriceMax | model.PriceAvg | model.PriceSum |
		model.PagesMin | model.PagesMax | model.PagesAvg | model.PagesSum | model.PublishedAtMin | model.PublishedAtMax
	byCount := []model.GroupOrder{{Field: "count", Descending: true}}
	groupings := []*model.Grouping{
		{Selection: sel, By: []model.GroupKey{model.ByPriceRange}, Bounds: []model.Cents{500, 1500}, Aggregates: model.RowCount, Limit: 3},
		{Selection: sel, Aggregates: figures, Limit: 1},
	}
	for _, key := range []model.GroupKey{model.ByGenre, model.ByCategory, model.ByAuthor, model.ByPerson, model.ByPublisher, model.ByLanguage, model.ByYear} {
		groupings = append(groupings, &model.Grouping{Selection: sel, By: []model.GroupKey{key}, Aggregates: model.RowCount, Order: byCount, Limit: 5})
	}
	if c.Rows, err = snapshot.Books.Count(ctx, sel); err != nil {
		return c, err
	}
	c.Groups, err = snapshot.GroupBooks(ctx, groupings)
	return c, err
}

// keptSelections are selections whose books change by each kind of write.
func keptSelections(t *testing.T) (all []model.Selection) {
	for _, filter := range []model.Filter{
		nil,
		{"genreId": map[string]any{"eq": 2}},
		{"genre": map[string]any{"category": map[string]any{"name": map[string]any{"icontains": "category 1"}}}},
		{"author": map[string]any{"icontains": "ÉCRIVAIN 1"}, "not": map[string]any{"pages": map[string]any{"lt": 30}}},
		{"or": []any{map[string]any{"publisher": map[string]any{"isNull": true}}, map[string]any{"description": map[string]any{"contains": "5"}}}},
	} {
		all = append(all, must[model.Selection](t)(model.ParseSelection("Book", filter, nil)))
	}
	return all
}

var (
	keptWords = []string{"dragon", "harbour", "lantern", "meadow", "willow", "castle", "orchard", "e-book"}
	mistyped  = []string{"dragn", "harbuor", "lantrn", "maedow", "wilow book", "castel", "orchrd", "ebok", "ecrivian"}
)

// keptWriter writes books as another program does.
type keptWriter struct {
	*sql.DB
	*rand.Rand
	postgres bool
}

// author returns one of 12 authors in one of the forms of the name.
func (w keptWriter) author() string {
	forms := []string{"'Écrivain %d'", "'%d, Écrivain'", "'ÉCRIVAIN  %d'", "'É.C. Rivain %d'", "'É. C. Rivain %d'"}
	return fmt.Sprintf(forms[w.IntN(len(forms))], w.IntN(12))
}

func (w keptWriter) step(t *testing.T) {
	t.Helper()
	value := func(name string, n int) string { return fmt.Sprintf("'%s %d'", name, w.IntN(n)) }
	optional := func(name string, n int) string {
		if w.IntN(2) == 0 {
			return "NULL"
		}
		return value(name, n)
	}
	some := fmt.Sprintf("id %% 7 = %d", w.IntN(7))
	switch w.IntN(10) {
	case 0, 1, 2:
		var rows []string
		for range 1 + w.IntN(20) {
			rows = append(rows, fmt.Sprintf("(%s, %s, %d, '%d-02-03', %s, %d, %d, %s, %s)", value("Book of the "+keptWords[w.IntN(len(keptWords))], 9), optional("text", 9), 1+w.IntN(60), 1990+w.IntN(5),
				w.author(), w.IntN(2000), 1+w.IntN(3), optional("house", 4), optional("l", 3)))
		}
		exec(t, w.DB, `INSERT INTO books (name, description, pages, published_at, author, price_cents, genre_id, publisher, language) VALUES `+strings.Join(rows, ", "))
	case 3:
		exec(t, w.DB, `UPDATE books SET pages = pages % 60 + 1, genre_id = genre_id % 3 + 1, author = `+w.author()+` WHERE `+some)
	case 4:
		exec(t, w.DB, `UPDATE books SET publisher = `+optional("house", 4)+`, published_at = '1989-05-06' WHERE `+some)
		exec(t, w.DB, `UPDATE books SET price_cents = 7 WHERE `+some)
	case 5:
		exec(t, w.DB, `DELETE FROM books WHERE `+some)
	case 6:
		exec(t, w.DB, `UPDATE books SET id = (SELECT max(id) FROM books) + 1000000 WHERE id = (SELECT min(id) FROM books)`)
		exec(t, w.DB, `UPDATE genres SET category_id = category_id % 2 + 1 WHERE id = 1`)
	case 7:
		exec(t, w.DB, `UPDATE changes SET old = NULL WHERE type = 'b'`) // as a purge does
	case 8:
		exec(t, w.DB, `DELETE FROM books`)
	case 9:
		if w.postgres {
			exec(t, w.DB, `TRUNCATE books`)
		}
	}
}

// fillKept adds genres, and books to be counted.
func fillKept(t *testing.T, w keptWriter) {
	t.Helper()
	exec(t, w.DB, `INSERT INTO categories (name) VALUES ('Category 1'), ('Category 2')`)
	exec(t, w.DB, `INSERT INTO genres (name, category_id) VALUES ('One', 1), ('Two', 1), ('Three', 2)`)
	for range 5 {
		w.step(t)
	}
}

// TestKeptCounts compares counts that are kept and brought forward with counts of the same rows that are read, after
// writes of other programs.
func TestKeptCounts(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		keeping, reading := openWith(t, url, db.WithKeptCounts()), open(t, url)
		w := keptWriter{other(t, url), rand.New(rand.NewPCG(1, 2)), !isSQLite(url)}
		fillKept(t, w)
		others := model.Filter{"genre": map[string]any{"books": map[string]any{"some": map[string]any{"price": map[string]any{"lt": 1}}}}}
		selections := append(keptSelections(t), must[model.Selection](t)(model.ParseSelection("Book", others, nil)))
		for step := range dbtest.Runs(400) {
			w.step(t)
			if w.postgres { // a transaction commits after a later one
				open := must[*sql.Tx](t)(w.Begin())
				must[sql.Result](t)(open.Exec(`INSERT INTO books (name, pages, published_at, author, price_cents, genre_id) VALUES ('Late', 9, '1990-02-03', 'Late', 900, 2)`))
				exec(t, w.DB, `INSERT INTO books (name, pages, published_at, author, price_cents, genre_id) VALUES ('Early', 9, '1990-02-03', 'Early', 900, 2)`)
				must[counted](t)(countBooks(t.Context(), keeping, selections[0]))
				check(t, open.Commit())
			}
			// A transaction moves the counts to a tick that does not see all that it sees.
			must[*model.ChangePage](t)(keeping.Changes(t.Context(), model.ChangeArgs{First: 1}))
			w.step(t)
			check(t, keeping.ReadTransaction(t.Context(), model.NoReplica, func(ctx context.Context, snapshot *db.Snapshot) error {
				return second(countSnapshot(ctx, snapshot, selections[0]))
			}))
			fresh := strings.Repeat(string(rune('a'+step%26)), 2) + string(rune('a'+step/26))
			exec(t, w.DB, `INSERT INTO books (name, pages, published_at, author, price_cents, genre_id) VALUES ('Harvest`+fresh+`', 9, '1990-02-03', 'Fresh', 900, 2)`)
			for _, text := range append([]string{"Havrest" + fresh}, mistyped...) {
				want, got := must[*string](t)(reading.Unchecked(t.Context()).Books.Correct(t.Context(), text)), must[*string](t)(keeping.Unchecked(t.Context()).Books.Correct(t.Context(), text))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("step %d, %q (-want +got):\n%s", step, text, diff)
				}
			}
			for i, sel := range selections {
				want, got := must[counted](t)(countBooks(t.Context(), reading, sel)), must[counted](t)(countBooks(t.Context(), keeping, sel))
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("step %d, selection %d (-want +got):\n%s", step, i, diff)
				}
			}
		}
	})
}

// TestKeptCountsAreUsed counts after a write: the books are not read again.
func TestKeptCountsAreUsed(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := openWith(t, url, db.WithKeptCounts())
		w := keptWriter{other(t, url), rand.New(rand.NewPCG(1, 2)), !isSQLite(url)}
		fillKept(t, w)
		var mu sync.Mutex
		var texts []string
		s.Observe(func(_ context.Context, statement stats.Statement) {
			mu.Lock()
			defer mu.Unlock()
			texts = append(texts, statement.Text)
		})
		for _, sel := range keptSelections(t) {
			for range 3 {
				must[counted](t)(countBooks(t.Context(), s, sel))
				exec(t, w.DB, `UPDATE books SET pages = pages % 60 + 1 WHERE id % 3 = 0`)
			}
			texts = nil
			must[counted](t)(countBooks(t.Context(), s, sel))
			for _, text := range texts {
				if strings.Contains(text, "FROM books") && !strings.Contains(text, "firsts") {
					t.Errorf("read books again: %s", text)
				}
			}
		}
	})
}

// TestKeptCountsUnderWriters counts while others write: each answer is of one revision, so its parts agree. No writer
// truncates, because all snapshots then see an empty table (PostgreSQL's manual, section 13.6).
func TestKeptCountsUnderWriters(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := openWith(t, url, db.WithKeptCounts())
		w := keptWriter{other(t, url), rand.New(rand.NewPCG(3, 4)), false}
		fillKept(t, w)
		sel := model.Selection{}
		done := make(chan struct{})
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					c, err := countBooks(t.Context(), s, sel)
					if err != nil {
						t.Error(err)
						return
					}
					rows := 0
					for _, g := range c.Groups[2] {
						rows += g.Aggregate.Count
					}
					if rows != c.Rows || c.Groups[1][0].Aggregate.Count != c.Rows {
						t.Errorf("%d rows, %d in genres, %d with figures", c.Rows, rows, c.Groups[1][0].Aggregate.Count)
					}
				}
			})
		}
		for range dbtest.Runs(300) {
			w.step(t)
		}
		close(done)
		readers.Wait()
		want, got := must[counted](t)(countBooks(t.Context(), open(t, url), sel)), must[counted](t)(countBooks(t.Context(), s, sel))
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("at the end (-want +got):\n%s", diff)
		}
	})
}
