package doctor

import (
	"context"
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"modernc.org/sqlite"

	"library-catalogue/db/search"
)

func init() {
	sqlite.MustRegisterDeterministicScalarFunction("words", 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		text, _ := args[0].(string)
		return search.Words(text), nil
	})
}

// byFix is what mends a problem by statements that are too long to be shown.
const byFix = "catalogue db doctor --fix"

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
		problem := "SQLite says: " + message + "."
		switch table := searchTable.FindString(message); {
		case table != "":
			e.found(ctx, problem, "", fmt.Sprintf(`INSERT INTO %[1]s (%[1]s) VALUES ('rebuild')`, table))
		case strings.Contains(message, "index "):
			e.found(ctx, problem, "", `REINDEX`)
		default:
			e.found(ctx, problem, "restore a backup, or put a right value there by an UPDATE")
		}
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
				fmt.Sprintf("give each one that is there: UPDATE %s SET %s = … WHERE id = …", r.table, r.column))
		}
	}
	return nil
}

// list writes ids, the first ones of many.
func list(ids []int64) string {
	if len(ids) > 10 {
		return commas(ids[:10]) + " …"
	}
	return commas(ids)
}

func commas(ids []int64) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(ids), "[]"), " ", ", ")
}

// checkSearch compares the folded texts and the words that are kept of each row with
// those that follow from its texts.
func (e *exam) checkSearch(ctx context.Context) error {
	for _, table := range []string{"categories", "genres", "books"} {
		d := e.derivationOf(table)
		var wrong []int64
		if err := e.SelectContext(ctx, &wrong, fmt.Sprintf(`SELECT r.id FROM %[1]s r LEFT JOIN %[1]s_search s ON s.%[2]s = r.id
WHERE (r.%[3]s, s.%[4]s) IS DISTINCT FROM (%[5]s, %[6]s) ORDER BY r.id`,
			table, d.id, strings.ReplaceAll(d.row, ", ", ", r."), strings.ReplaceAll(d.entry, ", ", ", s."), d.rowValues, d.entryValues)); err != nil {
			return err
		}
		if len(wrong) > 0 {
			e.found(ctx, fmt.Sprintf("What is kept for search and order is not what the texts say of these %s: %s.", table, list(wrong)),
				byFix, e.reindex(table, d, wrong)...)
		}
		stray := fmt.Sprintf(` FROM %[1]s_search WHERE %[2]s NOT IN (SELECT id FROM %[1]s)`, table, d.id)
		if err := e.wantNone(ctx, "The search finds "+table+" that are not there: %d.", `SELECT 1`+stray, `DELETE`+stray); err != nil {
			return err
		}
		if e.missingWords == "" {
			continue // the index is its own vocabulary
		}
		unknown := fmt.Sprintf(e.missingWords, table)
		if err := e.wantNone(ctx, "Mistyped words are not corrected to some words of the "+table+": %d.", unknown, `INSERT INTO vocabulary `+unknown); err != nil {
			return err
		}
	}
	return nil
}

// wantNone notes the number of the rows of a SELECT as a problem that a statement mends.
func (e *exam) wantNone(ctx context.Context, problem, rows, mend string) error {
	var n int
	if err := e.GetContext(ctx, &n, `SELECT count(*) FROM (`+rows+`) AS r`); err != nil || n == 0 {
		return err
	}
	e.found(ctx, fmt.Sprintf(problem, n), "", mend)
	return nil
}

// reindex returns the statements that derive what is kept of rows again. Versions and times
// of the rows stay.
func (e *exam) reindex(table string, d derivation, ids []int64) (statements []string) {
	for part := range slices.Chunk(ids, 1000) {
		statements = append(statements,
			fmt.Sprintf(`UPDATE %s AS r SET %s WHERE id IN (%s)`, table, d.update, commas(part)),
			fmt.Sprintf(`DELETE FROM %s_search WHERE %s IN (%s)`, table, d.id, commas(part)),
			fmt.Sprintf(`INSERT INTO %[1]s_search (%[2]s, %[3]s) SELECT id, %[4]s FROM %[1]s r WHERE id IN (%[5]s)`, table, d.id, d.entry, d.entryValues, commas(part)))
	}
	if e.beginDerive != "" {
		statements = slices.Concat([]string{fmt.Sprintf(e.beginDerive, table)}, statements, []string{fmt.Sprintf(e.endDerive, table)})
	}
	return append(statements, fmt.Sprintf(`UPDATE revision SET n = n + %[1]d, reference = reference + %[1]d WHERE slot = (SELECT min(slot) FROM revision)`, step()))
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
	e.found(ctx, "The revision, by which caches know what is new, has no row, or one that is no count.", "", `DELETE FROM revision`, insert)
	return nil
}

// checkIDs wants the next id of a table to be one that no row has had.
func (e *exam) checkIDs(ctx context.Context) error {
	for _, table := range []string{"categories", "genres", "books"} {
		var mend []string
		for _, statement := range e.passIDs {
			mend = append(mend, fmt.Sprintf(statement, table))
		}
		var ids struct{ Last, Highest int64 }
		if err := e.GetContext(ctx, &ids, fmt.Sprintf(`SELECT coalesce(%s, 0) AS last, coalesce(max(id), 0) AS highest FROM %s`, fmt.Sprintf(e.lastID, table), table)); err != nil {
			return err
		}
		if ids.Last < ids.Highest {
			e.found(ctx, fmt.Sprintf("The next id of %s would be %d, and %d is taken.", table, ids.Last+1, ids.Highest), "", mend...)
		}
	}
	return nil
}
