package doctor

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

// searchTable is the name of one of SQLite's indexes of words.
var searchTable = regexp.MustCompile(`(books|genres|categories)_search`)

// checkFile has SQLite read all of its file: pages, indexes, and the constraints of each
// row. PostgreSQL has amcheck for that.
func (e *exam) checkFile(ctx context.Context) error {
	if e.fileProblems == "" {
		return nil
	}
	var messages []string
	if err := e.SelectContext(ctx, &messages, e.fileProblems); err != nil {
		return err
	}
	for _, message := range messages {
		mend, fix := "restore a backup, or put a right value there by an UPDATE", (func() error)(nil)
		table := searchTable.FindString(message)
		switch {
		case table != "":
			mend = fmt.Sprintf(`INSERT INTO %[1]s (%[1]s) VALUES ('rebuild')`, table)
			fix = e.exec(ctx, mend)
		case strings.Contains(message, "index "):
			mend, fix = `REINDEX`, e.exec(ctx, `REINDEX`)
		}
		e.found(ctx, "SQLite says: "+message+".", mend, fix)
	}
	return nil
}

// checkReferences looks for rows whose parent is not there: no database that was always
// written with its constraints has one.
func (e *exam) checkReferences(ctx context.Context) error {
	for _, r := range []struct{ table, column, parents string }{{"books", "genre_id", "genres"}, {"genres", "category_id", "categories"}} {
		var ids []int64
		err := e.SelectContext(ctx, &ids, fmt.Sprintf(`SELECT id FROM %s WHERE NOT EXISTS (SELECT 1 FROM %s p WHERE p.id = %s) ORDER BY id`, r.table, r.parents, r.column))
		if err != nil {
			return err
		}
		if len(ids) > 0 {
			e.found(ctx, fmt.Sprintf("These of the %s point at none of the %s: %s.", r.table, r.parents, list(ids)),
				fmt.Sprintf("give each one that is there: UPDATE %s SET %s = … WHERE id = …", r.table, r.column), nil)
		}
	}
	return nil
}

// list writes ids, the first ones of many.
func list(ids []int64) string {
	var b strings.Builder
	for i, id := range ids {
		if i == 10 {
			return b.String() + " …"
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, id)
	}
	return b.String()
}

// step is how far a change moves the revision, as the triggers do.
func step() int64 { return 1 + rand.Int64N(1<<24) }

// checkRevision wants the rows that count changes.
func (e *exam) checkRevision(ctx context.Context) error {
	var right bool
	if err := e.GetContext(ctx, &right, `SELECT count(*) > 0 AND count(*) = count(CASE WHEN n >= 0 AND reference >= 0 THEN 1 END) FROM revision`); err != nil || right {
		return err
	}
	// Far from where it may have been: nothing that a client remembers may be taken for now.
	insert := fmt.Sprintf(e.engine.revision, step()<<20)
	e.found(ctx, "The revision, by which caches know what is new, has no row, or one that is no count.", `DELETE FROM revision; `+insert, e.exec(ctx, `DELETE FROM revision`, insert))
	return nil
}

// moveRevision tells caches that something has changed.
func (e *exam) moveRevision(ctx context.Context) error {
	_, err := e.ExecContext(ctx, fmt.Sprintf(`UPDATE revision SET n = n + %[1]d, reference = reference + %[1]d WHERE slot = (SELECT min(slot) FROM revision)`, step()))
	return err
}

// checkIDs wants the next id of a table to be one that no row has had.
func (e *exam) checkIDs(ctx context.Context) error {
	for _, table := range []string{"categories", "genres", "books"} {
		text := fmt.Sprintf(e.lastID+` AS last, (SELECT coalesce(max(id), 0) FROM %[1]s) AS highest`, table)
		mend := fmt.Sprintf(e.passIDs, table)
		var ids struct{ Last, Highest int64 }
		if err := e.GetContext(ctx, &ids, text); err != nil {
			return err
		}
		if ids.Last < ids.Highest {
			e.found(ctx, fmt.Sprintf("The next id of %s would be %d, and %d is taken.", table, ids.Last+1, ids.Highest), mend, e.exec(ctx, strings.Split(mend, "; ")...))
		}
	}
	return nil
}
