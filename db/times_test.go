package db_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	osexec "os/exec"
	"testing"
	"time"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// timesVariable makes TestTimesOfTwoProcesses the second process.
const timesVariable = "CATALOGUE_DB_TEST_TIMES"

// TestTimesOfTwoProcesses stores books by two processes of the service and by another program. Each asks for a book as of
// its acknowledgement, and as of now: the book is there, and the same question has the same answer at the end.
func TestTimesOfTwoProcesses(t *testing.T) {
	t.Parallel()
	if url := os.Getenv(timesVariable); url != "" {
		storeAndSay(t, url)
		return
	}
	url := catalogtest.SQLite(t)
	s, program := open(t, url), other(t, url)
	home := newShelf(t, s)
	child := osexec.Command(os.Args[0], "-test.run=^TestTimesOfTwoProcesses$")
	child.Env, child.Stderr = append(os.Environ(), timesVariable+"="+url), os.Stderr
	output, err := child.StdoutPipe()
	check(t, err)
	check(t, child.Start())

	type question struct {
		id model.ID
		at model.Timestamp
	}
	answers := map[question]string{}
	ask := func(id model.ID, at model.Timestamp) string {
		t.Helper()
		q := question{id, at}
		text := textOfBook(asOf(t, s, bookRows, id, at))
		if before, asked := answers[q]; asked && before != text {
			t.Errorf("book %d as of %v was %s, and is %s", id, at, before, text)
		}
		answers[q] = text
		return text
	}
	acknowledged := 0
	for lines := bufio.NewScanner(output); lines.Scan(); {
		var theirs question
		if n, _ := fmt.Sscan(lines.Text(), &theirs.id, &theirs.at); n < 2 {
			continue // PASS
		}
		acknowledged++
		ours := must[*model.Book](t)(s.Books.Create(t.Context(), newBook("Ours", home.genre.ID)))
		now := model.Timestamp(time.Now().UnixMicro())
		for _, q := range []question{theirs, {ours.ID, now}} {
			if text := ask(q.id, q.at); text == "none" {
				t.Errorf("book %d is not there as of its acknowledgement %v", q.id, q.at)
			}
		}
		exec(t, program, `UPDATE books SET name = $1 WHERE id IN ($2, $3)`, fmt.Sprint("Theirs ", acknowledged), ours.ID, home.book.ID)
		ask(home.book.ID, model.Timestamp(time.Now().UnixMicro()))
		ask(ours.ID+1, model.Timestamp(time.Now().UnixMicro())) // the other process may be storing it
	}
	check(t, child.Wait())
	if acknowledged < acknowledgedTimes {
		t.Fatalf("%d acknowledged books", acknowledged)
	}
	for q := range answers {
		ask(q.id, q.at)
	}
}

const acknowledgedTimes = 50

// storeAndSay stores books, each alone or in a transaction, and prints its id and the time of its acknowledgement.
func storeAndSay(t *testing.T, url string) {
	s := open(t, url)
	for n := range acknowledgedTimes {
		var b *model.Book
		create := func(ctx context.Context) (err error) {
			b, err = s.Books.Create(ctx, newBook("One of many", 1))
			return err
		}
		if n%2 == 0 {
			check(t, create(t.Context()))
		} else {
			check(t, s.Write(t.Context(), create))
		}
		fmt.Println(int64(b.ID), time.Now().UnixMicro())
	}
}

// TestQuestionsWhileLocked asks for times while another program holds the write lock for long.
func TestQuestionsWhileLocked(t *testing.T) {
	t.Parallel()
	url := catalogtest.SQLite(t)
	s, program := open(t, url), other(t, url)
	home := newShelf(t, s)
	before := model.Timestamp(time.Now().UnixMicro())
	for time.Now().UnixMicro() < int64(before)+2_000 { // a change's first time is in milliseconds
	}
	exec(t, program, `UPDATE books SET name = 'Untimed'`)
	writer := must[*sql.Tx](t)(program.BeginTx(t.Context(), nil))
	must[sql.Result](t)(writer.Exec(`UPDATE books SET name = 'Open'`))
	check(t, s.Read(t.Context(), model.NoRevision, model.NoReplica, func(ctx context.Context, in *db.Snapshot) error {
		if !in.InTransaction() {
			return model.ErrSnapshotChanged
		}
		return second(in.PositionAt(ctx, before))
	}))
	if b := asOf(t, s, bookRows, home.book.ID, before); b.Name != home.book.Name {
		t.Errorf("the book is %v before the change without a time", b)
	}
	_, err := s.Unchecked(t.Context()).PositionAt(t.Context(), model.Timestamp(time.Now().UnixMicro()))
	wantCode(t, err, model.Unavailable, "busy with a long write")
	check(t, writer.Rollback())
	if b := asOf(t, s, bookRows, home.book.ID, before); b.Name != home.book.Name {
		t.Errorf("the book is %v", b)
	}
}

// TestTimeAfterSnapshot asks in a transaction for a time after its snapshot, and after a commit that it does not see: the
// answer has that commit.
func TestTimeAfterSnapshot(t *testing.T) {
	t.Parallel()
	s := open(t, catalogtest.SQLite(t))
	home := newShelf(t, s)
	var at model.Timestamp
	var b *model.Book
	check(t, s.Read(t.Context(), model.NoRevision, model.NoReplica, func(ctx context.Context, in *db.Snapshot) error {
		if !in.InTransaction() {
			return model.ErrSnapshotChanged
		}
		if at == 0 {
			must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("Second"), nil))
			at = model.Timestamp(time.Now().UnixMicro())
		}
		moment, err := in.PositionAt(ctx, at)
		if err != nil {
			return err
		}
		key := db.Past{Position: moment, ID: home.book.ID}
		found, err := in.Books.AsOf(ctx, []db.Past{key})
		b = found[key]
		return err
	}))
	if b == nil || b.Name != "Second" {
		t.Errorf("the book is %v", b)
	}
}
