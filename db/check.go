package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"

	"library-catalogue/graph/model"
)

// checkTimeout is how long a check waits for the database, or for a connection
// of the pool.
const checkTimeout = 1500 * time.Millisecond

// Checks looks at the database: whether it answers (on a connection of its own,
// so that a full pool is told from a database that is away or slow), whether its
// schema is this program's, whether it owes answers for long, whether the pool
// has a connection, and whether the last change failed for want of disk space.
// What cannot be known is left out.
func (s *Store) Checks(ctx context.Context) []model.Check {
	statements := s.checkStatements() // before the database is asked, whose answer may be owed then too
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	pool := make(chan model.Check, 1)
	go func() { pool <- s.checkPool(ctx) }()
	return append(s.checkDatabase(ctx), <-pool, statements, s.checkDisk())
}

// schemaSQL returns the last step that was made of the schema. Goose deletes the
// rows of steps that were taken back.
const schemaSQL = `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`

func (s *Store) checkDatabase(ctx context.Context) []model.Check {
	type answer struct {
		step     int64
		readOnly bool
		err      error
	}
	done := make(chan answer, 1)
	go func() { // lib/pq may stay longer than ctx
		var a answer
		a.err = s.retry(ctx, func() error {
			err := s.prober.QueryRowContext(ctx, schemaSQL).Scan(&a.step)
			if err == nil {
				err = s.prober.QueryRowContext(ctx, s.dialect.ReadOnly).Scan(&a.readOnly)
			}
			return translate(err)
		})
		done <- a
	}()
	var a answer
	select {
	case a = <-done:
	case <-ctx.Done():
		a.err = ctx.Err()
	}
	if a.err != nil {
		output := "The database is away, or lets nobody in."
		switch {
		case timedOut(a.err):
			output = fmt.Sprintf("The database did not answer within %v.", checkTimeout)
		case model.IsCode(a.err, model.Internal):
			output = "The database answers, but does not know the catalogue's tables. Is it the right one?"
		}
		return []model.Check{{Name: "database", Status: model.Fail, Output: output, Err: a.err}}
	}
	database := model.Check{Name: "database", Status: model.Pass}
	if a.readOnly {
		database.Status, database.Output = model.Warn, "The database is a standby, or read-only: changes are refused, reads go on."
	}
	return []model.Check{database, s.checkSchema(a.step)}
}

func (s *Store) checkSchema(version int64) model.Check {
	target, err := s.target()
	check := model.Check{Name: "schema", Status: model.Pass, Err: err}
	switch {
	case err != nil:
		check.Status, check.Output = model.Fail, "The steps of the schema cannot be read."
	case version < target:
		check.Status, check.Output = model.Fail, fmt.Sprintf("The schema is at step %d, and this program needs %d: run catalogue db migrate up.", version, target)
	case version > target:
		check.Status, check.Output = model.Warn, fmt.Sprintf("The schema is at step %d of a newer program; this one knows %d.", version, target)
	}
	return check
}

// target returns the last step that this program knows.
func (s *Store) target() (last int64, err error) {
	files, err := fs.ReadDir(migrations, "migrations/"+s.dialect.Name)
	for _, file := range files {
		version, err := goose.NumericComponent(file.Name())
		if err != nil {
			return 0, err
		}
		last = max(last, version)
	}
	return last, err
}

func (s *Store) checkPool(ctx context.Context) model.Check {
	conn, err := s.reader.Conn(ctx)
	if err == nil {
		err = conn.Close()
	}
	stats := s.reader.Stats()
	// What else can be wrong is for the check of the database to say.
	if errors.Is(err, context.DeadlineExceeded) && stats.InUse >= stats.MaxOpenConnections {
		return model.Check{Name: "pool", Status: model.Fail, Err: err, Output: fmt.Sprintf(
			"All %d connections are in use, and none came free within %v.", stats.MaxOpenConnections, checkTimeout)}
	}
	return model.Check{Name: "pool", Status: model.Pass}
}

// checkStatements tells a slow database, or one where somebody holds a lock, from
// a pool that is exhausted otherwise.
func (s *Store) checkStatements() model.Check {
	if waiting := s.Waiting(); waiting > checkTimeout {
		return model.Check{Name: "statements", Status: model.Warn, Output: fmt.Sprintf(
			"The database has owed an answer for %v: it is slow, or somebody holds a lock.", waiting.Round(100*time.Millisecond))}
	}
	return model.Check{Name: "statements", Status: model.Pass}
}

func (s *Store) checkDisk() model.Check {
	if s.diskFull.Load() {
		return model.Check{Name: "disk", Status: model.Warn, Output: s.dialect.Disks + " is full: changes are refused, reads go on."}
	}
	return model.Check{Name: "disk", Status: model.Pass}
}
