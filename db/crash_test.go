package db_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// The tests here kill what writes, or what is written to, in the middle of a
// stream of creates: what was acknowledged must be there afterwards.

// acknowledged is how many books are stored before the kill.
const acknowledged = 60

// TestServerKilled kills PostgreSQL under four writers.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	s := migrated(t, cluster.Database(t))
	home := newShelf(t, s)
	var mu sync.Mutex
	var stored []model.ID
	enough, ended := make(chan struct{}), make(chan error, 4)
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for {
				b, err := s.Books.Create(t.Context(), newBook("One of many", home.genre.ID))
				if err != nil {
					if !model.IsCode(err, model.Unavailable) {
						t.Errorf("a writer was told %v", err)
					}
					ended <- err
					return
				}
				mu.Lock()
				stored = append(stored, b.ID)
				if len(stored) == acknowledged {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	select {
	case <-enough:
	case err := <-ended:
		t.Fatalf("a writer ended early: %v", err)
	}
	cluster.Kill(t)
	writers.Wait()
	cluster.Start(t)
	allThere(t, s, stored)
}

// storeVariable makes TestProcessKilled the process that is killed.
const storeVariable = "CATALOGUE_DB_TEST_STORE"

// TestProcessKilled runs itself in another process, which stores books in SQLite
// and prints the id of each when it is stored, and kills that.
func TestProcessKilled(t *testing.T) {
	t.Parallel()
	if url := os.Getenv(storeVariable); url != "" {
		storeForever(t, url)
		return
	}
	url := catalogtest.SQLite(t)
	s := open(t, url)
	newShelf(t, s)
	child := osexec.Command(os.Args[0], "-test.run=^TestProcessKilled$")
	child.Env = append(os.Environ(), storeVariable+"="+url)
	child.Stderr = os.Stderr
	output, err := child.StdoutPipe()
	check(t, err)
	check(t, child.Start())
	var stored []model.ID
	for lines := bufio.NewScanner(output); lines.Scan(); {
		id := model.ParseID(lines.Text())
		if id == 0 {
			t.Fatalf("the process says %q", lines.Text())
		}
		if stored = append(stored, id); len(stored) == acknowledged {
			check(t, child.Process.Kill())
		}
	}
	if err := child.Wait(); len(stored) < acknowledged {
		t.Fatalf("the process ended by itself after %d books: %v", len(stored), err)
	}
	allThere(t, s, stored)            // as a process sees it that was there all the time
	allThere(t, open(t, url), stored) // and one that comes after it
	if answer := ask[string](t, other(t, url), "PRAGMA integrity_check"); answer != "ok" {
		t.Errorf("the file is damaged: %s", answer)
	}
}

func storeForever(t *testing.T, url string) {
	s := open(t, url)
	genres := must[[]*model.Genre](t)(s.Unchecked(t.Context()).Genres.Page(t.Context(), &model.Page{Limit: 1}))
	err := together(times(4, func() error {
		for {
			b, err := s.Books.Create(context.Background(), newBook("One of many", genres[0].ID))
			if err != nil {
				return err
			}
			// One write, and so one line, whatever else is printed.
			if _, err := os.Stdout.WriteString(fmt.Sprintln(b.ID)); err != nil {
				return err
			}
		}
	})...)
	t.Fatal(err)
}

func allThere(t *testing.T, s *db.Store, stored []model.ID) {
	t.Helper()
	var found []model.ID
	for _, b := range must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.ByID(t.Context(), stored)) {
		found = append(found, b.ID)
	}
	slices.Sort(found)
	if diff := cmp.Diff(slices.Sorted(slices.Values(stored)), found); diff != "" {
		t.Errorf("books (-acknowledged +there):\n%s", diff)
	}
}
