// Package archive writes a whole catalogue into an archive, restores it from there, and
// copies it from one database to another. docs/archive.md describes the format: a tar
// file (POSIX.1-2001, pax), compressed with Zstandard (RFC 8878), whose members are JSON
// Lines. The same catalogue always has the same bytes.
package archive

import (
	"context"
	"fmt"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// Format is the version of the format that is written, and the newest that is read.
const Format = 1

const (
	formatName   = "format.json"   // of the first member
	manifestName = "manifest.json" // of the last
	kind         = "library-catalogue"

	partSize  = 1 << 20 // a member of rows ends with the row that makes it as long, in bytes
	maxLine   = 1 << 20 // of a row; the longest that a catalogue can hold has 140,000 bytes
	maxWindow = 8 << 20 // memory for decompression
	maxEnd    = 1 << 20 // zeros that tar programs write after the last member
	batchRows = 500     // are read or stored at a time
)

// header is the first member.
type header struct {
	Archive string              `json:"archive"` // kind
	Format  int                 `json:"format"`
	Fields  map[string][]string `json:"fields"` // of the rows of each table, in their order
}

// Manifest is the last member: what the archive holds, by table.
type Manifest map[string]Content

// Content is the rows of a table.
type Content struct {
	Rows   int    `json:"rows"`
	SHA256 string `json:"sha256"` // of all their lines, in hexadecimal
}

// compare returns an error that says in which table found differs.
func (m Manifest) compare(found Manifest) error {
	for _, t := range tables {
		want, got := m[t.name()], found[t.name()]
		switch {
		case got.Rows != want.Rows:
			return fmt.Errorf("%d %s, and should be %d", got.Rows, t.name(), want.Rows)
		case got.SHA256 != want.SHA256:
			return fmt.Errorf("%s whose SHA-256 is %q, and should be %.80q", t.name(), got.SHA256, want.SHA256)
		}
	}
	return nil
}

// String says how much it is.
func (m Manifest) String() string {
	return fmt.Sprintf("%d categories, %d genres, %d books", m["categories"].Rows, m["genres"].Rows, m["books"].Rows)
}

// table is what is archived of one type of rows.
type table interface {
	name() string
	// keys returns the keys of all fields.
	keys() []string
	// each calls fn with the line of each row of the catalogue, in order of id. The line is
	// valid until fn returns.
	each(ctx context.Context, snapshot *db.Snapshot, keys []string, fn func(line []byte) error) error
	// restorer returns what reads the lines of rows with these fields, and stores them
	// where there is a store.
	restorer(store *db.Store, keys []string) (restorer, error)
}

// restorer takes rows one by one.
type restorer interface {
	add(ctx context.Context, line []byte) error
	flush(ctx context.Context) error // stores what was added
}

// tables are what an archive holds, in its order: rows come after those they point at.
var tables = []table{
	tableOf[model.Category]{"categories", model.CategoryFields, (*model.Category).RowID,
		func(s *db.Snapshot) db.Reader[model.Category] { return s.Categories }, func(s *db.Store) db.Writer[model.Category] { return s.Categories }},
	tableOf[model.Genre]{"genres", model.GenreFields, (*model.Genre).RowID,
		func(s *db.Snapshot) db.Reader[model.Genre] { return s.Genres }, func(s *db.Store) db.Writer[model.Genre] { return s.Genres }},
	tableOf[model.Book]{"books", model.BookFields, (*model.Book).RowID,
		func(s *db.Snapshot) db.Reader[model.Book] { return s.Books }, func(s *db.Store) db.Writer[model.Book] { return s.Books }},
}

// newHeader returns the header of an archive with all fields.
func newHeader() header {
	h := header{Archive: kind, Format: Format, Fields: map[string][]string{}}
	for _, t := range tables {
		h.Fields[t.name()] = t.keys()
	}
	return h
}
