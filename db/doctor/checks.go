package doctor

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"

	"library-catalogue/db/changes"
	"library-catalogue/db/schema"
)

// byFix is the remedy for a problem with statements that are too long to show.
const byFix = "catalogue db doctor --fix"

var tables = []string{"categories", "genres", "books"}

// searchTable matches the name of a full-text index of SQLite.
var searchTable = regexp.MustCompile(`(books|genres|categories)_search`)

// checkFile runs SQLite's integrity check of pages, indexes and constraints. PostgreSQL has amcheck
// for that.
func (e *exam) checkFile(ctx context.Context) error {
	if e.fileProblems == "" {
		return nil
	}
	var messages []string
	if err := e.SelectContext(ctx, &messages, e.fileProblems); err != nil {
		return err
	}
	for _, message := range messages {
		problem := "SQLite reports: " + message + "."
		switch table := searchTable.FindString(message); {
		case table != "":
			e.found(ctx, problem, "", fmt.Sprintf(`INSERT INTO %[1]s (%[1]s) VALUES ('rebuild')`, table))
		case strings.Contains(message, "index "):
			e.found(ctx, problem, "", `REINDEX`)
		default:
			e.found(ctx, problem, "restore a backup, or correct the value by an UPDATE")
		}
	}
	return nil
}

// checkReferences finds rows without their parent. They exist only if a program has written
// without the constraints.
func (e *exam) checkReferences(ctx context.Context) error {
	for _, r := range []struct{ table, column, parents string }{{"books", "genre_id", "genres"},
		{"genres", "category_id", "categories"}} {
		var ids []int64
		err := e.SelectContext(ctx, &ids,
			fmt.Sprintf(`SELECT id FROM %s WHERE NOT EXISTS (SELECT 1 FROM %s p WHERE p.id = %s) ORDER BY id`, r.table,
				r.parents, r.column))
		if err != nil {
			return err
		}
		if len(ids) > 0 {
			e.found(ctx, fmt.Sprintf("These %s refer to missing %s: %s.", r.table, r.parents, list(ids)),
				fmt.Sprintf("correct each reference: UPDATE %s SET %s = … WHERE id = …", r.table, r.column))
		}
	}
	return nil
}

// list formats ids, at most the first ten.
func list(ids []int64) string {
	if len(ids) > 10 {
		return commas(ids[:10]) + " …"
	}
	return commas(ids)
}

func commas(ids []int64) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(ids), "[]"), " ", ", ")
}

// checkTexts finds texts that are not in NFC. Only other programs store them.
func (e *exam) checkTexts(ctx context.Context) error {
	for _, table := range tables {
		n, err := schema.CountNotNormal(ctx, e.Tx, table)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		e.fixable(ctx, fmt.Sprintf("Texts of %d %s are not in Unicode NFC, so filters do not find them.", n, table),
			byFix, func() error {
				return schema.Normalize(ctx, e.Dialect, e.Tx, table, 0, math.MaxInt64)
			})
	}
	return nil
}

// checkSearch compares the derived texts and words of each row with its texts.
func (e *exam) checkSearch(ctx context.Context) error {
	for _, table := range tables {
		d := schema.DerivationOf(e.Dialect, table)
		var wrong []int64
		if err := e.SelectContext(ctx, &wrong, d.WrongSQL("true")); err != nil {
			return err
		}
		if len(wrong) > 0 {
			e.found(ctx, fmt.Sprintf("The search index does not match the texts of these %s: %s.", table, list(wrong)),
				byFix, d.DeriveSQL(wrong)...)
		}
		// With NOT IN, PostgreSQL reads all ids for each row as soon as they exceed work_mem.
		stray := fmt.Sprintf(
			` FROM %[1]s_search WHERE NOT EXISTS (SELECT 1 FROM %[1]s r WHERE r.id = %[1]s_search.%[2]s)`, table, d.ID)
		if err := e.wantNone(ctx, "The search index contains missing "+table+": %d.", `SELECT 1`+stray,
			`DELETE`+stray); err != nil {
			return err
		}
		if e.missingWords == "" {
			continue // the index is its own vocabulary
		}
		unknown := fmt.Sprintf(e.missingWords, table)
		if err := e.wantNone(ctx, "The vocabulary for typo correction lacks words of the "+table+": %d.", unknown,
			`INSERT INTO vocabulary `+unknown); err != nil {
			return err
		}
	}
	return nil
}

// wantNone reports the rows of a SELECT as a problem that a statement repairs.
func (e *exam) wantNone(ctx context.Context, problem, rows, mend string) error {
	var n int
	if err := e.GetContext(ctx, &n, `SELECT count(*) FROM (`+rows+`) AS r`); err != nil || n == 0 {
		return err
	}
	e.found(ctx, fmt.Sprintf(problem, n), "", mend)
	return nil
}

// checkRevision checks the rows of the revision, and the size of its table. No fix rewrites that, because reads would
// wait for the end of the examination.
func (e *exam) checkRevision(ctx context.Context) error {
	if e.revisionSize != "" {
		var bytes int64
		if err := e.GetContext(ctx, &bytes, e.revisionSize); err != nil {
			return err
		}
		if bytes > changes.MaxRevisionSize {
			e.found(ctx, fmt.Sprintf("The table revision takes %d kB, which slows all reads.", bytes>>10),
				"end transactions that have been open for long, then run VACUUM FULL revision")
		}
	}
	var right bool
	if err := e.GetContext(ctx, &right,
		`SELECT count(*) > 0 AND count(*) = count(CASE WHEN n >= 0 AND reference >= 0 THEN 1 END)
FROM revision`); err != nil || right {
		return err
	}
	// The increase is large, so that no cached data of an earlier revision can seem current.
	insert := fmt.Sprintf(e.engine.revision, schema.Step()<<20)
	e.found(ctx, "The revision, which invalidates caches, is missing or not a number.", "", `DELETE FROM revision`,
		insert)
	return nil
}

// checkChanges checks that changes can be logged, and that the log has the newest state of each row.
func (e *exam) checkChanges(ctx context.Context) error {
	if err := e.checkFeed(ctx); err != nil {
		return err
	}
	for _, table := range tables {
		var ids []int64
		if err := e.SelectContext(ctx, &ids, fmt.Sprintf(e.unlogged, table, table[:1])); err != nil {
			return err
		}
		if len(ids) > 0 {
			e.found(ctx,
				fmt.Sprintf("The log of changes does not have the newest state of these %s: %s.", table, list(ids)),
				byFix, e.resets()...)
		}
	}
	return nil
}

// unloggedSQL returns a SELECT of the ids of rows whose newest change is not the row, and of rows that were created
// since a log's beginning and have no change. A reset of all rows is as good as a change of each.
func unloggedSQL(begin, now string) string {
	return `WITH newest AS (SELECT row_id, max(seq) AS seq FROM changes WHERE type = '%[2]s' AND row_id <> 0
AND seq > coalesce((SELECT max(seq) FROM changes WHERE type = '%[2]s' AND row_id = 0), 0) GROUP BY row_id)
SELECT n.row_id FROM newest n JOIN changes c ON c.row_id = n.row_id AND c.seq = n.seq LEFT JOIN %[1]s r
ON r.id = n.row_id
WHERE (c.operation = 'd') <> (r.id IS NULL) OR c.operation <> 'd' AND c.version <> r.version
UNION SELECT r.id FROM %[1]s r WHERE r.created_at > ` + begin + ` AND r.created_at <= ` + now + `
  AND NOT EXISTS (SELECT 1 FROM changes c WHERE c.row_id IN (r.id, 0) AND c.type = '%[2]s') ORDER BY 1`
}

// resets returns statements by which servers and followers read all rows again.
func (e *exam) resets() []string {
	return []string{e.LogReset,
		fmt.Sprintf(
			`UPDATE revision SET n = n + %[1]d, reference = reference + %[1]d
WHERE slot = (SELECT min(slot) FROM revision)`, schema.Step())}
}

// checkFeed checks the row that SQLite's log needs.
func (e *exam) checkFeed(ctx context.Context) error {
	if e.logBegins == "" {
		return nil
	}
	var right bool
	if err := e.GetContext(ctx, &right, e.logBegins); err != nil || right {
		return err
	}
	e.found(ctx, "The log of changes has no beginning, so that nothing is logged.", "", `DELETE FROM feed`,
		fmt.Sprintf(`INSERT INTO feed (start) SELECT coalesce(max(seq), 0) + %d FROM changes`, schema.Step()))
	return nil
}

// checkIDs checks that the next id of each table is unused.
func (e *exam) checkIDs(ctx context.Context) error {
	for _, table := range tables {
		var mend []string
		for _, statement := range e.passIDs {
			mend = append(mend, fmt.Sprintf(statement, table))
		}
		var ids struct{ Last, Highest int64 }
		if err := e.GetContext(ctx, &ids,
			fmt.Sprintf(`SELECT coalesce(%s, 0) AS last, coalesce(max(id), 0) AS highest FROM %s`,
				fmt.Sprintf(e.lastID, table), table)); err != nil {
			return err
		}
		if ids.Last < ids.Highest {
			e.found(ctx, fmt.Sprintf("The next id of %s is %d, but %d exists.", table, ids.Last+1, ids.Highest), "",
				mend...)
		}
	}
	return nil
}
