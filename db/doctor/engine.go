package doctor

import (
	"context"

	"library-catalogue/db/dialect"
)

// engine is what the checks need to know of PostgreSQL or SQLite. Texts with %[1]s are
// formats of fmt.Sprintf, for a table; an empty one is for what the engine does not have.
type engine struct {
	*dialect.Dialect
	lock         string   // keeps others from writing until the transaction ends
	scratch      []string // begin a schema to compare with; none: it is in another database, in memory
	objects      string   // SELECT of the parts of the current schema, each after those it needs
	dropTrigger  string   // format for its name and its table
	fileProblems string   // SELECT of what is wrong with pages, indexes and rows
	revision     string   // format of the INSERT of a revision
	lastID       string   // SELECT of the last id that was given
	passIDs      string   // moves that behind all ids

	searchID     string // column of a search table with the row's id
	missingWords string // SELECT of the words that mistyped ones do not stand for
	kept         func(columns []string) []string
	made         func(columns, texts []string) []string
	remake       func(e *exam, ctx context.Context, table string, columns []string, id int64) error
}

var postgresEngine = engine{
	Dialect:     dialect.Postgres,
	lock:        `LOCK TABLE categories, genres, books IN SHARE ROW EXCLUSIVE MODE`,
	scratch:     []string{`CREATE SCHEMA catalogue_doctor`, `SELECT set_config('search_path', 'catalogue_doctor, ' || current_setting('search_path'), true)`},
	objects:     postgresObjectsSQL,
	dropTrigger: `DROP TRIGGER %[1]s ON %[2]s`,
	revision:    `INSERT INTO revision (n, reference) VALUES (%[1]d, %[1]d)`,
	lastID:      `SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('%[1]s', 'id')::regclass), 0)`,
	passIDs:     `SELECT setval(pg_get_serial_sequence('%[1]s', 'id'), max(id)) FROM %[1]s`,
	searchID:    "id",
	missingWords: `SELECT DISTINCT substr(w, 2) FROM %[1]s_search, unnest(tsvector_to_array(words)) AS w
WHERE w ~ '^[nad][^0-9]{2,}$' AND NOT EXISTS (SELECT FROM vocabulary v WHERE v.word = substr(w, 2))`,
	kept: keptInPostgres, made: madeForPostgres, remake: (*exam).remakeInPostgres,
}

var sqliteEngine = engine{
	Dialect:      dialect.SQLite,
	objects:      sqliteObjectsSQL,
	dropTrigger:  `DROP TRIGGER %[1]s`,
	fileProblems: `SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'`,
	revision:     `INSERT INTO revision (slot, n, reference) VALUES (0, %[1]d, %[1]d)`,
	lastID:       `SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = '%[1]s'), 0)`,
	passIDs:      `DELETE FROM sqlite_sequence WHERE name = '%[1]s'; INSERT INTO sqlite_sequence (name, seq) SELECT '%[1]s', max(id) FROM %[1]s`,
	searchID:     "rowid",
	kept:         keptInSQLite, made: madeForSQLite, remake: (*exam).remakeInSQLite,
}
