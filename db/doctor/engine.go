package doctor

import (
	"strings"

	"library-catalogue/db/dialect"
)

// engine describes PostgreSQL or SQLite for the checks. An empty text means that the engine needs
// none. A text with %[1]s is a format for the name of a table.
type engine struct {
	*dialect.Dialect
	lock         string   // blocks other writers until the transaction ends
	scratch      []string // creates a schema to compare with; nil means a database in memory
	objects      string   // SELECT of the objects of the current schema, each after its dependencies
	fileProblems string   // SELECT of defects of pages, indexes and rows
	revision     string   // format of an INSERT of the revision
	revisionSize string   // SELECT of the bytes of its table
	lastID       string   // expression of the last generated id, or NULL
	passIDs      []string // advance the next id past all ids
	missingWords string   // SELECT of words that the vocabulary lacks
	logBegins    string   // SELECT that reports whether the log has its beginning
	// SELECT of the ids of rows with a newest state that is not logged; %[2]s is the code of their type
	unlogged string
}

var postgresEngine = engine{
	Dialect: dialect.Postgres,
	lock:    `LOCK TABLE categories, genres, books IN SHARE ROW EXCLUSIVE MODE`,
	scratch: []string{`CREATE SCHEMA catalogue_doctor`,
		`SELECT set_config('search_path', 'catalogue_doctor, ' || current_setting('search_path'), true)`},
	objects:      postgresObjectsSQL,
	revision:     `INSERT INTO revision (n, reference) VALUES (%[1]d, %[1]d)`,
	revisionSize: `SELECT pg_relation_size('revision')`,
	lastID:       `pg_sequence_last_value(pg_get_serial_sequence('%[1]s', 'id')::regclass)`,
	passIDs:      []string{`SELECT setval(pg_get_serial_sequence('%[1]s', 'id'), max(id)) FROM %[1]s`},
	unlogged:     unloggedSQL(`(SELECT min(at) FROM ticks)`, dialect.Postgres.Now),
	missingWords: `SELECT DISTINCT substr(w, 2) FROM %[1]s_search, unnest(tsvector_to_array(words)) AS w ` +
		`WHERE w ~ '^[nad][^0-9]{2,}$' AND NOT EXISTS (SELECT FROM vocabulary v WHERE v.word = substr(w, 2))`,
}

var sqliteEngine = engine{
	Dialect:      dialect.SQLite,
	logBegins:    `SELECT count(*) = 1 AND min(start) > 0 FROM feed`,
	unlogged:     unloggedSQL(`(SELECT at FROM feed)`, strings.ReplaceAll(dialect.SQLite.Now, "%", "%%")),
	objects:      sqliteObjectsSQL,
	fileProblems: `SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'`,
	revision:     `INSERT INTO revision (slot, n, reference) VALUES (0, %[1]d, %[1]d)`,
	lastID:       `(SELECT seq FROM sqlite_sequence WHERE name = '%[1]s')`,
	passIDs: []string{
		`DELETE FROM sqlite_sequence WHERE name = '%[1]s'`,
		`INSERT INTO sqlite_sequence (name, seq) SELECT '%[1]s', max(id) FROM %[1]s`,
	},
}
