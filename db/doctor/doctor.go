// Package doctor checks the database of a catalogue: its schema against the migrations, and derived
// data against the rows. It can repair derived data.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db"
	"library-catalogue/db/dialect"
	"library-catalogue/db/schema"
)

// Problem is a defect of a database.
type Problem struct {
	Check   string `json:"check"`
	Problem string `json:"problem"`
	Mend    string `json:"mend"`    // how to repair it: SQL statements, a command, or advice
	Fixable bool   `json:"fixable"` // Examine can repair it
	Fixed   bool   `json:"fixed"`
}

// Report is the result of an examination.
type Report struct {
	Checks   []string  `json:"checks"`
	Problems []Problem `json:"problems"`
}

// Left returns the number of problems that are not fixed.
func (r *Report) Left() (n int) {
	for _, p := range r.Problems {
		if !p.Fixed {
			n++
		}
	}
	return n
}

// exam is an examination of one snapshot of a database.
type exam struct {
	*sqlx.Tx
	engine
	fix    bool
	made   []object // schema of the migrations
	check  string   // name of the current check
	report *Report
}

// checks run in this order, because each may rely on those before it.
var checks = []struct {
	name string
	run  func(*exam, context.Context) error
}{
	{"file", (*exam).checkFile},
	{"schema", (*exam).checkSchema},
	{"references", (*exam).checkReferences},
	{"texts", (*exam).checkTexts},
	{"search", (*exam).checkSearch},
	{"revision", (*exam).checkRevision},
	{"changes", (*exam).checkChanges},
	{"ids", (*exam).checkIDs},
}

// timeout allows for millions of books.
const timeout = time.Hour

// Examine checks the database at url. With fix it blocks other writers, repairs what it can, and
// checks again.
func Examine(ctx context.Context, url string, fix bool) (*Report, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	store, err := db.Open(ctx, url, db.Options{})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	pool, on := connections(store, fix)
	if err := checkStep(ctx, pool, on.Dialect); err != nil {
		return nil, err
	}
	made, err := madeByMigrations(ctx, pool, on)
	if err != nil {
		return nil, err
	}
	options := on.Snapshot
	if fix {
		options = nil
	}
	tx, err := pool.BeginTxx(ctx, options)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	if fix && on.lock != "" {
		if _, err := tx.ExecContext(ctx, on.lock); err != nil {
			return nil, fmt.Errorf("nothing was changed: %w", err)
		}
	}
	e := &exam{Tx: tx, engine: on, fix: fix, made: made}
	report, err := e.examine(ctx)
	if err != nil || !fix {
		return report, err
	}
	e.fix = false
	again, err := e.examine(ctx)
	if err != nil {
		return nil, err
	}
	for i, p := range report.Problems {
		report.Problems[i].Fixed = p.Fixable && !slices.ContainsFunc(again.Problems, func(q Problem) bool {
			return q.Check == p.Check && q.Problem == p.Problem
		})
	}
	return report, tx.Commit()
}

// checkStep checks that all migrations are applied, because the checks know only that schema.
func checkStep(ctx context.Context, pool *sqlx.DB, d *dialect.Dialect) error {
	texts, err := schema.Texts(d)
	if err != nil {
		return err
	}
	var step int
	if err = pool.GetContext(ctx, &step, schema.VersionSQL); err != nil {
		return fmt.Errorf("the database has no catalogue, or the role cannot read it: %w", err)
	}
	if err := schema.CheckOrigin(ctx, pool, d, int64(step)); err != nil {
		return err
	}
	switch {
	case step < len(texts):
		return fmt.Errorf("the schema has version %d, this program needs %d: run catalogue db migrate up first", step,
			len(texts))
	case step > len(texts):
		return fmt.Errorf("the schema has version %d of a newer program; this program knows %d", step, len(texts))
	}
	return nil
}

// connections returns a pool of the store that permits what a fix needs.
func connections(store *db.Store, fix bool) (*sqlx.DB, engine) {
	pools := store.Pools()
	switch {
	case pools["postgres"] != nil:
		return sqlx.NewDb(pools["postgres"], "postgres"), postgresEngine
	case fix:
		return sqlx.NewDb(pools["sqlite-writer"], "sqlite"), sqliteEngine
	}
	return sqlx.NewDb(pools["sqlite-reader"], "sqlite"), sqliteEngine
}

// examine runs all checks. A check that fails is a problem.
func (e *exam) examine(ctx context.Context) (*Report, error) {
	e.report = &Report{Problems: []Problem{}}
	for _, check := range checks {
		e.check = check.name
		e.report.Checks = append(e.report.Checks, check.name)
		if err := e.try(ctx, func() error { return check.run(e, ctx) }); err != nil {
			e.found(ctx, fmt.Sprintf("The check failed: %v.", err),
				"repair the problems before it, or restore a backup")
		}
	}
	return e.report, e.exec(ctx, `SELECT 1`) // fails if the connection broke during the checks
}

// try runs fn and rolls its changes back if it fails.
func (e *exam) try(ctx context.Context, fn func() error) error {
	if err := e.exec(ctx, `SAVEPOINT fn`); err != nil {
		return err
	}
	err := fn()
	if err != nil {
		_ = e.exec(ctx, `ROLLBACK TO fn`)
	}
	return cmp.Or(err, e.exec(ctx, `RELEASE fn`))
}

// found adds a problem to the report. With fix it runs the statements, if any. The report shows mend,
// or the statements if mend is empty.
func (e *exam) found(ctx context.Context, problem, mend string, statements ...string) {
	if len(statements) == 0 {
		e.add(problem, mend, false)
		return
	}
	e.fixable(ctx, problem, cmp.Or(mend, strings.Join(statements, "; ")), func() error {
		return e.exec(ctx, statements...)
	})
}

// fixable adds a problem that fix repairs to the report. With fix of the examination it runs.
func (e *exam) fixable(ctx context.Context, problem, mend string, fix func() error) {
	if e.fix {
		if err := e.try(ctx, fix); err != nil {
			mend = fmt.Sprintf("%s (which failed: %v)", mend, err)
		}
	}
	e.add(problem, mend, true)
}

func (e *exam) add(problem, mend string, fixable bool) {
	e.report.Problems = append(e.report.Problems,
		Problem{Check: e.check, Problem: problem, Mend: mend, Fixable: fixable})
}

func (e *exam) exec(ctx context.Context, statements ...string) error {
	for _, statement := range statements {
		if _, err := e.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
