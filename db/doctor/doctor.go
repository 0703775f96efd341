// Package doctor examines the database of a catalogue: whether its schema is what the
// migrations make, and whether what is kept beside the rows agrees with them. It mends
// what can be made anew.
package doctor

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db"
	"library-catalogue/db/dialect"
	"library-catalogue/db/postgres"
	"library-catalogue/db/sqlite"
)

// Problem is what is wrong with a database.
type Problem struct {
	Check   string `json:"check"`
	Problem string `json:"problem"`
	Mend    string `json:"mend"`    // what mends it: a command, or words
	Fixable bool   `json:"fixable"` // Examine does, if it is asked to
	Fixed   bool   `json:"fixed"`
}

// Report is what was found.
type Report struct {
	Checks   []string  `json:"checks"`
	Problems []Problem `json:"problems"`
}

// Left returns how many problems were not fixed.
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
	fix      bool
	made     []object // by the migrations
	check    string   // under way
	problems []Problem
}

// checks are made in this order: each may rely on those before it.
var checks = []struct {
	name string
	run  func(*exam, context.Context) error
}{
	{"file", (*exam).checkFile},
	{"schema", (*exam).checkSchema},
	{"references", (*exam).checkReferences},
	{"search", (*exam).checkSearch},
	{"revision", (*exam).checkRevision},
	{"ids", (*exam).checkIDs},
}

// timeout is more than the check of millions of books takes.
const timeout = time.Hour

// Examine looks at the database at a URL. With fix, which keeps others from writing
// meanwhile, it mends what it can, and looks again.
func Examine(ctx context.Context, url string, fix bool) (report *Report, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	pool, on, err := connect(ctx, url, fix)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	if err := checkStep(ctx, pool, on.Dialect); err != nil {
		return nil, err
	}
	e := &exam{engine: on, fix: fix, problems: []Problem{}}
	if e.made, err = madeByMigrations(ctx, pool, on); err != nil {
		return nil, err
	}
	options := &sql.TxOptions{}
	if !fix {
		options = on.Snapshot
	}
	if e.Tx, err = pool.BeginTxx(ctx, options); err != nil {
		return nil, err
	}
	defer e.Rollback()
	if fix && on.lock != "" {
		if _, err := e.ExecContext(ctx, on.lock); err != nil {
			return nil, fmt.Errorf("nothing was changed: %w", err)
		}
	}
	if err := e.examine(ctx); err != nil {
		return nil, err
	}
	report = &Report{Problems: e.problems}
	for _, check := range checks {
		report.Checks = append(report.Checks, check.name)
	}
	if !fix {
		return report, nil
	}
	again := &exam{Tx: e.Tx, engine: on, made: e.made}
	if err := again.examine(ctx); err != nil {
		return nil, err
	}
	for i := range report.Problems {
		p := &report.Problems[i]
		p.Fixed = p.Fixed && !slices.ContainsFunc(again.problems, func(q Problem) bool { return q.Check == p.Check && q.Problem == p.Problem })
	}
	return report, e.Commit()
}

// checkStep wants the schema to be at the last step: only that is known in all its parts.
func checkStep(ctx context.Context, pool *sqlx.DB, d *dialect.Dialect) error {
	texts, err := db.MigrationTexts(d)
	if err != nil {
		return err
	}
	var step int
	err = pool.GetContext(ctx, &step, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`)
	switch {
	case err != nil:
		return fmt.Errorf("there is no catalogue in this database, or it cannot be read: %w", err)
	case step < len(texts):
		return fmt.Errorf("the schema is at step %d, and this program needs %d: run catalogue migrate up first", step, len(texts))
	case step > len(texts):
		return fmt.Errorf("the schema is at step %d of a newer program; this one knows %d", step, len(texts))
	}
	return nil
}

// connect opens one connection.
func connect(ctx context.Context, url string, fix bool) (pool *sqlx.DB, on engine, err error) {
	if err := db.CheckURL(url); err != nil {
		return nil, on, err
	}
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		mode := sqlite.ReadOnly
		if fix {
			mode = sqlite.ReadWrite
		}
		pool, err := sqlite.Open(ctx, path, mode, 1)
		return pool, sqliteEngine, err
	}
	connector, err := postgres.NewConnector(url)
	if err != nil {
		return nil, on, err
	}
	pool = sqlx.NewDb(sql.OpenDB(connector), "postgres")
	pool.SetMaxOpenConns(1)
	if err := pool.PingContext(ctx); err != nil {
		return nil, on, errors.Join(connector.OpenError(err), pool.Close())
	}
	return pool, postgresEngine, nil
}

// examine makes all checks. One that cannot be made is a problem.
func (e *exam) examine(ctx context.Context) error {
	for _, check := range checks {
		e.check = check.name
		failed, err := e.try(ctx, func() error { return check.run(e, ctx) })
		if err != nil {
			return cmp.Or(failed, err)
		}
		if failed != nil {
			e.found(ctx, fmt.Sprintf("The check cannot be made: %v.", failed), "mend what was found before it, or restore a backup", nil)
		}
	}
	return nil
}

// try runs fn, of which nothing stays where it has failed. err says that the connection
// cannot be used any more.
func (e *exam) try(ctx context.Context, fn func() error) (failed, err error) {
	if _, err := e.ExecContext(ctx, `SAVEPOINT fn`); err != nil {
		return nil, err
	}
	if failed = fn(); failed != nil {
		if _, err := e.ExecContext(ctx, `ROLLBACK TO fn`); err != nil {
			return failed, err
		}
	}
	_, err = e.ExecContext(ctx, `RELEASE fn`)
	return failed, err
}

// found notes a problem, and mends it by fix, if that is wanted and there is one.
func (e *exam) found(ctx context.Context, problem, mend string, fix func() error) {
	p := Problem{Check: e.check, Problem: problem, Mend: mend, Fixable: fix != nil}
	if e.fix && fix != nil {
		failed, err := e.try(ctx, fix)
		if failed = cmp.Or(failed, err); failed != nil {
			p.Mend = fmt.Sprintf("%s (which failed: %v)", mend, failed)
		}
		p.Fixed = failed == nil
	}
	e.problems = append(e.problems, p)
}

// exec returns what runs statements.
func (e *exam) exec(ctx context.Context, statements ...string) func() error {
	return func() error {
		for _, statement := range statements {
			if _, err := e.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	}
}
