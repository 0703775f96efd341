package doctor

import (
	"slices"
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
	lastID       string   // expression of the last generated id, or NULL
	passIDs      []string // advance the next id past all ids
	missingWords string   // SELECT of words that the vocabulary lacks

	// Statements before and after the repair of derived data.
	beginDerive, endDerive string
	derivation             func(texts []string) derivation
}

var postgresEngine = engine{
	Dialect:  dialect.Postgres,
	lock:     `LOCK TABLE categories, genres, books IN SHARE ROW EXCLUSIVE MODE`,
	scratch:  []string{`CREATE SCHEMA catalogue_doctor`, `SELECT set_config('search_path', 'catalogue_doctor, ' || current_setting('search_path'), true)`},
	objects:  postgresObjectsSQL,
	revision: `INSERT INTO revision (n, reference) VALUES (%[1]d, %[1]d)`,
	lastID:   `pg_sequence_last_value(pg_get_serial_sequence('%[1]s', 'id')::regclass)`,
	passIDs:  []string{`SELECT setval(pg_get_serial_sequence('%[1]s', 'id'), max(id)) FROM %[1]s`},
	missingWords: `SELECT DISTINCT substr(w, 2) FROM %[1]s_search, unnest(tsvector_to_array(words)) AS w ` +
		`WHERE w ~ '^[nad][^0-9]{2,}$' AND NOT EXISTS (SELECT FROM vocabulary v WHERE v.word = substr(w, 2))`,
	beginDerive: `ALTER TABLE %[1]s DISABLE TRIGGER USER`, endDerive: `ALTER TABLE %[1]s ENABLE TRIGGER USER`,
	derivation: func(texts []string) derivation {
		all := strings.Join(texts, ", ")
		d := derivation{
			row: strings.Join(texts, "_fold, ") + "_fold", rowValues: "fold(r." + strings.Join(texts, "), fold(r.") + ")",
			entry: "name, words", id: "id", update: "(" + all + ") = (r." + strings.Join(texts, ", r.") + ")", // updates the generated columns too
		}
		author := "NULL"
		if slices.Contains(texts, "author") {
			author = "words(r.author_fold)"
			d.row += ", author_short"
			d.rowValues += ", CASE WHEN char_length(r.author_fold) <= 100 THEN r.author_fold END"
		}
		d.entryValues = "words(r.name_fold), searchable(words(r.name_fold), " + author + ", words(r.description_fold))"
		return d
	},
}

var sqliteEngine = engine{
	Dialect:      dialect.SQLite,
	objects:      sqliteObjectsSQL,
	fileProblems: `SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'`,
	revision:     `INSERT INTO revision (slot, n, reference) VALUES (0, %[1]d, %[1]d)`,
	lastID:       `(SELECT seq FROM sqlite_sequence WHERE name = '%[1]s')`,
	passIDs: []string{
		`DELETE FROM sqlite_sequence WHERE name = '%[1]s'`,
		`INSERT INTO sqlite_sequence (name, seq) SELECT '%[1]s', max(id) FROM %[1]s`,
	},
	derivation: func(texts []string) derivation {
		folded := texts[:len(texts)-1] // a description is folded when it is compared
		d := derivation{
			row: strings.Join(folded, "_fold, ") + "_fold, name_words", rowValues: "fold(r." + strings.Join(folded, "), fold(r.") + "), words(r.name)",
			entry: strings.Join(texts, ", "), entryValues: "words(r." + strings.Join(texts, "), words(r.") + ")", id: "rowid",
		}
		d.update = "(" + d.row + ") = (" + d.rowValues + ")"
		return d
	},
}

// derivation describes how search and sort columns follow from the texts of a row r. Each field is
// a list in SQL.
type derivation struct {
	row, rowValues     string // columns of the row, and their values
	entry, entryValues string // columns of its entry in the search index, and their values
	id                 string // column of the entry with the row's id
	update             string // SET clause that derives the columns of the row
}
