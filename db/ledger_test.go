package db_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// ledger is a test of many writers and of subscribers that are cut and resume at another gateway.
type ledger struct {
	gateways []*db.Store
	genres   []model.ID
	start    string
	most     int // changes until a subscriber is cut
}

// gateway returns a store at random.
func (l *ledger) gateway() *db.Store { return l.gateways[rand.IntN(len(l.gateways))] }

var errCut = errors.New("cut at random")

// write makes one change, or several in a transaction, of which one in four is rolled back.
func (l *ledger) write(ctx context.Context, books *[]model.ID) error {
	s, genre := l.gateway(), l.genres[rand.IntN(len(l.genres))]
	var made []model.ID
	one := func(ctx context.Context) error {
		switch n := rand.IntN(8); {
		case n == 0:
			_, err := s.Genres.Update(ctx, genre, &model.GenrePatch{Name: rename(fmt.Sprint(rand.Int())).Name}, nil)
			return err
		case n < 4 || len(*books) == 0:
			book, err := s.Books.Create(ctx, newBook("One of many", genre))
			if err == nil {
				made = append(made, book.ID)
			}
			return err
		case n < 7:
			_, err := s.Books.Update(ctx, (*books)[rand.IntN(len(*books))], rename(fmt.Sprint(rand.Int())), nil)
			return err
		}
		err := s.Books.Delete(ctx, (*books)[0], nil, model.Cascade)
		if err == nil {
			*books = (*books)[1:]
		}
		return err
	}
	if rand.IntN(3) > 0 {
		err := one(ctx)
		*books = append(*books, made...)
		return err
	}
	undo, kept := rand.IntN(4) == 0, append([]model.ID(nil), *books...)
	err := s.Write(ctx, func(ctx context.Context) error {
		made, *books = nil, append([]model.ID(nil), kept...)
		for range 1 + rand.IntN(5) {
			if err := one(ctx); err != nil {
				return err
			}
		}
		if undo {
			return errCut
		}
		return nil
	})
	if err != nil {
		*books = kept
		if errors.Is(err, errCut) || model.IsCode(err, model.Unavailable) { // deadlocks with other writers of genres
			return nil
		}
		return err
	}
	*books = append(*books, made...)
	return nil
}

// follow returns what a subscriber gets that is cut at random and resumes, until the last change.
func (l *ledger) follow(ctx context.Context) (got []*model.Change, err error) {
	after := l.start
	for {
		left := rand.IntN(l.most)
		err := l.gateway().Follow(ctx, model.ChangeArgs{After: &after}, nil, func(_ context.Context, page *model.ChangePage) error {
			for _, c := range page.Nodes {
				got, after = append(got, c), c.Position
				if c.Category != nil && c.Category.Name == "End" {
					return context.Canceled
				}
				if left--; left < 0 {
					return errCut
				}
			}
			after = page.Position
			return nil
		})
		if errors.Is(err, context.Canceled) && ctx.Err() == nil {
			return got, nil
		}
		if !errors.Is(err, errCut) && !model.IsCode(err, model.Unavailable) {
			return got, err
		}
	}
}

// TestLedger gives each subscriber every change exactly once and in the order of each row.
func TestLedger(t *testing.T) {
	writers, subscribers, rounds, most, lasts := 6, 8, 30, 60, time.Duration(0)
	if dbtest.Soak {
		writers, subscribers, most, lasts = 32, 100, 2_000, 20*time.Second
	} else {
		t.Parallel()
	}
	catalogtest.Each(t, func(t *testing.T, url string) {
		l := &ledger{gateways: []*db.Store{open(t, url)}, most: most}
		if !isSQLite(url) {
			l.gateways = append(l.gateways, open(t, url), open(t, url))
		}
		home := newShelf(t, l.gateways[0])
		l.genres = []model.ID{home.genre.ID}
		for range 4 {
			l.genres = append(l.genres, must[*model.Genre](t)(l.gateways[0].Genres.Create(t.Context(), &model.CreateGenreInput{Name: "Another", CategoryID: home.category.ID})).ID)
		}
		_, l.start = changesAfter(t, l.gateways[0], nil, 100)

		var writing, following sync.WaitGroup
		got, failed := make([][]*model.Change, subscribers), make([]error, subscribers+writers)
		for i := range subscribers {
			following.Go(func() { got[i], failed[i] = l.follow(t.Context()) })
		}
		end := time.Now().Add(lasts)
		for i := range writers {
			writing.Go(func() {
				var books []model.ID
				for round := 0; failed[subscribers+i] == nil && (round < rounds || time.Now().Before(end)); round++ {
					failed[subscribers+i] = l.write(t.Context(), &books)
				}
			})
		}
		writing.Wait()
		must[*model.Category](t)(l.gateways[0].Categories.Create(t.Context(), &model.CreateCategoryInput{Name: "End"}))
		following.Wait()
		check(t, errors.Join(failed...))

		all, _ := changesAfter(t, l.gateways[0], &l.start, 1000)
		logged := ask[int](t, other(t, url), `SELECT count(*) FROM changes`)
		if logged != len(all)+len(l.genres)+2 {
			t.Errorf("%d changes are logged, %d read", logged, len(all))
		}
		versions := map[string]int64{}
		for _, c := range all {
			row := fmt.Sprint(c.Type, c.RowID)
			if last, known := versions[row]; c.Operation == model.ChangeUpdate && known && c.Version != last+1 || c.Operation == model.ChangeDelete && c.Version != last || c.Operation == model.ChangeCreate && known {
				t.Fatalf("%s %s has version %d after %d", c.Operation, row, c.Version, last)
			}
			versions[row] = c.Version
		}
		for i, changes := range got {
			if len(changes) != len(all) {
				t.Errorf("subscriber %d got %d changes of %d", i, len(changes), len(all))
				continue
			}
			for k, c := range changes {
				if c.Position != all[k].Position || c.RowID != all[k].RowID || c.Version != all[k].Version || c.Operation != all[k].Operation {
					t.Fatalf("change %d of subscriber %d is %s %d v%d at %s, want %s %d v%d at %s", k, i, c.Type, c.RowID, c.Version, c.Position, all[k].Type, all[k].RowID, all[k].Version, all[k].Position)
				}
			}
		}
		t.Logf("%d changes, %d subscribers", len(all), subscribers)
	})
}
